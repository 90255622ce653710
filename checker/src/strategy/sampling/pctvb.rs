//! PCT with variable bounding: priorities change at accesses of few variables only.
//!
//! Sandeep Bindal, Sorav Bansal, Akash Lal: Variable and Thread Bounding for Systematic Testing of Multithreaded Programs,
//! ISSTA 2013, section 3. Published bound: where the v variables of a failure of depth d are among V, and those drawn have
//! K accesses in all, each schedule finds it with probability at least 1/(n C(V, v) K^(d-1)).
//!
//! Only accesses of the variables drawn have to be key points, and of those that a thread spun on: the thread with the
//! highest priority goes on through all others anyway. One execution in [`ALL_OF`] has all of them, to learn from.
//!
//! Deviations: a variable is an allocated block ([`crate::event::names::Obj::variable`]), for which the paper takes the
//! statement that allocates it, or another object; only those are drawn that two threads touched, one of them changing it; the
//! number of accesses that each has at most is the largest one seen so far, so that the first schedule changes no priority.
//! Else as in [`super::pct`].

use std::collections::BTreeMap;
use std::sync::Arc;

use super::choices::run;
use super::pct::AgentPriorities;
use super::rng::SeededRng;
use super::sampler::Sample;
use crate::event::agent::Agent;
use crate::event::names::{Obj, ThreadName};
use crate::event::operation::{Effect, Mode};
use crate::event::position::Position;
use crate::event::ranges::byte_set::ByteSet;
use crate::program::Scope;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::{Decision, Guide, Notes};
use crate::trace::Trace;

/// One execution in so many has every access as a key point.
const ALL_OF: u32 = 10;

/// Accesses of a variable in the executions so far.
#[derive(Clone, Debug, Default)]
struct VariableProfile {
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
    known: BTreeMap<Obj, VariableProfile>,
    /// The variables that a thread has waited for in a loop: a thread that writes there decides which one can go.
    spun_on: ByteSet,
    runs: u32,
}

impl PctVb {
    /// For failures of this depth, at least 1, that so many variables take part in.
    #[must_use]
    pub fn new(depth: u32, variables: u32) -> Self {
        Self { depth: depth.max(1), variables, known: BTreeMap::new(), spun_on: ByteSet::default(), runs: 0 }
    }
}

impl Sample for PctVb {
    fn guide<'a>(&'a self, mut rng: SeededRng) -> Box<dyn Guide + 'a> {
        let is_shared = |used: &&VariableProfile| used.is_changed && used.threads.len() > 1;
        let shared = self.known.iter().filter(|(_, used)| is_shared(used));
        let mut shared: Vec<(Obj, u32)> = shared.map(|(&variable, used)| (variable, used.accesses)).collect();
        let mut points = Vec::new();
        let mut within = self.spun_on.clone();
        for _ in 0..(self.variables as usize).min(shared.len()) {
            let (variable, accesses) = shared.swap_remove(rng.below(shared.len()));
            points.extend((1..=accesses).map(|nth| (variable, nth)));
            within.insert(variable);
        }
        let wanted = (self.depth as usize - 1).min(points.len());
        let changes = (0..wanted).map(|_| points.swap_remove(rng.below(points.len()))).collect();
        let priorities = AgentPriorities::default();
        let is_wide = self.runs.is_multiple_of(ALL_OF);
        let scope = if is_wide { Scope::All } else { Scope::Objects(Arc::new(within)) };
        Box::new(PctvbGuide {
            rng,
            priorities,
            changes,
            scope,
            accesses: BTreeMap::new(),
            seen: Position::START,
        })
    }

    fn learn(&mut self, run: &Trace) {
        self.runs += 1;
        run.spun_on.iter().for_each(|&obj| {
            self.spun_on.insert(obj);
        });
        let mut here: BTreeMap<Obj, u32> = BTreeMap::new();
        for event in run.steps.iter().map(|step| &step.event) {
            for variable in variables(&event.op.may) {
                *here.entry(variable).or_default() += 1;
            }
            for access in &event.op.may.accesses {
                let used = self.known.entry(access.obj.variable()).or_default();
                used.is_changed |= access.mode != Mode::Read;
                if !used.threads.contains(&event.id.thread) {
                    used.threads.push(event.id.thread);
                }
            }
        }
        for (variable, count) in here {
            let used = self.known.entry(variable).or_default();
            used.accesses = used.accesses.max(count);
        }
    }

    fn forget(&mut self) {
        *self = Self::new(self.depth, self.variables);
    }
}

/// The variables that an operation touches, each once.
fn variables(effect: &Effect) -> impl Iterator<Item = Obj> {
    let variable = |nth: usize| effect.accesses[nth].obj.variable();
    let is_first = move |nth: &usize| (0..*nth).all(|before| variable(before) != variable(*nth));
    (0..effect.accesses.len()).filter(is_first).map(variable)
}

struct PctvbGuide {
    rng: SeededRng,
    priorities: AgentPriorities,
    /// Of each change point, before which access of which variable.
    changes: Vec<(Obj, u32)>,
    scope: Scope,
    /// The number of times that each variable has been accessed.
    accesses: BTreeMap<Obj, u32>,
    seen: Position,
}

impl PctvbGuide {
    /// The change points that the thread with the highest priority is about to reach.
    fn due(&self, at: &SchedulingPoint<'_>) -> Option<(Agent, Vec<usize>)> {
        let agent = self.priorities.highest(at)?;
        let next = &at.agents.agent(agent)?.pending.as_ref()?.may;
        let count = |variable: Obj| self.accesses.get(&variable).copied().unwrap_or(0);
        let reached = |&(changed, nth): &(Obj, u32)| {
            variables(next).any(|variable| variable == changed && count(variable) + 1 == nth)
        };
        let due = self.changes.iter().enumerate().filter(|(_, change)| reached(change));
        Some((agent, due.map(|(number, _)| number).collect()))
    }
}

impl Guide for PctvbGuide {
    fn scope(&self) -> Scope {
        self.scope.clone()
    }

    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        self.priorities.admit(at, &mut self.rng);
        for event in at.trace.steps[self.seen..].iter().map(|step| &step.event) {
            for variable in variables(&event.op.may) {
                *self.accesses.entry(variable).or_default() += 1;
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
        run(at, agent, &mut self.rng)
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
