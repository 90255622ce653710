//! C++: members, bases, references, captures, the GNU library's types.

use ptrace_backend::debuginfo::inspect::{Inspector, ScopeKind};

use super::stopped::{Stopped, assert_never_wrong, assert_values, frame, lines, scope};
use crate::debuginfo::build::Project;

const PROGRAM: &str = r#"
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
namespace app {
struct Point { int x, y; static int made; int length() const { return x; } };
int Point::made = 4;
enum class Mode : unsigned char { Fast = 1, Slow = 2 };
namespace { int hidden = 9; }
struct Base { virtual ~Base() {} int base = 1; };
struct Left : virtual Base { int left = 2; };
struct Right : virtual Base { int right = 3; };
struct Both : Left, Right { int both = 4; Point at{5, 6}; int method(int k) const; };
inline int shared_inline = 12;
}
thread_local int own = 5;
static std::mutex held;
template <class... T> __attribute__((noinline)) int pack(T... many) { int sum = (0 + ... + many);
    printf("tid=%d\n", (int)gettid()); fflush(stdout); asm volatile("int3" ::: "memory"); return sum; }
int app::Both::method(int k) const {
    std::string text = "hello", longer(300, 'x'), empty; std::string_view view = text; std::wstring wide = L"wid\u00e9"; std::u16string u16 = u"u\u00df";
    std::vector<int> numbers{1, 2, 3}, none; std::vector<bool> bits(70, true); bits[65] = false; std::vector<std::string> words{"a", "b"};
    std::vector<Point> points{{1, 2}, {3, 4}};
    std::array<int, 3> array{4, 5, 6}; std::pair<int, std::string> pair{1, "one"}; std::tuple<int, double, std::string> tuple{1, 2.5, "three"};
    std::map<std::string, int> map{{"a", 1}, {"b", 2}}; std::map<int, int> large; for (int i = 0; i < 1000; i++) large[i] = i * i;
    std::set<int> set{3, 1, 2}; std::unordered_map<int, std::string> hashed{{1, "x"}}; std::unordered_set<int> hashes{7};
    std::deque<int> deque; for (int i = 0; i < 300; i++) deque.push_back(i); deque.pop_front();
    std::list<int> list{1, 2}; std::forward_list<int> forward{1, 2, 3};
    std::optional<int> some = 5, nothing; std::optional<std::string> some_text = "opt"; std::variant<int, std::string> variant = "v", number = 3;
    std::unique_ptr<Point> unique = std::make_unique<Point>(Point{7, 8}), null;
    std::shared_ptr<Point> shared = std::make_shared<Point>(Point{9, 10}), copy = shared; std::weak_ptr<Point> weak = shared, expired = std::make_shared<Point>(Point{1, 2});
    std::atomic<int> atomic{11}; std::atomic<bool> flag{true}; std::atomic<Mode> mode_now{Mode::Slow}; std::atomic<Point *> pointing{unique.get()}; std::atomic<double> real{1.5};
    std::mutex open; std::recursive_mutex twice; twice.lock(); twice.lock(); std::lock_guard<std::mutex> guard(held);
    std::thread thread([] {}); thread.join(); std::chrono::milliseconds ms(1500);
    Mode mode = Mode::Slow; int &ref = numbers[1]; const Point &const_ref = points[0]; Point &&moved = Point{20, 21}; int &in_vector = points[1].y;
    int Point::*member = &Point::y; int (Point::*function)() const = &Point::length; std::nullptr_t np = nullptr; char32_t c32 = U'\u00df';
    auto it = numbers.begin(); std::initializer_list<int> il{1, 2}; const char *names[] = {"uno", "dos"};
    auto lambda = [&text, k, this](int n) { return pack(1, n, k) + (int)text.size() + both + base; };
    int r = lambda(2);
    asm volatile("" :: "r"(member), "r"(&function), "r"(&np), "r"(&c32), "r"(&it), "r"(&il), "r"(names), "r"(&ms), "r"(&in_vector) : "memory");
    return r + k + (int)mode + ref + const_ref.x + moved.x + Point::made + hidden + own + (int)variant.index() + (int)number.index() + atomic + flag + real;
}
int main() { app::Both both; return both.method(3) + app::shared_inline; }
"#;

fn stopped_with(flags: &[&str]) -> Stopped {
    let project = Project::new("values.cpp", PROGRAM);
    let flags = [&["-std=c++17", "-O0", "-g", "-pthread"], flags].concat();
    Stopped::at_breakpoint(&project.compile("values", &flags))
}

#[test]
fn the_librarys_types_are_what_their_users_think() {
    for format in ["-gdwarf-4", "-gdwarf-5"] {
        let stopped = stopped_with(&[format]);
        let inspector = stopped.inspector();
        let here = frame(&inspector, "::method");
        let tid = stopped.printed["tid"].as_str();
        assert_values(
            &inspector,
            here,
            &[
                ("text", "\"hello\""),
                ("longer", &format!("\"{}\"…", "x".repeat(256))),
                ("empty", "\"\""),
                ("view", "\"hello\""),
                ("wide", "\"widé\""),
                ("u16", "\"uß\""),
                ("numbers", "[1, 2, 3] (len 3)"),
                ("none", "[] (len 0)"),
                ("bits[64]", "true"),
                ("bits[65]", "false"),
                ("words", "[\"a\", \"b\"] (len 2)"),
                ("points[1].y", "4"),
                ("array", "[4, 5, 6]"),
                ("pair", "(1, \"one\")"),
                ("pair.second", "\"one\""),
                ("tuple", "(1, 2.5, \"three\")"),
                ("map", "{\"a\": 1, \"b\": 2} (len 2)"),
                ("set", "{1, 2, 3} (len 3)"),
                ("hashed", "{1: \"x\"} (len 1)"),
                ("hashes", "{7} (len 1)"),
                ("deque[298]", "299"),
                ("list", "[1, 2] (len 2)"),
                ("forward", "[1, 2, 3] (len 3)"),
                ("some", "optional(5)"),
                ("nothing", "nullopt"),
                ("some_text", "optional(\"opt\")"),
                ("variant", "std::string(\"v\")"),
                ("number", "int(3)"),
                ("unique->y", "8"),
                ("null", "0x0"),
                ("null->y", "the value on the way is not known: a null pointer"),
                ("shared->y", "10"),
                ("*shared", "Point { x: 9, y: 10 }"),
                ("expired", "(expired)"),
                ("atomic", "11"),
                ("flag", "true"),
                ("mode_now", "Slow"),
                ("pointing->x", "7"),
                ("real", "1.5"),
                ("open", "mutex { locked: false }"),
                ("twice", &format!("recursive_mutex {{ locked: true, owner: {tid}, count: 2 }}")),
                ("held", &format!("mutex {{ locked: true, owner: {tid} }}")),
                ("thread", "no thread"),
                ("ms", "1500"),
                ("mode", "Slow"),
                ("ref", "2"),
                ("const_ref", "Point { x: 1, y: 2 }"),
                ("moved.y", "21"),
                ("in_vector", "4"),
                ("member", "&app::Point::y"),
                ("function", "&app::Point::length"),
                ("np", "nullptr"),
                ("c32", "223 'ß'"),
                ("*it", "1"),
                ("il", "[1, 2] (len 2)"),
                ("names[1][0]", "100 'd'"),
                ("k", "3"),
                ("both", "4"),
                ("this->at.y", "6"),
                ("left", "2"),
                ("base", "1"),
                ("(*this).right", "3"),
                ("own", "5"),
                ("app::hidden", "`app::hidden` is not a variable here"),
                ("hidden", "9"),
                ("Point::made", "4"),
                ("app::shared_inline", "12"),
                ("text.size()", "nothing is run in the program: calls cannot be evaluated"),
            ],
        );
        for (expression, ending) in [
            ("shared", "→ Point { x: 9, y: 10 } (use_count 2, weak_count 1)"),
            ("weak", "→ Point { x: 9, y: 10 } (use_count 2, weak_count 1)"),
            ("unique", "→ Point { x: 7, y: 8 }"),
            ("names[1]", "→ \"dos\""),
            ("&ref", "→ 2"),
        ] {
            let value = inspector.evaluate(here, expression).unwrap().value;
            assert!(value.ends_with(ending), "{expression}: {value}");
        }
    }
}

#[test]
fn optimised_code_shows_right_values_or_none() {
    let project = Project::new("values.cpp", PROGRAM);
    let stopped =
        Stopped::at_breakpoint(&project.compile("values", &["-std=c++17", "-O2", "-g", "-pthread"]));
    let inspector = stopped.inspector();
    let expected = [
        ("text", "\"hello\""),
        ("numbers", "[1, 2, 3] (len 3)"),
        ("points", "[Point { x: 1, y: 2 }, Point { x: 3, y: 4 }] (len 2)"),
        ("array", "[4, 5, 6]"),
        ("pair", "(1, \"one\")"),
        ("tuple", "(1, 2.5, \"three\")"),
        ("map", "{\"a\": 1, \"b\": 2} (len 2)"),
        ("set", "{1, 2, 3} (len 3)"),
        ("hashed", "{1: \"x\"} (len 1)"),
        ("some", "optional(5)"),
        ("nothing", "nullopt"),
        ("variant", "std::string(\"v\")"),
        ("atomic", "11"),
        ("mode", "Slow"),
        ("ref", "2"),
        ("const_ref", "Point { x: 1, y: 2 }"),
        ("k", "3"),
        ("both", "4"),
        ("left", "2"),
        ("own", "5"),
        ("expired", "(expired)"),
    ];
    assert_never_wrong(&inspector, frame(&inspector, "::method"), &expected, &|value| value.to_owned());
}

#[test]
fn names_parts_and_lambdas() {
    let stopped = stopped_with(&[]);
    let inspector = stopped.inspector();
    types_have_the_names_of_the_source(&inspector);
    parts_can_be_evaluated_where_they_stand(&inspector);
    lambdas_have_what_they_captured(&inspector);
}

fn types_have_the_names_of_the_source(inspector: &Inspector<'_>) {
    let here = frame(inspector, "::method");
    for (name, expected) in [
        ("map", "std::map<std::string, int>"),
        ("words", "std::vector<std::string>"),
        ("member", "int app::Point::*"),
        ("function", "int (app::Point::*)(const app::Point *)"),
        ("names", "const char *[2]"),
        ("ref", "int &"),
        ("this", "const app::Both * const"),
        ("unique", "std::unique_ptr<app::Point>"),
    ] {
        assert_eq!(inspector.evaluate(here, name).unwrap().type_name, expected, "{name}");
    }
}

fn parts_can_be_evaluated_where_they_stand(inspector: &Inspector<'_>) {
    let here = frame(inspector, "::method");
    for name in ["this", "unique", "points", "pair", "shared", "deque", "bits"] {
        let whole = inspector.evaluate(here, name).unwrap();
        assert!(whole.is_expandable(), "{name}");
        let parts = inspector.named(&whole.handle).into_iter().chain(inspector.indexed(&whole.handle, 0..3));
        let mut reached = 0;
        for part in parts {
            if let Some(expression) = part.expression.as_ref().filter(|_| part.name != "app::Left") {
                let again =
                    inspector.evaluate(here, expression).unwrap_or_else(|e| panic!("{expression}: {e}"));
                if !again.value.starts_with("0x") {
                    reached += 1;
                }
            }
        }
        assert!(reached > 0 || name == "shared", "{name}");
    }
    let large = inspector.evaluate(here, "large").unwrap();
    let page = inspector.indexed(&large.handle, 500..502);
    assert_eq!(lines(&page), ["[500]: int = 250000", "[501]: int = 251001"]);
}

fn lambdas_have_what_they_captured(inspector: &Inspector<'_>) {
    let stack = inspector.stack(10);
    assert!(stack[0].source.function.contains("pack"), "{stack:?}");
    let lambda = stack[1].id;
    assert_values(
        inspector,
        lambda,
        &[("n", "2"), ("k", "3"), ("text", "\"hello\""), ("both", "4"), ("base", "1")],
    );
    let arguments = scope(inspector, stack[0].id, ScopeKind::Arguments);
    assert_eq!(lines(&arguments), ["#0: int = 1", "#1: int = 2", "#2: int = 3"]);
}
