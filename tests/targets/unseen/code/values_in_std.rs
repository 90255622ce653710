//! Functions that Rust's standard library has compiled in advance read a value of the program's, which another thread changes meanwhile.

use std::cell::UnsafeCell;
use std::ffi::CString;
use std::path::Path;
use std::{env, fs, str, thread};

struct Shared(UnsafeCell<[u8; 16]>);

// SAFETY: none, which is the mistake.
unsafe impl Sync for Shared {}

const TEXT: [u8; 16] = *b"12345.715 abc/de";

static SHARED: Shared = Shared(UnsafeCell::new(TEXT));

fn read(what: &str, bytes: &[u8; 16]) -> String {
    let text = str::from_utf8(bytes).unwrap();
    match what {
        "formats" => format!("{text:>20}"),
        "parses" => text[..9].parse::<f64>().map_or(0.0, |number| number).to_string(),
        "converts" => text.to_lowercase(),
        "terminates" => CString::new(text).unwrap().into_string().unwrap(),
        "finds" => text.find('x').unwrap_or_default().to_string(),
        "sets" => {
            // SAFETY: no other thread asks for the environment.
            unsafe { env::set_var("SHARED", text) };
            env::var("SHARED").unwrap()
        }
        "splits" => env::split_paths(text).next().unwrap().display().to_string(),
        "opens" => fs::metadata(&text[5..6]).is_ok_and(|found| found.is_dir()).to_string(),
        _ => Path::new(text).join("file").display().to_string(),
    }
}

fn main() {
    let what = env::args().nth(1).unwrap();
    let expected = read(&what, &TEXT);
    // SAFETY: none, which is the mistake.
    let writer = thread::spawn(|| unsafe { (*SHARED.0.get())[5] = b'x' });
    // SAFETY: as above.
    let seen = read(&what, unsafe { &*SHARED.0.get() });
    writer.join().unwrap();
    assert_eq!(seen, expected);
}
