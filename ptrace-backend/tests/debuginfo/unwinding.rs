//! Walking stacks: this process's own, through libraries and signal handlers, and made-up ones.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::hint::black_box;
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::sync::Mutex;

use ptrace_backend::debuginfo::{Frame, Image, Modules, Registers, unwind};

use crate::debuginfo::build::{Project, range};
use crate::debuginfo::snapshots::{Stack, Words, own_stack, registers};

#[inline(never)]
fn innermost(depth: u32) -> Stack {
    let stack = own_stack();
    black_box(depth);
    stack
}

#[inline(never)]
fn middle(depth: u32) -> Stack {
    let local = black_box([depth; 100]);
    let stack = innermost(local[7]);
    black_box(local);
    stack
}

#[inline(never)]
#[test]
fn callers_are_found_up_to_the_start_of_the_thread() {
    let stack = middle(black_box(3));
    stack.assert_order(&[
        "snapshots::own_stack",
        "unwinding::innermost",
        "unwinding::middle",
        "callers_are_found_up_to_the_start_of_the_thread",
    ]);
    stack.assert_complete();
    assert!(stack.frames.is_sorted_by(|inner, outer| inner.cfa < outer.cfa));
    let [frame, ..] = &stack.modules.frames(stack.frames[1].pc - 1)[..] else { panic!("no source") };
    assert!(frame.file.as_ref().unwrap().ends_with("tests/debuginfo/unwinding.rs"), "{frame:?}");
}

#[test]
fn no_more_frames_than_asked_for() {
    let whole = middle(1);
    let Frame { pc, .. } = whole.frames[0];
    let place = whole.modules.find(pc).unwrap();
    assert_eq!(whole.modules.run_time(place), Some(pc));
    let registers = Registers { pc, ..Registers::default() };
    assert_eq!(unwind(&whole.modules, &Words(BTreeMap::new()), &registers, 0), []);
    assert_eq!(
        unwind(&whole.modules, &Words(BTreeMap::new()), &registers, 5).len(),
        1,
        "no memory, no caller"
    );
}

thread_local! {
    static SEEN: Cell<Option<Stack>> = const { Cell::new(None) };
}

extern "C" fn compare(_: *const c_void, _: *const c_void) -> libc::c_int {
    SEEN.set(Some(own_stack()));
    0
}

#[inline(never)]
#[test]
fn the_c_library_is_walked_through() {
    let mut numbers = [2_u64, 1];
    // SAFETY: the array has two elements of eight bytes, and the comparison only looks at the stack.
    unsafe { libc::qsort(numbers.as_mut_ptr().cast(), 2, 8, Some(compare)) };
    let stack = SEEN.take().unwrap();
    stack.assert_order(&["own_stack", "unwinding::compare", "qsort_r", "the_c_library_is_walked_through"]);
    stack.assert_complete();
}

extern "C" fn on_signal(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    let from_handler = own_stack();
    // SAFETY: the kernel passes a context that lives as long as the handler runs.
    let interrupted = Stack::walk(&registers(unsafe { &*context.cast::<libc::ucontext_t>() }));
    let above: Vec<Frame> = interrupted.frames.clone();
    // Past the handler, the walk sees what the interrupted thread would have shown itself.
    let tail = &from_handler.frames[from_handler.frames.len() - above.len()..];
    assert_eq!(tail, above);
    SEEN.set(Some(from_handler));
}

/// Signal handlers belong to the process: one test at a time.
static HANDLER: Mutex<()> = Mutex::new(());

#[inline(never)]
fn interrupt_with(flags: libc::c_int) -> Stack {
    let _one = HANDLER.lock().unwrap();
    // Far away from the thread's stack, and larger than the one that Rust gives each thread.
    let mut elsewhere = vec![0_u8; 1 << 20];
    // SAFETY: the action is filled in before use, the handler has the type that SA_SIGINFO asks for, the signal is
    // raised in this thread, which waits for it, and the old stack for signals is back before the new one is freed.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | flags;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
        let stack =
            libc::stack_t { ss_sp: elsewhere.as_mut_ptr().cast(), ss_flags: 0, ss_size: elsewhere.len() };
        let mut before: libc::stack_t = mem::zeroed();
        assert_eq!(libc::sigaltstack(&raw const stack, &raw mut before), 0);
        assert_eq!(libc::raise(libc::SIGUSR1), 0);
        assert_eq!(libc::sigaltstack(&raw const before, std::ptr::null_mut()), 0);
    }
    SEEN.take().unwrap()
}

#[inline(never)]
#[test]
fn signal_handlers_are_walked_through() {
    for flags in [0, libc::SA_ONSTACK] {
        let stack = interrupt_with(flags);
        stack.assert_order(&[
            "own_stack",
            "unwinding::on_signal",
            "raise",
            "interrupt_with",
            "signal_handlers_are_walked_through",
        ]);
        stack.assert_complete();
    }
}

const THREAD: &str = r#"
#include <thread>
extern "C" __attribute__((noinline)) void in_thread(void (*callback)()) {
    // No tail call: the thread has to stay on the stack.
    std::thread([&] { callback(); asm volatile("" ::: "memory"); }).join();
}
"#;

static FROM_THREAD: Mutex<Option<Stack>> = Mutex::new(None);

extern "C" fn callback() {
    *FROM_THREAD.lock().unwrap() = Some(own_stack());
}

#[test]
fn the_cpp_library_is_walked_through() {
    for level in ["-O0", "-O2"] {
        let project = Project::new("thread.cpp", THREAD);
        let path = project.compile("libthread.so", &["-shared", "-fPIC", level]);
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: the library is the one just compiled, its function has this type, and it stays loaded.
        unsafe {
            let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
            assert!(!library.is_null());
            let in_thread = libc::dlsym(library, c"in_thread".as_ptr());
            assert!(!in_thread.is_null());
            mem::transmute::<*mut c_void, extern "C" fn(extern "C" fn())>(in_thread)(callback);
        }
        let stack = FROM_THREAD.lock().unwrap().take().unwrap();
        stack.assert_order(&["own_stack", "unwinding::callback", "::_M_run"]);
        let mut modules = stack.frames.iter().filter_map(|frame| stack.modules.get(frame.place?.module));
        assert!(modules.any(|module| module.image.path().to_string_lossy().contains("libstdc++")));
        stack.assert_complete();
    }
}

const CALLER: &str = r#"
#include <pthread.h>
pthread_mutex_t lock;
__attribute__((noinline)) int worker(int n) { pthread_mutex_lock(&lock); return n; }
int main(int argc, char **argv) { return worker(argc) + 1; }
"#;

const STACK: u64 = 0x7fff_0000_1000;
const BIAS: u64 = 0x5555_5555_4000;

/// A program at an address of its own, stopped at `pc` with these words on its stack.
fn made_up(image: &std::sync::Arc<Image>, registers: &Registers, words: &[u64]) -> Vec<Option<String>> {
    let mut modules = Modules::default();
    let extent = image.extent();
    modules.add(std::sync::Arc::clone(image), BIAS, BIAS + extent.start..BIAS + extent.end);
    let words = (STACK..).step_by(8).zip(words.iter().copied()).collect();
    let frames = unwind(&modules, &Words(words), registers, 10);
    let name = |frame: &Frame| image.function_at(frame.place?.address)?.name();
    frames.iter().map(name).collect()
}

fn stopped_at(pc: u64, rbp: u64) -> Registers {
    let mut registers = Registers { pc, ..Registers::default() };
    registers.gpr[6] = rbp;
    registers.gpr[7] = STACK;
    registers
}

/// The address at which a function goes on after its first call.
fn after_first_call(image: &Image, function: &str) -> u64 {
    let range = range(image, function);
    let text = image.text();
    let section = text.iter().find(|section| section.range().contains(&range.start)).unwrap();
    let bytes = &section.bytes[(range.start - section.address) as usize..];
    range.start + bytes.iter().position(|&byte| byte == 0xe8).unwrap() as u64 + 5
}

#[test]
fn stubs_are_walked_through() {
    // The first stub's table says where the caller is by an expression over the instruction pointer.
    let image = Project::new("caller.c", CALLER).open("caller", &["-O0", "-Wl,-z,lazy"]);
    let text = image.text();
    let stubs = text.iter().find(|section| section.name == ".plt").unwrap();
    let stub =
        stubs.range().find(|&address| image.plt_target(address) == Some("pthread_mutex_lock")).unwrap();
    let [worker, main] = ["worker", "main"].map(|name| BIAS + after_first_call(&image, name));
    let worker_frame = [STACK + 80, main];
    for (into, pushed) in [(0, &[][..]), (6, &[]), (11, &[7])] {
        // The word on top, the return address, then worker's locals up to its saved frame pointer.
        let mut words = pushed.to_vec();
        words.push(worker);
        words.resize(6, 0);
        words.extend(worker_frame);
        let registers = stopped_at(BIAS + stub + into, STACK + 48);
        let names = made_up(&image, &registers, &words);
        assert_eq!(
            names[..3],
            [None, Some("worker".to_owned()), Some("main".to_owned())],
            "{into} bytes into the stub"
        );
    }
}

#[test]
fn calls_through_wild_pointers_lead_back_to_the_caller() {
    let image = Project::new("caller.c", CALLER).open("caller", &["-O0"]);
    let worker = BIAS + after_first_call(&image, "worker");
    for wild in [0, 0x1234] {
        let names = made_up(&image, &stopped_at(wild, 0), &[worker]);
        assert_eq!(names, [None, Some("worker".to_owned())], "called {wild:#x}");
    }
    // A word on the stack that points to no code is no return address.
    let names = made_up(&image, &stopped_at(0, 0), &[BIAS + image.symbol("lock").unwrap()]);
    assert_eq!(names, [None]);
}

#[test]
fn without_tables_frame_pointers_are_followed() {
    let flags = ["-O0", "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"];
    let image = Project::new("caller.c", CALLER).open("caller", &flags);
    let worker = range(&image, "worker").start;
    let main = BIAS + after_first_call(&image, "main");
    // Past worker's prologue: two locals, the saved frame pointer, the return address.
    let registers = stopped_at(BIAS + worker + 12, STACK + 16);
    assert_eq!(
        made_up(&image, &registers, &[0, 0, 0, main]),
        [Some("worker".to_owned()), Some("main".to_owned())]
    );
    // A chain that does not lead up ends the walk.
    let registers = stopped_at(BIAS + worker + 12, STACK - 16);
    assert_eq!(made_up(&image, &registers, &[0, 0, 0, main]).len(), 1);
}
