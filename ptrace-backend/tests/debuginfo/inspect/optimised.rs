//! Optimised code: registers, pieces, constants, values at entry. Every value that is shown is right, or said not to be
//! known.

use ptrace_backend::debuginfo::inspect::ScopeKind;

use super::stopped::{Stopped, assert_never_wrong, frame, lines, scope};
use crate::debuginfo::build::Project;

/// Every variable has a value that the program computes from its argument and prints itself.
const PROGRAM: &str = r#"
#include <stdio.h>
struct pair { long first, second; };
struct wide { int a; double d; char c; };
volatile int source = 5;
volatile double real = 2.5;
int shared = 1;
static const int table[3] = {7, 8, 9};
__attribute__((noinline)) void stop(void) { __asm__ volatile("int3" ::: "memory"); }
__attribute__((noinline)) int leaf(int given, long other, double number, const char *text) {
    // Its arguments live in registers that the call may overwrite: later they are known only to its caller.
    printf("given=%d\nother=%ld\ntext0=%c\n", given, other, text[0]); fflush(stdout); stop();
    return source + (int)real;
}
static inline struct pair make(long base) { struct pair made = {base, base * 2}; return made; }
static inline int through(const int *pointer) { int seen = *pointer; stop(); return seen + *pointer; }
__attribute__((noinline)) int middle(int n, double scale) {
    struct pair pair = make(n + 1);
    struct wide wide = {n, scale * 2, 'w'};
    const int constant = 42;
    int kept = n * 3, local = n + 100;
    long sum = pair.first + pair.second;
    printf("pair.first=%ld\npair.second=%ld\nkept=%d\nsum=%ld\nwide.a=%d\n", pair.first, pair.second, kept, sum, wide.a);
    int got = leaf(n, sum, scale, "text") + constant + through(&local);
    return got + kept + (int)pair.second + (int)wide.d + wide.c + table[n % 3] + (int)sum;
}
int main(void) { int n = source; return middle(n, real) & 1; }
"#;

/// The values of variables, however the program is compiled: it computes with 5 and 2.5.
const MIDDLE: [(&str, &str); 10] = [
    ("pair.first", "6"),
    ("pair.second", "12"),
    ("kept", "15"),
    ("local", "105"),
    ("sum", "18"),
    ("wide.a", "5"),
    ("wide.c", "119 'w'"),
    ("constant", "42"),
    ("n", "5"),
    ("shared", "1"),
];
const LEAF: [(&str, &str); 4] = [("given", "5"), ("other", "18"), ("text[0]", "116 't'"), ("table[2]", "9")];

#[test]
fn variables_are_right_or_not_known() {
    let project = Project::new("optimised.c", PROGRAM);
    for level in ["-Og", "-O1", "-O2", "-O3"] {
        for format in ["-gdwarf-4", "-gdwarf-5"] {
            let program = project.compile("optimised", &[level, "-g", format]);
            let stopped = Stopped::at_breakpoint(&program);
            let inspector = stopped.inspector();
            let unchanged = |value: &str| value.to_owned();
            assert_never_wrong(&inspector, frame(&inspector, "middle"), &MIDDLE, &unchanged);
            assert_never_wrong(&inspector, frame(&inspector, "leaf"), &LEAF, &unchanged);
        }
    }
}

#[test]
fn callers_remember_arguments_that_are_gone() {
    let project = Project::new("optimised.c", PROGRAM);
    let stopped = Stopped::at_breakpoint(&project.compile("optimised", &["-O2", "-g"]));
    let inspector = stopped.inspector();
    let arguments = lines(&scope(&inspector, frame(&inspector, "leaf"), ScopeKind::Arguments));
    assert_eq!(arguments[..3], ["given: int = 5", "other: long int = 18", "number: double = 2.5"]);
    let locals = lines(&scope(&inspector, frame(&inspector, "middle"), ScopeKind::Locals));
    assert!(locals.contains(&"got: int = optimised out".to_owned()), "it is not computed yet: {locals:?}");
}
