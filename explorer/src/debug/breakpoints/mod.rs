//! Breakpoints at lines: where they are, and when they are hit. The same in both directions.

mod condition;
pub(super) mod hit_count;
mod log_message;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use checker::names::ThreadName;
use ptrace_backend::Inspection;
use ptrace_backend::debuginfo::Modules;

use crate::debug::breakpoints::condition::Condition;
use crate::debug::breakpoints::hit_count::{HitCondition, Tally};
use crate::debug::breakpoints::log_message::LogMessage;
use crate::debug::live::code::{Code, Statement, is_same_file};

/// A breakpoint that is wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WantedBreakpoint {
    /// The line, from 1.
    pub line: u32,
    /// It counts only where this holds: a comparison, or a value that is neither 0 nor false.
    pub condition: Option<String>,
    /// The hits that count: `3`, `>= 3`, `% 3`. They are counted from the beginning of the program.
    pub hit_condition: Option<String>,
    /// It does not stop but says this, with values for the expressions in braces.
    pub log_message: Option<String>,
}

/// A breakpoint as it was set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetBreakpoint {
    /// Its number.
    pub number: u64,
    /// The line that it was moved to: the next one with code.
    ///
    /// # Errors
    /// A sentence that says why it was not set.
    pub line: Result<u32, String>,
}

/// All that are set.
#[derive(Default)]
pub(in crate::debug) struct Breakpoints {
    /// By file.
    set: BTreeMap<PathBuf, Vec<Placed>>,
    last_number: u64,
}

struct Placed {
    number: u64,
    line: u32,
    addresses: BTreeSet<u64>,
    condition: Option<Condition>,
    hits: Option<HitCondition>,
    log: Option<LogMessage>,
}

/// The effect of a thread's arrival at an instruction.
#[derive(Clone, Default, Debug)]
pub(in crate::debug) struct BreakpointHits {
    /// The breakpoints that it is stopped by.
    pub(in crate::debug) hits: Vec<u64>,
    /// The messages about it, a line each.
    pub(in crate::debug) log: Vec<String>,
}

impl Breakpoints {
    /// Sets the breakpoints of a file, in place of those that it had.
    pub(in crate::debug) fn set(
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
            let found = Placed::of(number, wanted, file, code);
            answer
                .push(SetBreakpoint { number, line: found.as_ref().map(|it| it.line).map_err(Clone::clone) });
            placed.extend(found);
        }
        self.set.insert(file.to_owned(), placed);
        answer
    }

    fn all(&self) -> impl Iterator<Item = &Placed> {
        self.set.values().flatten()
    }

    pub(in crate::debug) fn addresses(&self) -> BTreeSet<u64> {
        self.all().flat_map(|placed| placed.addresses.iter().copied()).collect()
    }

    /// Whether the number of earlier hits matters for one of them.
    pub(in crate::debug) fn count_hits(&self) -> bool {
        self.all().any(|placed| placed.hits.is_some())
    }

    /// Finds the breakpoints and log points that a thread meets before an instruction.
    pub(in crate::debug) fn meet(
        &self,
        inspection: &Inspection,
        thread: ThreadName,
        address: u64,
        tally: &mut Tally,
    ) -> BreakpointHits {
        let mut met = BreakpointHits::default();
        let evaluate = |expression: &str| evaluate(inspection, thread, expression);
        for placed in self.all().filter(|placed| placed.addresses.contains(&address)) {
            let holds = placed.condition.as_ref().map_or(Ok(true), |condition| condition.holds(&evaluate));
            let holds = holds.unwrap_or_else(|why| {
                // It is better to stop than to pass by what was looked for.
                met.log.push(format!(
                    "The condition of the breakpoint at line {} is not known: {why}.",
                    placed.line
                ));
                true
            });
            if !holds || placed.hits.is_some_and(|hits| !hits.wants(tally.hit(placed.number))) {
                continue;
            }
            match &placed.log {
                Some(message) => met.log.push(message.words(&evaluate)),
                None => met.hits.push(placed.number),
            }
        }
        met
    }
}

impl Placed {
    fn of(
        number: u64,
        wanted: &WantedBreakpoint,
        file: &Path,
        code: Option<(&Code, &Modules)>,
    ) -> Result<Self, String> {
        let (code, modules) =
            code.ok_or("the program does not run here, so that nothing can stop at a line".to_owned())?;
        let (line, addresses) = place(code, modules, file, wanted.line)
            .ok_or("no code of the program comes from here on".to_owned())?;
        Ok(Self {
            number,
            line,
            addresses,
            condition: wanted.condition.as_deref().map(Condition::parse).transpose()?,
            hits: wanted.hit_condition.as_deref().map(HitCondition::parse).transpose()?,
            log: wanted.log_message.as_deref().map(LogMessage::parse),
        })
    }
}

/// The value of an expression in a thread's innermost call, in words.
fn evaluate(inspection: &Inspection, thread: ThreadName, expression: &str) -> Result<String, String> {
    let value = inspection.look(thread, |inspector| {
        let frame = inspector.stack(1).into_iter().next()?;
        Some(inspector.evaluate(frame.id, expression).map(|variable| variable.value))
    });
    let value = value.flatten().ok_or("the thread has no calls".to_owned())?;
    value.map_err(|error| error.to_string())
}

/// The line of a file at which, or after which, code begins; and where the code of that line begins in every function.
fn place(code: &Code, modules: &Modules, file: &Path, line: u32) -> Option<(u32, BTreeSet<u64>)> {
    let is_it: Vec<bool> = code.files.iter().map(|known| is_same_file(known, file)).collect();
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
