//! Damaged debug information leads to less knowledge, never to a crash or a search without end.

use std::fs;
use std::time::{Duration, Instant};

use ptrace_backend::debuginfo::inspect::{Inspector, Variable};

use super::stopped::Stopped;
use crate::debuginfo::build::Project;

const PROGRAM: &str = r#"
#include <map>
#include <memory>
#include <string>
#include <vector>
struct Node { int value; Node *next; struct Inner { long a[3]; } inner; union { int i; float f; }; enum Kind { A, B } kind; unsigned bits : 3; };
struct Derived : Node { virtual ~Derived() {} std::string name = "derived"; };
int global = 3;
static __thread int own = 4;
template <class T> int inspected(T *list, int depth) {
    std::vector<int> numbers(depth, 7); std::map<int, std::string> map{{1, "a"}}; std::shared_ptr<Node> shared(new Node());
    int array[depth]; array[0] = 1; int (*function)(T *, int) = inspected<T>; const char *text = "text"; double real = 1.5;
    { int inner = list->value; asm volatile("int3" :: "r"(&inner), "r"(&array), "r"(&function), "r"(text), "r"(&real) : "memory"); }
    return numbers[0] + global + own + list->value;
}
int main(int n, char **) { Derived derived; derived.value = n; derived.next = &derived; return inspected(&derived, n + 3); }
"#;

/// Looks at everything, three levels deep, and counts it.
fn examine(inspector: &Inspector<'_>) -> usize {
    let mut seen = 0;
    for frame in inspector.stack(4) {
        for scope in inspector.scopes(frame.id) {
            for variable in inspector.named(&scope.handle) {
                seen += look(inspector, &variable, 3);
            }
        }
        for expression in
            ["list->next->name", "map", "shared->inner.a[1]", "*text", "&global", "own", "array[2]"]
        {
            seen += usize::from(inspector.evaluate(frame.id, expression).is_ok());
        }
    }
    seen
}

fn look(inspector: &Inspector<'_>, variable: &Variable, depth: usize) -> usize {
    assert!(variable.value.len() < 4000 && variable.type_name.len() < 100_000, "{}", variable.name);
    if depth == 0 {
        return 1;
    }
    let named = inspector.named(&variable.handle).into_iter().take(20);
    let all = named.chain(inspector.indexed(&variable.handle, 0..5));
    1 + all.map(|part| look(inspector, &part, depth - 1)).sum::<usize>()
}

#[test]
fn whatever_byte_is_wrong_nothing_crashes() {
    let project = Project::new("damaged.cpp", PROGRAM);
    for (flags, mut state) in
        [(["-g", "-O0"], 0x2545_f491_4f6c_dd1d_u64), (["-g", "-O2"], 0x9e37_79b9_7f4a_7c15)]
    {
        let program = project.compile("program", &[&flags[..], &["-std=c++17"]].concat());
        let whole = fs::read(&program).unwrap();
        let stopped = Stopped::at_breakpoint(&program);
        let intact = examine(&stopped.inspector());
        assert!(intact > 50, "{intact}");
        let damaged = project.folder().join("other");
        // A fixed generator: the same damage in every run.
        let mut random = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % below
        };
        for round in 0..150 {
            let mut bytes = whole.clone();
            // The code and its data come first; what matters here is behind them.
            for _ in 0..1 + round * round / 20 {
                let at = whole.len() / 5 + random(whole.len() * 4 / 5);
                bytes[at] = random(256) as u8;
            }
            fs::write(&damaged, bytes).unwrap();
            let Ok(modules) = stopped.modules_with(&program, &damaged) else { continue };
            let started = Instant::now();
            examine(&stopped.inspector_with(&modules));
            assert!(started.elapsed() < Duration::from_secs(30), "round {round} does not end");
        }
    }
}
