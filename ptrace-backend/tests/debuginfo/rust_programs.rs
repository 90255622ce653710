//! Rust: locks by name, user code among the library's, statics.

use ptrace_backend::debuginfo::{Image, Language, user_code};

use crate::debuginfo::build::{Project, frames_with};

const PROGRAM: &str = r#"
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
static COUNTER: AtomicUsize = AtomicUsize::new(0);
static TOTAL: Mutex<u32> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();
pub mod queue {
    pub struct Queue { pub head: u64, pub slots: [(u64, u64); 4] }
    pub static mut QUEUE: Queue = Queue { head: 1, slots: [(0, 0); 4] };
}
#[inline(never)]
fn bump() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    CALLS.fetch_add(1, SeqCst);
    COUNTER.fetch_add(1, SeqCst); // counted
    *TOTAL.lock().unwrap() += 1;
    CHANGED.notify_all();
    unsafe { queue::QUEUE.slots[2].1 += 1; }
}
fn main() {
    std::hint::black_box(&raw mut queue::QUEUE);
    let other = std::thread::spawn(bump);
    bump();
    other.join().unwrap();
    println!("{}", TOTAL.lock().unwrap());
}
"#;

fn each_way(flags: &[&str], check: impl Fn(&Project, &Image)) {
    let project = Project::new("program.rs", PROGRAM);
    for level in ["-Copt-level=0", "-Copt-level=3"] {
        let image =
            project.open("program", &[&["--edition=2021", "-Ccodegen-units=1", level], flags].concat());
        check(&project, &image);
    }
}

/// The start of the only function whose name ends like this.
fn function(image: &Image, name: &str) -> u64 {
    let found: Vec<_> = image
        .functions()
        .filter(|function| function.name().is_some_and(|known| known.ends_with(name)))
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].range.start
}

fn object(image: &Image, part: &str) -> u64 {
    let found = image.symbols_where(|name| name.contains("7program") && name.contains(part));
    assert_eq!(found.len(), 1, "{part}: {found:?}");
    found[0].address
}

#[test]
fn statics_have_the_words_of_the_source() {
    each_way(&["-g"], |_, image| {
        assert_eq!(image.data_at(object(image, "7COUNTER")).unwrap(), "COUNTER");
        assert_eq!(image.data_at(object(image, "5CALLS")).unwrap(), "bump::CALLS");
        let total = object(image, "5TOTAL");
        let words: Vec<String> = (0..12).filter_map(|offset| image.data_at(total + offset)).collect();
        assert!(words.contains(&"TOTAL".to_owned()) && words.contains(&"TOTAL.data".to_owned()), "{words:?}");
        let queue = object(image, "5QUEUE");
        let words: Vec<String> = (0..9).filter_map(|word| image.data_at(queue + word * 8)).collect();
        assert!(words.contains(&"queue::QUEUE.head".to_owned()), "{words:?}");
        assert!(words.contains(&"queue::QUEUE.slots[2].1".to_owned()), "{words:?}");
        assert!(image.is_rust() && image.has_debug_lines());
        assert!(
            image
                .source_units()
                .iter()
                .any(|unit| unit.language == Language::Rust && unit.file.ends_with("program.rs"))
        );
    });
}

#[test]
fn locks_are_found_wherever_they_went() {
    each_way(&["-g"], |_, image| {
        let copies = image.inlined(&["Mutex"], &|name| name == "std::sys::sync::mutex::futex::Mutex::lock");
        // Into the function itself, or into the generic lock that it calls.
        let is_users =
            |name: &str| ["program::bump", "std::sync::poison::mutex::Mutex<T>::lock"].contains(&name);
        let mut owners = copies.iter().filter_map(|copy| image.function_at(copy.ranges[0].start)?.name());
        assert!(owners.any(|name| is_users(&name)), "{copies:?}");
        // The slow path is in the library that was compiled in advance, under the other mangling scheme.
        let slow =
            image.inlined(&["Mutex"], &|name| name == "std::sys::sync::mutex::futex::Mutex::lock_contended");
        assert!(slow.iter().any(|copy| !copy.is_inlined), "{slow:?}");
    });
}

#[test]
fn user_code_has_the_atomics_and_not_what_prints() {
    each_way(&["-g"], |project, image| {
        let line = project.line("counted");
        let counted =
            frames_with(image, |frame| frame.line == Some(line) && frame.file == Some(project.source()));
        assert!(!counted.is_empty());
        let atomics = frames_with(image, |frame| {
            frame.file.as_ref().is_some_and(|file| file.ends_with("core/src/sync/atomic.rs"))
        });
        assert!(
            atomics.iter().any(|frames| frames.iter().any(|frame| frame.function.ends_with("fetch_add")))
        );
        let code = user_code(image);
        let has = |address| code.iter().any(|part| part.contains(&address));
        let print = image.function_at(function(image, "std::io::stdio::_print")).unwrap();
        assert!(!print.range.clone().any(has));
        let contended = function(image, "futex::Mutex::lock_contended");
        assert!(image.function_at(contended).unwrap().range.clone().any(has));
    });
}

#[test]
fn without_lines_of_its_own_the_program_is_told_from_the_library_by_name() {
    // The library that was compiled in advance brings its lines along, the program has none.
    each_way(&["-Cdebuginfo=0"], |_, image| {
        assert!(!image.has_debug_lines() && image.is_rust());
        let code = user_code(image);
        let has = |address| code.iter().any(|part| part.contains(&address));
        let bump = image.function_at(function(image, "program::bump")).unwrap();
        assert!(bump.range.clone().all(has));
        assert_eq!(image.frames(bump.range.start + 1)[0].function, "program::bump+0x1");
        assert_eq!(image.data_at(object(image, "7COUNTER")).unwrap(), "COUNTER");
        let print = image.function_at(function(image, "std::io::stdio::_print")).unwrap();
        assert!(!print.range.clone().any(has));
    });
}
