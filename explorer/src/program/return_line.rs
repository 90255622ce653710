//! The line with which a program, or a test, ended: when it has returned, no frame is left that would show why it failed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::Path;

use checker::names::ThreadName;
use checker::program::{Choice, OpKey};
use ptrace_backend::debuginfo::is_user_file;
use ptrace_backend::{Halt, PtraceProgram};

use crate::discover::{self, Framework, SourceLine};
use crate::program::source::Frame;

/// Programs that come to more lines on their last part are not followed.
const MOST_STOPS: usize = 20_000;

/// So many stretches from one event to the next are looked through first: the last ones.
const FIRST_WINDOW: usize = 32;

/// The function that a program consists of for its user: the test that its arguments select, or `main`. Without lines it is
/// empty.
#[derive(Default)]
pub(crate) struct Body {
    /// The beginnings of lines in it, and in what was inlined into it: run-time addresses, with what the source shows of it
    /// there.
    lines: BTreeMap<u64, Frame>,
    /// The lines that say nothing: the one at which the function begins, and braces that close something.
    silent: BTreeSet<u32>,
}

/// Arrival of an execution at a line of the body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit {
    pub(crate) thread: ThreadName,
    /// After so many events, its thread is still on its way from the last one.
    pub(crate) events: usize,
    /// The run-time address, and the ordinal of the thread's arrival there since that event.
    pub(crate) address: u64,
    pub(crate) count: u32,
    /// The thread rests there, for it is a key point as well.
    pub(crate) rests: bool,
}

impl Body {
    pub(crate) fn of(program: &PtraceProgram, arguments: &[OsString]) -> Self {
        let executable = program.executable();
        let path = &executable.path;
        let modules = program.modules();
        let Some(module) = modules.iter().find(|module| module.image.path() == path) else {
            return Self::default();
        };
        let statements = module.image.statements(&|file| is_user_file(file));
        let shown = |address: u64| (address.wrapping_add(module.bias), module.image.frames(address));
        let all: Vec<(u64, Vec<Frame>)> =
            statements.all.iter().map(|statement| shown(statement.address)).collect();
        let identity = path.parent().and_then(|root| discover::identify(path, arguments, root));
        let framework = identity.as_ref().and_then(|identity| identity.framework);
        let at = identity.and_then(|identity| identity.at);
        let function = at.as_ref().and_then(|at| function_at(&all, at, framework));
        let is_body: Box<dyn Fn(&str) -> bool> = match function {
            Some(name) => Box::new(move |function| function == name),
            // A harness's `main` is no code of the user's.
            None if program.harness().is_some() => return Self::default(),
            None => Box::new(is_main),
        };
        let own = |(address, frames): (u64, Vec<Frame>)| {
            Some((address, frames.into_iter().find(|frame| is_body(&frame.function))?))
        };
        let lines: BTreeMap<u64, Frame> = all.into_iter().filter_map(own).collect();
        let mut silent: BTreeSet<u32> = at.map(|at| at.line).into_iter().collect();
        if let Some(file) = lines.values().find_map(|frame| frame.file.as_deref()) {
            silent.extend(lines_without_words(file));
        }
        Self { lines, silent }
    }

    /// Addresses at which its lines begin.
    pub(crate) fn addresses(&self) -> BTreeSet<u64> {
        self.lines.keys().copied().collect()
    }

    /// The frame that the source shows at a visit.
    pub(crate) fn frame(&self, visit: &Visit) -> Option<&Frame> {
        self.lines.get(&visit.address)
    }

    /// Runs a schedule once more, and gives the last visit of a line that says something; where there are none, of any line.
    /// `None` where the body has no lines, or the schedule does not come out again. `restore` is called before each run;
    /// returns how many there were as well.
    pub(crate) fn last_visit(
        &self,
        program: &PtraceProgram,
        schedule: &[(Choice, OpKey)],
        restore: &dyn Fn() -> Option<()>,
    ) -> (Option<Visit>, u64) {
        let stretches = schedule.len() + 1;
        let mut window = FIRST_WINDOW;
        let mut runs = 0;
        while !self.lines.is_empty() && restore().is_some() {
            runs += 1;
            let first = stretches.saturating_sub(window);
            let Some(seen) = self.visits(program, schedule, first) else { break };
            let tells = seen.iter().rfind(|visit| !self.is_silent(visit));
            if tells.is_some() || window >= stretches {
                return (tells.or(seen.last()).copied(), runs);
            }
            window *= 4;
        }
        (None, runs)
    }

    fn is_silent(&self, visit: &Visit) -> bool {
        let line = self.frame(visit).and_then(|frame| frame.line);
        line.is_none_or(|line| self.silent.contains(&line))
    }

    /// All visits in the stretches from one on: the one that ends after `first` events.
    fn visits(
        &self,
        program: &PtraceProgram,
        schedule: &[(Choice, OpKey)],
        first: usize,
    ) -> Option<Vec<Visit>> {
        let probes = self.addresses();
        let mut run = program.inspect().ok()?;
        let mut seen = Vec::new();
        for events in 0..=schedule.len() {
            if events == first {
                run.set_probes(&probes).ok()?;
            }
            let mut counts: HashMap<(ThreadName, u64), u32> = HashMap::new();
            let mut halt = match events.checked_sub(1) {
                None => run.begin().ok()?,
                Some(last) => run.perform(schedule[last].0, &schedule[last].1).ok()?,
            };
            while let Halt::Probe { thread, rests } = halt {
                let address = run.instruction(thread)?;
                let count = counts.entry((thread, address)).or_default();
                *count += 1;
                seen.push(Visit { thread, events, address, count: *count, rests });
                halt = (seen.len() < MOST_STOPS).then(|| run.go_on().ok())??;
            }
        }
        Some(seen)
    }
}

/// The function that begins at a line: that of the first line from there on, closures in it and what a framework generates
/// into that line aside.
fn function_at(all: &[(u64, Vec<Frame>)], at: &SourceLine, framework: Option<Framework>) -> Option<String> {
    let is_there = |file: &Path| file == at.file || file.canonicalize().is_ok_and(|file| file == at.file);
    let mut files: HashMap<&Path, bool> = HashMap::new();
    let mut nearest: Option<(u32, &str)> = None;
    for frame in all.iter().flat_map(|(_, frames)| frames) {
        let (Some(file), Some(line)) = (frame.file.as_deref(), frame.line) else { continue };
        let is_nearer = line >= at.line && nearest.is_none_or(|(nearest, _)| line < nearest);
        if is_nearer
            && may_be_body(&frame.function, framework)
            && *files.entry(file).or_insert_with(|| is_there(file))
        {
            nearest = Some((line, &frame.function));
        }
    }
    nearest.map(|(_, name)| name.to_owned())
}

/// Whether a function of this name can be what a program or a test consists of for its user.
fn may_be_body(function: &str, framework: Option<Framework>) -> bool {
    match framework {
        Some(Framework::GoogleTest) => function.ends_with("::TestBody"),
        _ => !is_closure(function) && !function.starts_with("__static_initialization_and_destruction"),
    }
}

/// The lines of a file, from 1, that hold braces and the like alone; none where it cannot be read.
fn lines_without_words(file: &Path) -> Vec<u32> {
    let text = files::read_text(file, files::Kind::Text).unwrap_or_default();
    let lines = (1..).zip(text.lines());
    let silent = lines.filter(|(_, line)| !line.chars().any(char::is_alphanumeric));
    silent.map(|(number, _)| number).collect()
}

fn is_closure(function: &str) -> bool {
    function.contains("{closure") || function.contains("{{closure") || function.contains("{lambda")
}

/// `main` of C and C++, or of a Rust crate.
fn is_main(function: &str) -> bool {
    function == "main" || function.strip_suffix("::main").is_some_and(|krate| !krate.contains("::"))
}
