//! PCT with variable bounding: priorities change at accesses of few variables only.
//!
//! Sandeep Bindal, Sorav Bansal, Akash Lal: Variable and Thread Bounding for Systematic Testing of Multithreaded Programs,
//! ISSTA 2013, section 3. Published bound: where the v variables of a failure of depth d are among V, and those drawn have
//! K accesses in all, each schedule finds it with probability at least 1/(n C(V, v) K^(d-1)).
//!
//! Deviations: a variable is a block of memory or a synchronisation object, for which the paper takes the statement that
//! allocates it; only those are drawn that two threads touched, one of them changing it; how often each is accessed at
//! most is the largest number seen so far, so that the first schedule changes no priority. Else as in [`super::pct`].

use std::collections::BTreeMap;

use super::dice::Dice;
use super::pct::Priorities;
use super::sampler::{Sample, run};
use super::{Decision, Guide, Notes};
use crate::names::{ObjName, ThreadName};
use crate::op::{Effect, Mode};
use crate::point::Point;
use crate::trace::Trace;

/// What is known of a block.
#[derive(Clone, Debug, Default)]
struct Use {
    /// The most accesses in one execution.
    accesses: u32,
    threads: Vec<ThreadName>,
    is_changed: bool,
}

/// Random priorities that change at accesses of a number of variables.
#[derive(Clone, Debug)]
pub struct PctVb {
    depth: u32,
    variables: u32,
    blocks: BTreeMap<ObjName, Use>,
}

impl PctVb {
    /// For failures of this depth, at least 1, that so many variables take part in.
    #[must_use]
    pub fn new(depth: u32, variables: u32) -> Self {
        Self { depth: depth.max(1), variables, blocks: BTreeMap::new() }
    }
}

impl Sample for PctVb {
    fn guide<'a>(&'a self, mut dice: Dice) -> Box<dyn Guide + 'a> {
        let is_shared = |used: &&Use| used.is_changed && used.threads.len() > 1;
        let shared = self.blocks.iter().filter(|(_, used)| is_shared(used));
        let mut shared: Vec<(ObjName, u32)> = shared.map(|(&name, used)| (name, used.accesses)).collect();
        let mut points = Vec::new();
        for _ in 0..(self.variables as usize).min(shared.len()) {
            let (name, accesses) = shared.swap_remove(dice.below(shared.len()));
            points.extend((1..=accesses).map(|nth| (name, nth)));
        }
        let wanted = (self.depth as usize - 1).min(points.len());
        let changes = (0..wanted).map(|_| points.swap_remove(dice.below(points.len()))).collect();
        let priorities = Priorities::default();
        Box::new(ByPriority { dice, priorities, changes, accesses: BTreeMap::new(), seen: 0 })
    }

    fn learn(&mut self, run: &Trace) {
        let mut here: BTreeMap<ObjName, u32> = BTreeMap::new();
        for event in run.steps.iter().map(|step| &step.event) {
            for name in blocks(&event.op.may) {
                *here.entry(name).or_default() += 1;
            }
            for access in &event.op.may.accesses {
                let used = self.blocks.entry(access.obj.name).or_default();
                used.is_changed |= access.mode != Mode::Read;
                if !used.threads.contains(&event.id.thread) {
                    used.threads.push(event.id.thread);
                }
            }
        }
        for (name, count) in here {
            let used = self.blocks.entry(name).or_default();
            used.accesses = used.accesses.max(count);
        }
    }

    fn forget(&mut self) {
        self.blocks.clear();
    }
}

/// The blocks that an operation touches, each once.
fn blocks(effect: &Effect) -> impl Iterator<Item = ObjName> {
    let accesses = &effect.accesses;
    let is_first =
        |nth: &usize| accesses[..*nth].iter().all(|access| access.obj.name != accesses[*nth].obj.name);
    (0..accesses.len()).filter(is_first).map(|nth| accesses[nth].obj.name)
}

struct ByPriority {
    dice: Dice,
    priorities: Priorities,
    /// Of each change point, before which access of which block.
    changes: Vec<(ObjName, u32)>,
    /// How often each block has been accessed.
    accesses: BTreeMap<ObjName, u32>,
    seen: usize,
}

impl ByPriority {
    /// The change points that the thread with the highest priority is about to reach.
    fn due(&self, at: &Point<'_>) -> Option<(crate::seam::Agent, Vec<usize>)> {
        let agent = self.priorities.highest(at)?;
        let next = &at.agents.agent(agent)?.pending.as_ref()?.may;
        let reached = |&(name, nth): &(ObjName, u32)| {
            blocks(next)
                .any(|block| block == name && self.accesses.get(&block).copied().unwrap_or(0) + 1 == nth)
        };
        let due = self.changes.iter().enumerate().filter(|(_, change)| reached(change));
        Some((agent, due.map(|(number, _)| number).collect()))
    }
}

impl Guide for ByPriority {
    fn choose(&mut self, at: &Point<'_>) -> Decision {
        self.priorities.admit(at, &mut self.dice);
        for event in at.trace.steps[self.seen..].iter().map(|step| &step.event) {
            for block in blocks(&event.op.may) {
                *self.accesses.entry(block).or_default() += 1;
            }
        }
        self.seen = at.position();
        // One that is lowered may let another one come to the same access, which is not the same change point again.
        while let Some((agent, due)) = self.due(at).filter(|(_, due)| !due.is_empty()) {
            for number in due {
                self.priorities.lower(agent, number);
                self.changes[number].1 = 0;
            }
        }
        let agent = self.priorities.highest(at);
        agent.iter().for_each(|&agent| self.priorities.sink_if_yielding(at, agent));
        run(at, agent, &mut self.dice)
    }

    fn pass(&mut self, _at: &Point<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
