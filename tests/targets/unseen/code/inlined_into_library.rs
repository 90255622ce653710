//! User code that an optimiser makes part of the standard library's generic functions: a counter that two threads add to, in two steps unless asked
//! to do so in one.

use std::env;
use std::fmt;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static COUNTER: AtomicU32 = AtomicU32::new(0);

struct Counting {
    in_one: bool,
    is_done: bool,
}

impl Counting {
    fn new(in_one: bool) -> Self {
        Self { in_one, is_done: false }
    }

    #[inline(always)]
    fn add(&self) {
        if self.in_one {
            COUNTER.fetch_add(1, SeqCst);
        } else {
            let value = COUNTER.load(SeqCst);
            COUNTER.store(value + 1, SeqCst);
        }
    }
}

impl fmt::Debug for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.add();
        f.write_str("counting")
    }
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_done {
            return Ok(0);
        }
        self.is_done = true;
        self.add();
        buffer[0] = b'a';
        Ok(1)
    }
}

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[inline(never)]
fn add(how: &str, in_one: bool) {
    let mut counting = Counting::new(in_one);
    let mut text = String::new();
    match how {
        "debug" => assert_eq!(format!("{:?}", &&counting), "counting"),
        "sort" => {
            let mut numbers: Vec<u32> = (0..30).rev().collect();
            let mut is_first = true;
            numbers.sort_by(|a, b| {
                if is_first {
                    is_first = false;
                    counting.add();
                }
                a.cmp(b)
            });
            assert_eq!(numbers[0], 0);
        }
        "read" => {
            counting.read_to_string(&mut text).unwrap();
        }
        "buffered read" => {
            BufReader::new(counting).read_to_string(&mut text).unwrap();
        }
        "write" => {
            let mut writer = BufWriter::new(counting);
            writer.write_all(b"abc").unwrap();
            writer.flush().unwrap();
        }
        _ => panic!("no such way"),
    }
}

#[inline(never)]
fn in_a_scope(names: &[String], in_one: bool) {
    let counting = Counting::new(in_one);
    thread::scope(|scope| {
        for name in names {
            let counting = &counting;
            scope.spawn(move || {
                assert!(!name.is_empty());
                counting.add();
            });
        }
        counting.add();
    });
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let how = arguments[0].clone();
    let in_one = arguments.len() > 1;
    if how == "scope" {
        in_a_scope(&[how], in_one);
    } else {
        let other = how.clone();
        let thread = thread::spawn(move || add(&other, in_one));
        add(&how, in_one);
        thread.join().unwrap();
    }
    assert_eq!(COUNTER.load(SeqCst), 2);
}
