//! Test harnesses: threads and code that run a test, and are no part of what is explored.
//!
//! The C++ frameworks run a test in the main thread; their own locks are no key points where they can be had at once.
//! libtest runs every test in a thread of its own, which its main thread waits for. While a test runs, the harness moves
//! only where nothing of the test can; what it does is no key point.

use std::ops::Range;

use crate::attention;
use crate::control::process::Process;
use crate::control::state::sync_objects::Index;
use crate::control::state::thread::Part;
use crate::layout::module::Module;

/// What the mangled names of the frameworks' functions begin with: namespaces of GoogleTest, Catch2 and doctest.
const FRAMEWORKS: [&str; 6] =
    ["_ZN7testing", "_ZNK7testing", "_ZN5Catch", "_ZNK5Catch", "_ZN7doctest", "_ZNK7doctest"];

/// The functions of test frameworks, at run-time addresses, in order.
pub(crate) fn frameworks(modules: &[Module]) -> Vec<Range<u64>> {
    let is_of_framework = |symbol: &str| FRAMEWORKS.iter().any(|prefix| symbol.starts_with(prefix));
    let mut found: Vec<Range<u64>> = Vec::new();
    for module in modules {
        let bias = module.mapped.bias;
        let wanted = module
            .image
            .symbols()
            .inspect(|_| attention::round())
            .filter(|symbol| is_of_framework(symbol.name));
        found.extend(wanted.map(|symbol| symbol.address + bias..symbol.address + symbol.size + bias));
    }
    found.sort_unstable_by_key(|range| range.start);
    found
}

impl Process {
    /// Whether a thread is in the harness, as of its last stop.
    pub(crate) fn in_harness(&self, index: Index) -> bool {
        let task = &self.tracee.tasks[index];
        match task.part {
            Part::Program => false,
            Part::Harness => true,
            Part::Test { frame } => task.regs.rsp > frame,
        }
    }

    /// Whether the checker decides when a thread goes on.
    pub(crate) fn is_scheduled(&self, index: Index) -> bool {
        self.tracee.concurrent && !self.in_harness(index)
    }

    /// What a thread runs that this one creates.
    pub(crate) fn part_of_child(&self, creator: Index) -> Part {
        if self.in_harness(creator) { Part::Harness } else { Part::Program }
    }

    /// The harness stands where it calls a test.
    pub(crate) fn begin_test(&mut self, index: Index) {
        if self.in_harness(index) {
            let task = &mut self.tracee.tasks[index];
            task.part = Part::Test { frame: task.regs.rsp };
            self.tracee.shared.test_began(self.scheduling.threads[index].name);
        }
    }

    /// Whether a thread of the harness has to let a test go on, or can do nothing but wait for it.
    pub(crate) fn waits_for_test(&self, index: Index) -> bool {
        if !self.tracee.shared.is_test || !self.in_harness(index) {
            return false;
        }
        let mut test = (0..self.scheduling.threads.len())
            .filter(|&i| self.scheduling.threads[i].is_live() && !self.in_harness(i));
        let is_under_way = test.clone().any(|i| matches!(self.tracee.tasks[i].part, Part::Test { .. }));
        let can_move = |i: Index| {
            let thread = &self.scheduling.threads[i];
            let holds = |pending: &crate::control::state::pending::Pending| {
                self.holds(i, &pending.need) || self.interruption(i, pending).is_some()
            };
            thread.pending.as_ref().is_some_and(holds)
        };
        is_under_way && (test.any(can_move) || !can_move(index))
    }
}
