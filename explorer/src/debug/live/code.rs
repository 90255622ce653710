//! The user's own code: where its lines begin, where it runs.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use checker::names::ThreadName;
use ptrace_backend::debuginfo::Modules;
use ptrace_backend::{Inspection, PtraceProgram};

use crate::narrate::locations::Places;

/// More frames than code that is worth stepping through has.
const DEEPEST: usize = 200;

/// An instruction with which code of a line begins, at its run-time address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::debug) struct Statement {
    pub(in crate::debug) address: u64,
    pub(in crate::debug) file: usize,
    pub(in crate::debug) line: u32,
}

/// The statements of the user's own code.
#[derive(Default)]
pub(in crate::debug) struct Code {
    pub(in crate::debug) files: Vec<PathBuf>,
    /// By address.
    statements: Vec<Statement>,
}

/// The place of a thread in the user's own code: the innermost call of it that has not returned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::debug) struct UserCodePosition {
    /// Identifies the frame, and orders it: a caller's is greater.
    pub(in crate::debug) cfa: u64,
    /// Number of calls in the frame, of which all but one were inlined.
    pub(in crate::debug) depth: usize,
    pub(in crate::debug) file: PathBuf,
    pub(in crate::debug) line: u32,
}

impl Code {
    pub(in crate::debug) fn of(program: &PtraceProgram, places: &Places<'_>) -> Self {
        let mut code = Self { files: Vec::new(), statements: Vec::new() };
        for module in program.modules().iter() {
            let found = module.image.statements(&|file| places.is_own_file(file));
            let first = code.files.len();
            code.files.extend(found.files);
            code.statements.extend(found.all.iter().map(|statement| Statement {
                address: statement.address.wrapping_add(module.bias),
                file: first + statement.file,
                line: statement.line,
            }));
        }
        code.statements.sort_by_key(|statement| statement.address);
        code
    }

    /// Every statement.
    pub(in crate::debug) fn all(&self) -> impl Iterator<Item = &Statement> {
        self.statements.iter()
    }

    /// File and line of the statement that begins at an address.
    pub(in crate::debug) fn line_at(&self, address: u64) -> Option<(&PathBuf, u32)> {
        let place = self.statements.binary_search_by_key(&address, |statement| statement.address).ok()?;
        let statement = self.statements.get(place)?;
        Some((&self.files[statement.file], statement.line))
    }

    fn inside(&self, range: &Range<u64>) -> impl Iterator<Item = u64> + use<'_> {
        let start = self.statements.partition_point(|statement| statement.address < range.start);
        let end = self.statements.partition_point(|statement| statement.address < range.end);
        self.statements[start..end.max(start)].iter().map(|statement| statement.address)
    }

    /// The statements of the functions that a thread is in.
    pub(in crate::debug) fn of_stack(&self, inspection: &Inspection, thread: ThreadName) -> BTreeSet<u64> {
        let modules = inspection.modules();
        let mut found = BTreeSet::new();
        for place in inspection.frames(thread, DEEPEST).into_iter().filter_map(|frame| frame.place) {
            let Some(module) = modules.get(place.module) else { continue };
            for part in module.image.function_parts(place.address) {
                let start = part.start.wrapping_add(module.bias);
                found.extend(self.inside(&(start..part.end.wrapping_add(module.bias))));
            }
        }
        found
    }

    /// The address in the user's own code to which a thread's frame returns.
    pub(in crate::debug) fn returns_to(
        inspection: &Inspection,
        thread: ThreadName,
        cfa: u64,
        places: &Places<'_>,
    ) -> Option<u64> {
        let modules = inspection.modules();
        let outer = inspection.frames(thread, DEEPEST).into_iter().filter(|frame| frame.cfa > cfa);
        let mut outer = outer.filter_map(|frame| {
            let looked_up = frame.place.and_then(|place| modules.run_time(place))?;
            in_frame(modules, looked_up, frame.cfa, places).map(|_| frame.pc)
        });
        outer.next()
    }

    /// The innermost call of the user's own code.
    pub(in crate::debug) fn here(
        &self,
        inspection: &Inspection,
        thread: ThreadName,
        places: &Places<'_>,
    ) -> Option<UserCodePosition> {
        let modules = inspection.modules();
        inspection.frames(thread, DEEPEST).into_iter().enumerate().find_map(|(nth, frame)| {
            let looked_up = frame.place.and_then(|place| modules.run_time(place)).unwrap_or(frame.pc);
            let here = in_frame(modules, looked_up, frame.cfa, places)?;
            Some(if nth == 0 { self.corrected(here, frame.pc) } else { here })
        })
    }

    /// The call that a thread is in which stands at a statement.
    pub(in crate::debug) fn at_statement(
        &self,
        inspection: &Inspection,
        thread: ThreadName,
        places: &Places<'_>,
    ) -> Option<UserCodePosition> {
        let frame = inspection.frames(thread, 1).into_iter().next()?;
        let here = in_frame(inspection.modules(), frame.pc, frame.cfa, places)?;
        Some(self.corrected(here, frame.pc))
    }

    /// Of several lines that begin at one instruction, the statement tells the one that is meant; not where calls were
    /// inlined, for then it may be that of another call.
    fn corrected(&self, here: UserCodePosition, address: u64) -> UserCodePosition {
        match self.line_at(address) {
            Some((file, line)) if here.depth == 1 => UserCodePosition { file: file.clone(), line, ..here },
            _ => here,
        }
    }
}

/// Whether two paths name one file.
pub(in crate::debug) fn is_same_file(one: &Path, other: &Path) -> bool {
    let found = |path: &Path| path.canonicalize().ok();
    one == other || found(one).is_some_and(|one| Some(one) == found(other))
}

/// The innermost call of the user's own code among those that were inlined into one frame.
fn in_frame(modules: &Modules, address: u64, cfa: u64, places: &Places<'_>) -> Option<UserCodePosition> {
    let calls = modules.frames(address);
    let is_own = |file: &Option<PathBuf>| file.as_deref().is_some_and(|file| places.is_own_file(file));
    let innermost = calls.iter().position(|call| is_own(&call.file))?;
    let depth = calls.len() - innermost;
    let call = calls.into_iter().nth(innermost)?;
    Some(UserCodePosition { cfa, depth, file: call.file?, line: call.line.unwrap_or(0) })
}
