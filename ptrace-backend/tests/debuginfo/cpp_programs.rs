//! C++: namespaces, templates, the library's headers, test frameworks.

use std::fs;
use std::path::Path;

use ptrace_backend::debuginfo::{Language, user_code};

use crate::debuginfo::build::{Project, frames_with, range};

const PROGRAM: &str = r#"
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>
#include "gtest/gtest.h"
namespace bank {
struct Account { int id; std::atomic<long> balance; std::mutex guard; };
struct Premium : Account { int bonus; };
Premium account;
std::atomic<int> open{0};
template <typename T> __attribute__((noinline)) T twice(T value) { return value + value; }
struct Teller { static int served; __attribute__((noinline)) void serve(int n); };
int Teller::served = 0;
void Teller::serve(int n) {
    static std::atomic<int> calls{0};
    calls.fetch_add(n); // counted
    account.balance += twice(n);
    served += testing::touch(n);
}
}
namespace { volatile int hidden; }
int main(int argc, char **) {
    std::lock_guard<std::mutex> hold(bank::account.guard);
    bank::Teller teller;
    teller.serve(argc);
    hidden = argc;
    auto shared = std::make_shared<int>(argc);
    auto other = shared;
    return *other + bank::open.load();
}
"#;

const FRAMEWORK: &str = r#"
namespace testing { __attribute__((noinline)) inline int touch(int n) { static volatile int seen; seen += n; return seen; } }
"#;

fn project() -> Project {
    let project = Project::new("program.cpp", PROGRAM);
    let framework = project.folder().join("include/gtest");
    fs::create_dir_all(&framework).unwrap();
    fs::write(framework.join("gtest.h"), FRAMEWORK).unwrap();
    project
}

#[test]
fn names_are_those_of_the_source() {
    let project = project();
    for level in ["-O0", "-O2"] {
        let image = project.open("program", &["-g", level, "-Iinclude"]);
        let words = |symbol: &str, offset| image.data_at(range(&image, symbol).start + offset).unwrap();
        assert_eq!(words("_ZN4bank7accountE", 0), "bank::account.id", "{level}");
        // A wrapper around a number, and a base class, are not worth a word.
        assert_eq!(words("_ZN4bank7accountE", 8), "bank::account.balance");
        assert_eq!(words("_ZN4bank7accountE", 16), "bank::account.guard");
        assert_eq!(words("_ZN4bank7accountE", 20), "bank::account.guard");
        assert_eq!(words("_ZN4bank7accountE", 56), "bank::account.bonus");
        assert_eq!(words("_ZN4bank4openE", 0), "bank::open");
        assert_eq!(words("_ZN4bank6Teller6servedE", 0), "bank::Teller::served");
        assert_eq!(words("_ZZN4bank6Teller5serveEiE5calls", 0), "bank::Teller::serve::calls");
        assert_eq!(words("_ZN12_GLOBAL__N_16hiddenE", 0), "hidden");
        let twice = image.function_at(image.symbol("_ZN4bank5twiceIiEET_S1_").unwrap()).unwrap();
        assert_eq!(twice.name().unwrap(), "bank::twice<int>");
        assert_eq!(image.source_units()[0].language, Language::Cpp);
    }
}

#[test]
fn atomics_of_the_headers_belong_to_the_user() {
    let project = project();
    for level in ["-O0", "-O2"] {
        let image = project.open("program", &["-g", level, "-Iinclude"]);
        let is_header = |path: &Path| path.starts_with("/usr/include/c++") && path.ends_with("atomic_base.h");
        let atomics = frames_with(&image, |frame| frame.file.as_deref().is_some_and(is_header));
        assert!(!atomics.is_empty(), "{level}");
    }
    let image = project.open("program", &["-g", "-O2", "-Iinclude"]);
    let line = project.line("counted");
    let counted =
        frames_with(&image, |frame| frame.line == Some(line) && frame.file == Some(project.source()));
    let names: Vec<_> = counted
        .iter()
        .map(|frames| (frames[0].function.as_str(), frames.last().unwrap().function.as_str()))
        .collect();
    assert!(
        names.iter().any(|(inner, outer)| inner.ends_with("fetch_add") && *outer == "bank::Teller::serve"),
        "{names:?}"
    );
}

#[test]
fn what_a_test_framework_brings_along_is_a_part_of_the_program() {
    let project = project();
    for debug in [&["-g"][..], &[]] {
        let image = project.open("program", &[&["-O1", "-Iinclude"], debug].concat());
        let code = user_code(&image);
        let has = |address| code.iter().any(|part| part.contains(&address));
        assert!(range(&image, "_ZN7testing5touchEi").all(has), "{debug:?}");
        assert!(range(&image, "_ZN4bank6Teller5serveEi").all(has), "{debug:?}");
    }
}

#[test]
fn templates_of_the_library_belong_to_the_user_without_lines_too() {
    const VECTOR: &str =
        "#include <vector>\nint main(int n, char **) { std::vector<int> v; v.push_back(n); return v[0]; }\n";
    let project = Project::new("vector.cpp", VECTOR);
    let image = project.open("vector", &["-O0"]);
    let push = image.symbols_where(|name| name.starts_with("_ZNSt6vectorIiSaIiEE9push_back"));
    let code = user_code(&image);
    assert!(
        !push.is_empty() && push.iter().all(|symbol| code.iter().any(|part| part.contains(&symbol.address)))
    );
}
