//! Looks through the running processes: what a tool has started, and whether something of it is left.

use std::fs;
use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The processes that run `program` at this moment.
#[must_use]
pub fn running(program: &Path) -> Vec<i32> {
    all()
        .filter(|process| fs::read_link(format!("/proc/{process}/exe")).is_ok_and(|it| it == program))
        .collect()
}

/// Ends a process and everything that it has started. It is stopped first, so that it starts nothing more meanwhile.
pub(crate) fn kill_tree(root: i32) {
    // A process that is gone already is what is wanted.
    let _ = kill(Pid::from_raw(root), Signal::SIGSTOP);
    for process in tree(root) {
        let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
    }
}

fn tree(root: i32) -> Vec<i32> {
    let parents: Vec<(i32, i32)> = all().filter_map(|process| Some((process, parent(process)?))).collect();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&process) = found.get(next) {
        found.extend(parents.iter().filter(|(_, parent)| *parent == process).map(|(child, _)| child));
        next += 1;
    }
    found
}

fn all() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The name in `stat` may hold anything, parentheses too; the parent is the second field after its end.
fn parent(process: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}
