//! C: numbers, texts, pointers, arrays, structures, unions, bit-fields, in every frame of the stack.

use ptrace_backend::debuginfo::inspect::ScopeKind;

use super::stopped::{Stopped, assert_values, frame, lines, scope};
use crate::debuginfo::build::Project;

const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>
#include <pthread.h>
#include <unistd.h>
enum color { RED, GREEN = 5, BLUE = -1 };
struct point { int x, y; };
struct flags { unsigned ready : 1; int level : 5; unsigned : 3; bool late : 1; };
union number { int i; float f; unsigned char bytes[4]; };
struct node { int value; struct node *next; struct { int inner; }; union { long l; char c; }; };
typedef struct { struct point corners[2]; const char *label; } shape_t;
struct opaque;
int counter = 7;
static struct point origin = {3, 4};
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER, open_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int own = 11;
static int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
static int twice(int n) { return 2 * n; }
__attribute__((noinline)) int innermost(int depth, const struct node *list, const char *text) {
    bool yes = true;
    signed char small = -3;
    unsigned char letter = 'a';
    char glyph = '\n';
    short s = -300; unsigned u = 4000000000u; long l = -5000000000; unsigned long long ull = 18446744073709551615u;
    __int128 wide = (__int128)1 << 100;
    float f = 1.5f; double d = -0.1; long double ld = 2.25L;
    double _Complex z = 1.0 + 2.0 * (__extension__ 1.0i);
    wchar_t wc = L'ß';
    enum color color = GREEN, odd = (enum color)9, blue = BLUE;
    struct flags flags = {1, -7, true};
    union number number = {.i = 0x3f800000};
    shape_t shape = {{{1, 2}, {3, 4}}, "square"};
    int (*function)(int) = twice;
    int (*table)[3] = matrix;
    void *nothing = 0; void *something = &counter;
    struct opaque *opaque = (struct opaque *)&counter;
    char buffer[16] = "hello"; char full[3] = {'a', 'b', 'c'}; char escaped[] = "tab\t\"q\" \xff";
    int variable[depth];
    for (int i = 0; i < depth; i++) variable[i] = i * i;
    uint8_t bytes[] = {1, 2, 255};
    int *wild = (int *)8;
    struct node self = {1, &self, {2}, {3}};
    int x = 1;
    own++;
    { double x = 2.5; {
        pthread_mutex_lock(&guard);
        printf("u=%u\nl=%ld\nd=%g\ncounter=%p\ntid=%d\n", u, l, d, (void *)&counter, (int)gettid()); fflush(stdout);
        __asm__ volatile("int3" ::: "memory"); x += 1; } }
    return x + small + yes + letter + glyph + s + (int)wide + (int)f + (int)ld + wc + color + odd + flags.level + number.i +
        shape.corners[0].x + function(1) + table[0][0] + (nothing == something) + buffer[0] + full[0] + variable[0] +
        bytes[0] + (int)ull + blue + escaped[0] + (wild == 0) + self.value + (opaque == 0) + list->value + text[0] + (int)__real__ z;
}
__attribute__((noinline)) static int middle(int a) {
    struct node last = {20, 0, {6}, {7}}, first = {10, &last, {5}, {8}};
    int kept = a * 3;
    return innermost(5, &first, "some text") + kept + counter + origin.x;
}
int main(void) { int argument = 14; return middle(argument) + own + matrix[0][0]; }
"#;

#[test]
fn every_kind_of_value_is_shown() {
    let project = Project::new("values.c", PROGRAM);
    for format in ["-gdwarf-4", "-gdwarf-5"] {
        let stopped = Stopped::at_breakpoint(&project.compile("values", &["-O0", "-g", format]));
        let inspector = stopped.inspector();
        let here = frame(&inspector, "innermost");
        let printed = |name: &str| stopped.printed[name].as_str();
        assert_values(
            &inspector,
            here,
            &[
                ("yes", "true"),
                ("small", "-3"),
                ("letter", "97 'a'"),
                ("glyph", "10 '\\n'"),
                ("s", "-300"),
                ("u", printed("u")),
                ("l", printed("l")),
                ("ull", "18446744073709551615"),
                ("wide", "1267650600228229401496703205376"),
                ("f", "1.5"),
                ("d", printed("d")),
                ("ld", "2.25"),
                ("z", "1.0 + 2.0i"),
                ("wc", "223 'ß'"),
                ("color", "GREEN"),
                ("odd", "9"),
                ("blue", "BLUE"),
                ("flags", "flags { ready: 1, level: -7, late: true }"),
                ("number", "number { i: 1065353216, f: 1.0, bytes: [0, 0, 128, 63 '?'] }"),
                ("shape.corners[1].y", "4"),
                ("buffer", "\"hello\""),
                ("full", "\"abc\""),
                ("escaped", "\"tab\\t\\\"q\\\" \\xff\""),
                ("variable", "[0, 1, 4, 9, 16]"),
                ("variable[3]", "9"),
                ("variable[5]", "there is no element 5: the length is 5"),
                ("bytes", "[1, 2, 255]"),
                ("nothing", "0x0"),
                ("something", printed("counter")),
                ("wild", "0x8 → unreadable memory at 0x8"),
                ("*wild", "unreadable memory at 0x8"),
                ("table[1]", "[4, 5, 6]"),
                ("x", "2.5"),
                ("depth", "5"),
                ("list->next->value", "20"),
                ("(*list->next).inner", "6"),
                ("list->l", "8"),
                ("self.next->next->next->value", "1"),
                ("text[5]", "116 't'"),
                ("counter", "7"),
                ("origin", "point { x: 3, y: 4 }"),
                ("guard", &format!("pthread_mutex_t {{ locked: true, owner: {} }}", printed("tid"))),
                ("open_lock", "pthread_mutex_t { locked: false }"),
                ("own", "12"),
                ("matrix", "[[1, 2, 3], [4, 5, 6]]"),
                ("matrix[1][2]", "6"),
                ("missing", "`missing` is not a variable here"),
                ("shape.nothing", "`shape_t` has no member `nothing`"),
                ("*u", "a value of type `unsigned int` cannot be dereferenced"),
            ],
        );
        let value = |expression: &str| inspector.evaluate(here, expression).unwrap();
        assert!(value("function").value.ends_with(" → twice"), "{}", value("function").value);
        assert!(value("text").value.ends_with(" → \"some text\""), "{}", value("text").value);
        assert_eq!(value("&counter").value, format!("{} → 7", printed("counter")));
        assert_eq!(value("table").type_name, "int (*)[3]");
        assert_eq!(value("function").type_name, "int (*)(int)");
        assert_eq!(value("list").type_name, "const struct node *");
    }
}

#[test]
fn inner_blocks_come_first_and_hide_outer_variables() {
    let project = Project::new("values.c", PROGRAM);
    let stopped = Stopped::at_breakpoint(&project.compile("values", &["-O0", "-g"]));
    let inspector = stopped.inspector();
    let locals = lines(&scope(&inspector, frame(&inspector, "innermost"), ScopeKind::Locals));
    assert_eq!(locals[0], "x: double = 2.5");
    assert!(locals.contains(&"x (shadowed): int = 1".to_owned()), "{locals:#?}");
    let globals = lines(&scope(&inspector, frame(&inspector, "middle"), ScopeKind::Globals));
    assert_eq!(
        globals,
        [
            "counter: int = 7",
            &format!(
                "guard: pthread_mutex_t = pthread_mutex_t {{ locked: true, owner: {} }}",
                stopped.printed["tid"]
            ),
            "matrix: int [2][3] = [[1, 2, 3], [4, 5, 6]]",
            "open_lock: pthread_mutex_t = pthread_mutex_t { locked: false }",
            "origin: struct point = point { x: 3, y: 4 }",
            "own: int = 12",
        ]
    );
}

#[test]
fn callers_keep_their_variables() {
    let project = Project::new("values.c", PROGRAM);
    for level in ["-O0", "-O2"] {
        let stopped = Stopped::at_breakpoint(&project.compile("values", &[level, "-g"]));
        let inspector = stopped.inspector();
        let middle = frame(&inspector, "middle");
        assert_values(&inspector, middle, &[("first.value", "10"), ("kept", "42"), ("a", "14")]);
    }
}
