//! Variables that each thread has a copy of, in the program and in its libraries.

use std::process::Command;

use super::stopped::{Stopped, assert_values, frame};
use crate::debuginfo::build::Project;

const LIBRARY: &str = r#"
_Thread_local long in_library = 40;
static _Thread_local char padding[100];
_Thread_local int second = 7;
__attribute__((noinline)) void stop(void) { in_library += 2; padding[0]++; second++; __asm__ volatile("int3" ::: "memory"); }
"#;

const PROGRAM: &str = r#"
#include <pthread.h>
void stop(void);
static _Thread_local char first = 'a';
_Thread_local int in_program __attribute__((aligned(64))) = 1;
static _Thread_local int zero;
static void *work(void *argument) { in_program = 5; first = 'b'; zero = 6; stop(); return argument; }
int main(void) { pthread_t thread; pthread_create(&thread, 0, work, 0); pthread_join(thread, 0); return in_program + first + zero; }
"#;

#[test]
fn the_stopped_threads_copies_are_shown() {
    let project = Project::new("program.c", PROGRAM);
    let folder = project.folder();
    std::fs::write(folder.join("library.c"), LIBRARY).unwrap();
    project.run(Command::new("gcc").args([
        "-g",
        "-O1",
        "-shared",
        "-fPIC",
        "library.c",
        "-o",
        "liblibrary.so",
    ]));
    let search = format!("-Wl,-rpath,{}", folder.display());
    let library = folder.join("liblibrary.so");
    for kind in ["-pie", "-no-pie"] {
        let flags = ["-g", "-O1", "-pthread", kind, &search, library.to_str().unwrap()];
        let stopped = Stopped::at_breakpoint(&project.compile("program", &flags));
        let inspector = stopped.inspector();
        let expected = [("in_library", "42"), ("second", "8")];
        assert_values(&inspector, frame(&inspector, "stop"), &expected);
        let expected = [("in_program", "5"), ("first", "98 'b'"), ("zero", "6"), ("in_library", "42")];
        assert_values(&inspector, frame(&inspector, "work"), &expected);
    }
}
