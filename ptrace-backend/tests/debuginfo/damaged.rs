//! Damaged files lead to errors or to less knowledge, never to a crash.

use std::fs;
use std::path::Path;

use ptrace_backend::debuginfo::{Image, user_code};

use crate::debuginfo::build::Project;

const PROGRAM: &str = r#"
#include <vector>
struct { int a[3]; struct { long b; } c; } object;
static inline int bump(int n) { return object.a[n % 3]++; }
int main(int n, char **) { std::vector<int> v; v.push_back(bump(n)); return v[0]; }
"#;

/// Asks for everything, and counts the answers.
fn examine(path: &Path) -> usize {
    let Ok(image) = Image::open(path) else { return 0 };
    let code = user_code(&image);
    let mut answers =
        image.inlined(&["bump"], &|name| name.contains("bump")).len() + image.source_files().len();
    let starts: Vec<u64> = image.functions().map(|function| function.range.start).take(50).collect();
    for address in starts.into_iter().chain(code.iter().map(|part| part.start).take(50)).chain([0, u64::MAX])
    {
        answers += image.frames(address).len();
        answers += usize::from(image.data_at(address).is_some() || image.plt_target(address).is_some());
    }
    let symbols = image.symbols().take(200);
    answers += symbols.filter(|symbol| image.data_at(symbol.address).is_some()).count();
    answers + usize::from(ptrace_backend::preflight::inspect(path).is_ok())
}

#[test]
fn whatever_byte_is_wrong_nothing_crashes() {
    let project = Project::new("program.cpp", PROGRAM);
    let whole = fs::read(project.compile("program", &["-g", "-O1"])).unwrap();
    let path = project.folder().join("damaged");
    let most = 100 * examine(&project.folder().join("program"));
    assert!(most > 0);
    // A fixed generator: the same damage in every run.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    };
    for round in 0..120 {
        let mut bytes = whole.clone();
        for _ in 0..=round {
            let at = random(bytes.len());
            bytes[at] = random(256) as u8;
        }
        if round % 4 == 0 {
            bytes.truncate(random(whole.len()));
        }
        fs::write(&path, bytes).unwrap();
        assert!(examine(&path) <= most, "damage adds nothing that can be found");
    }
}
