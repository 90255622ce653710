//! C: variables, inlined calls, lines, stubs.

use ptrace_backend::debuginfo::{Image, Language, user_code};

use crate::debuginfo::build::{Project, frames_with, range};

const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
struct node { int value; struct node *next; };
struct { int head; int tail; struct node slots[4]; pthread_mutex_t lock; union { long whole; char part[8]; } either; } queue;
volatile int counter;
static volatile int grid[2][3];
_Atomic int ready;
static inline __attribute__((always_inline)) void bump(int by) {
    counter += by; /* in bump */
}
__attribute__((noinline)) int worker(int n) {
    static volatile int calls;
    calls++;
    bump(n); /* in worker */
    grid[1][2] = n;
    pthread_mutex_lock(&queue.lock);
    queue.slots[3].value = n;
    queue.either.whole = n;
    pthread_mutex_unlock(&queue.lock);
    return atomic_load(&ready);
}
int main(int argc, char **argv) { return worker(argc) + queue.head; }
"#;

const WAYS: [&[&str]; 6] = [
    &["-O0"],
    &["-O2"],
    &["-O0", "-no-pie"],
    &["-O2", "-no-pie", "-gdwarf-4"],
    &["-O1", "-gdwarf-2"],
    &["-O1", "-gdwarf64", "-gz"],
];

fn each_way(check: impl Fn(&Project, &Image)) {
    let project = Project::new("program.c", PROGRAM);
    for way in WAYS {
        let image = project.open("program", &[&["-g", "-fno-lto"], way].concat());
        assert_eq!(image.is_position_independent(), !way.contains(&"-no-pie"));
        check(&project, &image);
    }
}

#[test]
fn variables_have_the_words_of_the_source() {
    each_way(|_, image| {
        let words = |symbol: &str, offset| image.data_at(range(image, symbol).start + offset);
        assert_eq!(words("counter", 0).unwrap(), "counter");
        assert_eq!(words("ready", 0).unwrap(), "ready");
        assert_eq!(words("queue", 0).unwrap(), "queue.head");
        assert_eq!(words("queue", 4).unwrap(), "queue.tail");
        // head and tail, then slots of 16 bytes, each with its pointer at 8.
        assert_eq!(words("queue", 8 + 3 * 16).unwrap(), "queue.slots[3].value");
        assert_eq!(words("queue", 8 + 3 * 16 + 8).unwrap(), "queue.slots[3].next");
        assert_eq!(words("queue", 8 + 3 * 16 + 10).unwrap(), "queue.slots[3].next+0x2");
        // A mutex is one thing, whatever field of it is touched.
        assert_eq!(words("queue", 72).unwrap(), "queue.lock");
        assert_eq!(words("queue", 72 + 8).unwrap(), "queue.lock");
        assert_eq!(words("queue", 72 + 40).unwrap(), "queue.either.whole");
        assert_eq!(words("grid", (3 + 2) * 4).unwrap(), "grid[1][2]");
        let calls = image.symbols_where(|name| name.starts_with("calls"))[0].address;
        assert_eq!(image.data_at(calls).unwrap(), "worker::calls");
        assert_eq!(image.data_at(image.entry()), None);
    });
}

#[test]
fn inlined_calls_come_innermost_first() {
    each_way(|project, image| {
        let line = project.line("in bump");
        let inlined = frames_with(image, |frame| frame.line == Some(line));
        assert!(!inlined.is_empty());
        for frames in inlined {
            let functions: Vec<&str> = frames.iter().map(|frame| frame.function.as_str()).collect();
            assert_eq!(functions, ["bump", "worker"]);
            assert_eq!(frames[1].line, Some(project.line("in worker")));
            assert_eq!(frames[0].file, Some(project.source()));
        }
        let copies = image.inlined(&["bump"], &|name| name == "bump");
        assert!(copies.iter().all(|copy| copy.is_inlined) && !copies.is_empty(), "{copies:?}");
        assert!(
            copies
                .iter()
                .flat_map(|copy| &copy.ranges)
                .all(|part| range(image, "worker").contains(&part.start))
        );
        let whole = image.inlined(&["worker"], &|name| name == "worker");
        assert_eq!(whole.len(), 1, "{whole:?}");
        assert!(!whole[0].is_inlined && whole[0].ranges[0] == range(image, "worker"));
    });
}

#[test]
fn functions_are_found_from_any_of_their_addresses() {
    each_way(|_, image| {
        let worker = range(image, "worker");
        for address in worker.clone() {
            let function = image.function_at(address).unwrap();
            assert_eq!(
                (function.range.clone(), function.name().unwrap().as_str()),
                (worker.clone(), "worker")
            );
        }
        assert!(image.functions().any(|function| function.range == worker));
        assert!(
            image
                .text()
                .iter()
                .any(|section| section.name == ".text" && section.range().contains(&worker.start))
        );
    });
}

#[test]
fn user_code_is_the_program_without_what_starts_it() {
    each_way(|_, image| {
        let code = user_code(image);
        let has = |address| code.iter().any(|part| part.contains(&address));
        assert!(range(image, "worker").all(has) && range(image, "main").all(has));
        assert!(!has(image.entry()) && !has(image.symbol("frame_dummy").unwrap()));
        assert!(code.is_sorted_by(|a, b| a.end < b.start), "sorted, disjoint, and joined where they touch");
    });
}

#[test]
fn sources_and_language_are_known() {
    each_way(|project, image| {
        assert!(image.has_debug_lines() && !image.is_rust());
        assert!(image.source_files().contains(&project.source()));
        let [unit] = image.source_units() else { panic!("one unit: {:?}", image.source_units()) };
        assert_eq!(
            (&unit.file, &unit.folder, unit.language),
            (&project.source(), &project.folder(), Language::C)
        );
        assert!(unit.producer.contains("GNU C"), "{}", unit.producer);
    });
}

/// Targets of the calls in a range, as far as they leave the image.
fn imported_calls(image: &Image, range: std::ops::Range<u64>) -> Vec<String> {
    let text = image.text();
    let section = text.iter().find(|section| section.range().contains(&range.start)).unwrap();
    let at = |address: u64| &section.bytes[(address - section.address) as usize..];
    let target = |address: u64, length: u64| {
        let bytes = at(address + length - 4)[..4].try_into().unwrap();
        (address + length).wrapping_add_signed(i32::from_le_bytes(bytes).into())
    };
    let calls = range.filter_map(|address| match at(address) {
        [0xe8, ..] => image.plt_target(target(address, 5)),
        [0xff, 0x15, ..] => image.plt_target(target(address, 6)),
        _ => None,
    });
    calls.map(str::to_owned).collect()
}

#[test]
fn calls_into_other_images_have_names() {
    let project = Project::new("program.c", PROGRAM);
    for linking in [
        &["-Wl,-z,lazy"][..],
        &["-Wl,-z,now"],
        &["-no-pie"],
        &["-fno-plt"],
        &["-fcf-protection", "-Wl,-z,ibtplt"],
    ] {
        let image = project.open("program", &[&["-O1"], linking].concat());
        let calls = imported_calls(&image, range(&image, "worker"));
        assert_eq!(calls, ["pthread_mutex_lock", "pthread_mutex_unlock"], "{linking:?}");
        assert!(
            image
                .import_slots()
                .any(|(slot, name)| name == "pthread_mutex_lock" && image.plt_target(slot) == Some(name))
        );
        assert_eq!(image.plt_target(image.entry()), None);
    }
}
