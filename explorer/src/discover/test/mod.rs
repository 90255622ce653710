//! Tests, recognised by what their frameworks make of them: functions with telling names, at the line of the test.

mod catch2;
mod doctest;
mod framework;
mod gtest;
mod macro_call;
mod rust;
mod selection;
mod sources;

use ptrace_backend::debuginfo::Image;

pub use self::framework::{Framework, Test};
pub(super) use self::macro_call::{Argument, arguments_in};
use self::sources::Sources;
use super::functions::Functions;

/// The tests of a program, by file and line.
pub(super) fn tests(image: &Image, functions: &Functions) -> Vec<Test> {
    let mut sources = Sources::default();
    let mut found = rust::tests(functions, &mut sources);
    found.extend(gtest::tests(image, functions, &mut sources));
    found.extend(catch2::tests(functions, &mut sources));
    found.extend(doctest::tests(functions, &mut sources));
    found.sort_by(|a, b| (&a.at.file, a.at.line, &a.name).cmp(&(&b.at.file, b.at.line, &b.name)));
    // The instances of a template are one test.
    found.dedup_by(|later, earlier| later.at == earlier.at && later.name == earlier.name);
    let ambiguities: Vec<_> = found.iter().map(|test| selection::ambiguity(test, &found)).collect();
    for (test, ambiguity) in found.iter_mut().zip(ambiguities) {
        test.ambiguity = ambiguity;
    }
    found
}
