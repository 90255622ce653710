//! Breakpoints at lines: where they are, and when they are hit. The same in both directions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use checker::names::ThreadName;
use ptrace_backend::Inspection;
use ptrace_backend::debuginfo::Modules;

use super::code::{Code, Statement};

/// A breakpoint that is wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WantedBreakpoint {
    /// The line, from 1.
    pub line: u32,
    /// It stops only where this expression is neither 0 nor false.
    pub condition: Option<String>,
}

/// A breakpoint as it was set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetBreakpoint {
    /// Its number.
    pub number: u64,
    /// The line that it was moved to: the next one with code. None: there is no code from there on.
    pub line: Option<u32>,
}

/// All that are set.
#[derive(Default)]
pub(super) struct Breakpoints {
    /// By file.
    set: BTreeMap<PathBuf, Vec<Placed>>,
    last_number: u64,
}

struct Placed {
    number: u64,
    addresses: BTreeSet<u64>,
    condition: Option<String>,
}

impl Breakpoints {
    /// Sets the breakpoints of a file, in place of those that it had.
    pub(super) fn set(
        &mut self,
        file: &Path,
        wanted: &[WantedBreakpoint],
        code: Option<(&Code, &Modules)>,
    ) -> Vec<SetBreakpoint> {
        let mut placed = Vec::new();
        let mut answer = Vec::new();
        for wanted in wanted {
            self.last_number += 1;
            let number = self.last_number;
            let found = code.and_then(|(code, modules)| place(code, modules, file, wanted.line));
            let (line, addresses) = found.map_or((None, BTreeSet::new()), |(line, at)| (Some(line), at));
            answer.push(SetBreakpoint { number, line });
            placed.push(Placed { number, addresses, condition: wanted.condition.clone() });
        }
        self.set.insert(file.to_owned(), placed);
        answer
    }

    fn all(&self) -> impl Iterator<Item = &Placed> {
        self.set.values().flatten()
    }

    pub(super) fn addresses(&self) -> BTreeSet<u64> {
        self.all().flat_map(|placed| placed.addresses.iter().copied()).collect()
    }

    /// Those that a thread hits which stands before an instruction.
    pub(super) fn hits(&self, inspection: &Inspection, thread: ThreadName, address: u64) -> Vec<u64> {
        let here = self.all().filter(|placed| placed.addresses.contains(&address));
        let holds = |placed: &&Placed| {
            placed.condition.as_ref().is_none_or(|condition| holds(inspection, thread, condition))
        };
        here.filter(holds).map(|placed| placed.number).collect()
    }
}

/// Whether a condition holds in a thread's innermost call. One that cannot be evaluated does: it is better to stop.
fn holds(inspection: &Inspection, thread: ThreadName, condition: &str) -> bool {
    let value = inspection.look(thread, |inspector| {
        let frame = inspector.stack(1).into_iter().next()?;
        inspector.evaluate(frame.id, condition).ok().map(|variable| variable.value)
    });
    !matches!(value.flatten().as_deref(), Some("0" | "false"))
}

/// The line of a file at which, or after which, code begins; and where the code of that line begins in every function.
fn place(code: &Code, modules: &Modules, file: &Path, line: u32) -> Option<(u32, BTreeSet<u64>)> {
    let name = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let is_it: Vec<bool> = code
        .files
        .iter()
        .map(|known| known == file || known.canonicalize().is_ok_and(|known| known == name))
        .collect();
    let of_file = || code.all().filter(|statement| is_it[statement.file] && statement.line >= line);
    let line = of_file().map(|statement| statement.line).min()?;
    let mut first: BTreeMap<Vec<(String, Option<u32>)>, &Statement> = BTreeMap::new();
    for statement in of_file().filter(|statement| statement.line == line) {
        // One line has code in several places: it is stopped at the first of each call.
        let mut calls = modules.frames(statement.address).into_iter().rev();
        let outermost = modules.find(statement.address).and_then(|place| {
            let function = modules.get(place.module)?.image.function_at(place.address)?;
            Some(format!("{}:{:#x}", place.module, function.range.start))
        });
        let mut key = vec![(outermost.unwrap_or_default(), None)];
        let mut called_at = None;
        for call in calls.by_ref() {
            key.push((call.function, called_at));
            called_at = call.line;
        }
        let place = first.entry(key).or_insert(statement);
        if statement.address < place.address {
            *place = statement;
        }
    }
    Some((line, first.values().map(|statement| statement.address).collect()))
}
