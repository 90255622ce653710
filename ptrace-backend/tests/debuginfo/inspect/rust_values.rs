//! Rust: enums with and without niches, the standard library's types, closures, statics.

use ptrace_backend::debuginfo::inspect::{Inspector, ScopeKind};

use super::stopped::{Stopped, assert_never_wrong, assert_values, frame, lines, scope};
use crate::debuginfo::build::Project;

const PROGRAM: &str = r#"
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::ffi::OsString;
use std::num::NonZeroU8;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, RwLock, Weak};
use std::time::Duration;
#[derive(Debug, Clone)] struct Point { x: i32, y: i32 }
#[derive(Debug)] struct Pair(u8, char);
#[derive(Debug)] struct Unit;
#[derive(Debug)] enum Shape { Circle { radius: f64 }, Square(i32, u8), Empty }
#[derive(Debug, Clone, Copy)] enum Color { Red = 3, Green = 7 }
#[derive(Debug)] enum Single { Only(i32) }
#[derive(Debug)] struct Tree { value: i32, left: Option<Box<Tree>> }
mod state { pub static COUNTER: super::AtomicUsize = super::AtomicUsize::new(3); }
static TOTAL: Mutex<Vec<u32>> = Mutex::new(Vec::new());
thread_local! { static OWN: Cell<u32> = const { Cell::new(5) }; }
trait Speak { fn speak(&self) -> i32; }
impl Speak for Point { fn speak(&self) -> i32 { self.x } }
macro_rules! show { ($($name:ident)*) => { $(println!(concat!(stringify!($name), "={:?}"), $name);)* } }
macro_rules! keep { ($($name:ident)*) => { $(std::hint::black_box(&$name);)* } }
#[inline(never)]
fn inspected(text: &str, slice: &[u16], many: &mut Vec<Point>, point: &Point) -> i32 {
    let (i, u, long, wide) = (-5_i8, 250_u8, -1_i64, u128::MAX);
    let (f, d, yes, letter) = (1.5_f32, -0.1_f64, true, 'ß');
    let some = Some(5); let none: Option<i32> = None; let some_ref = Some("in"); let none_ref: Option<&str> = None;
    let some_char = Some('x'); let no_char: Option<char> = None; let nested: Option<Option<bool>> = Some(None);
    let ok: Result<u8, String> = Ok(1); let err: Result<u8, String> = Err("bad".into());
    let shapes = [Shape::Circle { radius: 1.5 }, Shape::Square(2, 3), Shape::Empty]; let single = Single::Only(9);
    let color = Color::Green; let pair = Pair(1, '\n'); let unit = Unit; let nothing = (); let tuple = (1_u8, "two", 3.0_f32);
    let string = String::from("héllo \"w\""); let empty = String::new(); let path = PathBuf::from("/tmp/x"); let os = OsString::from("os");
    let words = vec!["a".to_string(), "b".to_string()]; let grid = [[1, 2], [3, 4]]; let units = vec![(), ()];
    let mut deque: VecDeque<i32> = VecDeque::with_capacity(4); deque.extend([1, 2, 3]); deque.pop_front(); deque.extend([4, 5]);
    let one: HashMap<i32, &str> = [(1, "uno")].into(); let set: HashSet<u8> = [7].into();
    let large: HashMap<u32, u32> = (0..1000).map(|n| (n, n * n)).collect();
    let tree: BTreeMap<u32, char> = (0..200).map(|n| (n, 'a')).collect(); let few: BTreeMap<u8, i8> = [(1, -1), (2, -2)].into();
    let ordered: BTreeSet<i32> = (0..3).collect();
    let cow: Cow<str> = "cow".into(); let boxed: Box<[i32]> = vec![1, 2].into(); let duration = Duration::from_millis(1500);
    let nonzero = NonZeroU8::new(3); let range = 2..5;
    let rc = Rc::new(7); let rc_weak = Rc::downgrade(&rc); let rc_text: Rc<str> = "counted".into();
    let arc = Arc::new(Mutex::new(41)); let arc2 = Arc::clone(&arc); let dropped: Weak<i32> = Arc::downgrade(&Arc::new(1));
    let guard = arc.lock().unwrap(); let free = Mutex::new(Point { x: 1, y: 2 });
    let lock = RwLock::new(3); let reader = lock.read().unwrap(); let written = RwLock::new(4); let writer = written.write().unwrap();
    let cell = Cell::new(11); let cells = RefCell::new(String::from("shared")); let borrow = cells.borrow(); let borrowed_mut = RefCell::new(1); let borrow_mut = borrowed_mut.borrow_mut();
    let flag = AtomicBool::new(true); let number = AtomicI64::new(-9);
    let once: OnceLock<i32> = OnceLock::new(); once.set(4).unwrap(); let unset: OnceLock<String> = OnceLock::new(); let lazy: LazyLock<i32> = LazyLock::new(|| 3);
    let dynamic: Box<dyn Speak> = Box::new(Point { x: 8, y: 9 }); let function: fn(i32) -> i32 = twice;
    let list = Tree { value: 1, left: Some(Box::new(Tree { value: 2, left: None })) };
    let million = vec![7_u32; 1_000_000];
    let shadow = 1; let shadow = if shadow == 1 { "inner" } else { "" };
    OWN.with(|own| own.set(own.get() + 1)); TOTAL.lock().unwrap().push(6); many[0].y += point.x;
    show!(i u long wide f d yes letter some none some_ref none_ref some_char no_char nested ok err shapes single color pair unit nothing tuple
        string empty path os words grid units deque one set few ordered boxed duration nonzero guard reader writer borrow text slice many shadow);
    let base = 100;
    let result = { let captured = 10; let closure = |n: i32| { unsafe { core::arch::asm!("int3") }; n + captured + base + point.y };
        closure(1) };
    keep!(i u long wide f d yes letter some none some_ref none_ref some_char no_char nested ok err shapes single color pair unit tuple string empty path os
        words grid units deque one set large tree few ordered cow boxed duration nonzero range rc rc_weak rc_text arc arc2 dropped free lock cell cells flag number
        once unset lazy dynamic function list million shadow text slice written borrowed_mut);
    drop((guard, reader, writer, borrow, borrow_mut));
    result + state::COUNTER.load(SeqCst) as i32 + Color::Red as i32 + dynamic.speak() + function(1) + list.value
}
fn twice(n: i32) -> i32 { 2 * n }
fn main() { let mut many = vec![Point { x: 5, y: 6 }]; inspected("some text", &[1, 2, 3], &mut many, &Point { x: 1, y: 2 }); println!("{:?}", many[0].y); }
"#;

fn stopped_at(level: &str, flags: &[&str]) -> Stopped {
    let project = Project::new("values.rs", PROGRAM);
    let flags = [&["--edition=2021", "-g", level], flags].concat();
    Stopped::at_breakpoint(&project.compile("values", &flags))
}

/// The words of `Debug` are ours, but for the length of what can grow.
fn as_debug(value: &str) -> String {
    let mut words = value.to_owned();
    while let Some(start) = words.find(" (len ") {
        let end = start + words[start..].find(')').unwrap();
        words.replace_range(start..=end, "");
    }
    words
}

/// Libraries' types beyond what `Debug` says of them.
const REST: [(&str, &str); 37] = [
    ("cow", "Borrowed(\"cow\")"),
    ("rc", "(strong 1, weak 1)"),
    ("rc_weak", "(strong 1, weak 1)"),
    ("rc_text", "\"counted\" (strong 1, weak 0)"),
    ("*rc", "7"),
    ("arc", "Mutex { locked: true, poisoned: false, data: 41 } (strong 2, weak 0)"),
    ("arc.data", "41"),
    ("dropped", "(Weak, dropped)"),
    ("free", "Mutex { locked: false, poisoned: false, data: Point { x: 1, y: 2 } }"),
    ("free.data.y", "2"),
    ("lock", "RwLock { locked: by 1 reader, poisoned: false, data: 3 }"),
    ("written", "RwLock { locked: by a writer, poisoned: false, data: 4 }"),
    ("cell", "11"),
    ("cells", "RefCell { borrowed: shared by 1, value: \"shared\" }"),
    ("borrowed_mut", "RefCell { borrowed: mutably, value: 1 }"),
    ("flag", "true"),
    ("number", "-9"),
    ("once", "OnceLock(4)"),
    ("unset", "OnceLock (not initialised)"),
    ("lazy", "LazyLock (not initialised)"),
    ("dynamic", "→ Point { x: 8, y: 9 }"),
    ("dynamic.y", "9"),
    ("function", "→ values::twice"),
    ("list.left.0.value", "2"),
    ("point.x", "1"),
    ("many[0].y", "7"),
    ("slice[2]", "3"),
    ("tuple.1", "\"two\""),
    ("shapes[1].0", "2"),
    ("shapes[0].radius", "1.5"),
    ("grid[1][0]", "3"),
    ("words[1]", "\"b\""),
    ("million[999999]", "7"),
    ("state::COUNTER", "3"),
    ("COUNTER", "3"),
    ("TOTAL", "Mutex { locked: false, poisoned: false, data: [6] (len 1) }"),
    ("OWN", "6"),
];

#[test]
fn values_have_the_words_of_their_debug_output() {
    for flags in [["-Cdwarf-version=4"], ["-Cdwarf-version=5"]] {
        let stopped = stopped_at("-Copt-level=0", &flags);
        let inspector = stopped.inspector();
        let here = frame(&inspector, "::inspected");
        assert!(stopped.printed.len() > 40);
        for (name, debug) in &stopped.printed {
            let value = inspector.evaluate(here, name).unwrap().value;
            let value = value.split(" → ").last().unwrap();
            assert_eq!(&as_debug(value), debug, "{name}");
        }
        for (expression, expected) in REST {
            let value = inspector.evaluate(here, expression).unwrap().value;
            assert!(value.ends_with(expected), "{expression}: {value}");
        }
    }
}

#[test]
fn optimised_code_shows_right_values_or_none() {
    let stopped = stopped_at("-Copt-level=2", &[]);
    let inspector = stopped.inspector();
    let here = frame(&inspector, "::inspected");
    let printed: Vec<(&str, &str)> =
        stopped.printed.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_never_wrong(&inspector, here, &printed, &|value| {
        as_debug(value.split(" → ").last().unwrap_or_default())
    });
}

#[test]
fn closures_collections_and_statics() {
    let stopped = stopped_at("-Copt-level=0", &["-Ccodegen-units=4"]);
    let inspector = stopped.inspector();
    closures_have_what_they_captured(&inspector);
    large_collections_are_read_a_page_at_a_time(&inspector);
    statics_of_the_crate_are_the_globals(&inspector);
}

fn closures_have_what_they_captured(inspector: &Inspector<'_>) {
    let here = frame(inspector, "inspected::{{closure}}");
    assert_values(
        inspector,
        here,
        &[
            ("captured", "10"),
            ("base", "100"),
            ("n", "1"),
            ("shadow", "`shadow` is not a variable here"),
            ("twice(1)", "nothing is run in the program: calls cannot be evaluated"),
        ],
    );
    assert!(inspector.evaluate(here, "point").unwrap().value.ends_with("Point { x: 1, y: 2 }"));
}

fn large_collections_are_read_a_page_at_a_time(inspector: &Inspector<'_>) {
    let here = frame(inspector, "::inspected");
    let value = |name: &str| inspector.evaluate(here, name).unwrap();
    let million = value("million");
    assert_eq!(
        (million.indexed, million.named),
        (1_000_000, 1),
        "the elements, and the vector as it is made"
    );
    let page = inspector.indexed(&million.handle, 999_998..1_000_005);
    assert_eq!(lines(&page), ["[999998]: u32 = 7", "[999999]: u32 = 7"]);
    assert_eq!(page[1].expression.as_deref(), Some("million[999999]"));
    let large = value("large");
    let page = inspector.indexed(&large.handle, 0..1000);
    let mut pairs: Vec<(u32, u32)> = page
        .iter()
        .map(|one| (one.name.trim_matches(['[', ']']).parse().unwrap(), one.value.parse().unwrap()))
        .collect();
    pairs.sort_unstable();
    assert_eq!(pairs, (0..1000).map(|n| (n, n * n)).collect::<Vec<_>>());
    let tree = value("tree");
    let page = inspector.indexed(&tree.handle, 150..153);
    assert_eq!(lines(&page), ["[150]: char = 'a'", "[151]: char = 'a'", "[152]: char = 'a'"]);
    assert_eq!(
        inspector.evaluate(here, "large[1]").unwrap_err().to_string(),
        "elements of a `HashMap<u32, u32>` cannot be looked up: expand it to see them"
    );
    let list = value("list");
    let names: Vec<String> = inspector.named(&list.handle).into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["value", "left"]);
}

fn statics_of_the_crate_are_the_globals(inspector: &Inspector<'_>) {
    let globals = lines(&scope(inspector, frame(inspector, "::inspected"), ScopeKind::Globals));
    assert_eq!(
        globals,
        [
            "OWN: Cell<u32> = 6",
            "TOTAL: Mutex<Vec<u32>> = Mutex { locked: false, poisoned: false, data: [6] (len 1) }",
            "state::COUNTER: AtomicUsize = 3",
        ]
    );
    let locals = scope(inspector, frame(inspector, "::inspected"), ScopeKind::Locals);
    let names: Vec<&str> = locals.iter().map(|one| one.name.as_str()).collect();
    let at = |name: &str| names.iter().position(|one| *one == name).unwrap_or_else(|| panic!("{names:?}"));
    assert!(at("shadow") < at("shadow (shadowed)") && at("captured") < at("base"));
}
