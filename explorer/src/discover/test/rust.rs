//! Rust's own harness: a function of the binary's crate whose path, without the crate, the binary's data names.

use super::super::functions::{Function, Functions};
use super::{Framework, Sources, Test};

pub(super) fn tests(functions: &Functions, sources: &mut Sources) -> Vec<Test> {
    let named = functions.all.iter().filter_map(|function| Some((function, name(functions, function)?)));
    let mut found = Vec::new();
    for (function, name) in named {
        let mut arguments: Vec<String> =
            ["--exact", name, "--nocapture", "--test-threads=1"].map(str::to_owned).into();
        if is_ignored(function, sources) {
            arguments.push("--include-ignored".to_owned());
        }
        found.push(Test {
            framework: Framework::Rust,
            name: name.to_owned(),
            at: function.at.clone(),
            arguments,
            ambiguity: None,
            listed: name.to_owned(),
            is_template: false,
        });
    }
    found
}

/// The name that the harness lists a function by, if it lists it.
fn name<'a>(functions: &'a Functions, function: &'a Function) -> Option<&'a str> {
    let (_, name) = function.path.split_once("::")?;
    functions.texts.get(name).map(String::as_str)
}

/// Whether the attributes above the function say `#[ignore]`.
fn is_ignored(function: &Function, sources: &mut Sources) -> bool {
    let Some(text) = sources.text(&function.at.file) else { return false };
    let line = function.at.line as usize;
    let above: Vec<&str> = text.lines().take(line).collect();
    let attributes = above.iter().rev().map(|line| line.trim()).skip(usize::from(line > 0));
    attributes
        .take_while(|line| line.starts_with("#[") || line.starts_with("//") || line.ends_with(']'))
        .any(|line| line.starts_with("#[ignore"))
}
