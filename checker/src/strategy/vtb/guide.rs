//! The guide that runs one execution by strict priority.

use super::preemption_point::{AccessCount, PreemptionPoint};
use crate::event::agent::{Agent, AgentView};
use crate::event::names::ThreadName;
use crate::event::position::Position;
use crate::hb::ThreadTag;
use crate::hb::hash::Mixer;
use crate::program::{Scope, Until};
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::sampling::choices::agents;
use crate::strategy::{Alternative, Decision, Guide, Notes};

/// A thread that has given way this often has the lowest priority from then on.
const YIELD_LIMIT: u32 = 100;

/// A random order of all that can have a priority; each second one is the reverse of the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RandomOrder {
    pub(super) seed: u64,
    pub(super) number: u32,
}

/// A holder of a priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fragment {
    /// A thread that was not preempted.
    Thread(ThreadName),
    /// An open timed wait.
    Timeout(ThreadName),
    /// The thread that was preempted as this one.
    Preempted(u32),
    /// A thread that gave way too often.
    Previous,
}

impl RandomOrder {
    fn priority(self, fragment: Fragment) -> u64 {
        let (kind, number) = match fragment {
            Fragment::Thread(name) => (0, ThreadTag::of(name).0),
            Fragment::Timeout(name) => (1, ThreadTag::of(name).0),
            Fragment::Preempted(nth) => (2, u64::from(nth)),
            Fragment::Previous => return 0,
        };
        let mut mixer = Mixer::new(self.seed);
        [u64::from(self.number / 2), kind, number].into_iter().for_each(|word| mixer.word(word));
        let priority = mixer.finish() as u64;
        if self.number.is_multiple_of(2) { priority } else { !priority }
    }

    /// The order of these threads and the preempted ones: of each, its rank.
    pub(super) fn of(self, threads: impl Iterator<Item = ThreadName>, preempted: u32) -> Vec<usize> {
        let fragments = threads.map(Fragment::Thread).chain((0..preempted).map(Fragment::Preempted));
        let priorities: Vec<u64> = fragments.map(|fragment| self.priority(fragment)).collect();
        priorities.iter().map(|one| priorities.iter().filter(|other| *other < one).count()).collect()
    }
}

/// Takes one execution to its end by strict priority, with these preemptions, noting where one more could be.
pub(super) struct VtbGuide {
    order: RandomOrder,
    /// In order, each with what its thread has run so far.
    preemptions: Vec<(PreemptionPoint, AccessCount)>,
    taken: usize,
    scope: Scope,
    seen: Position,
    /// The present fragments of threads that were preempted or gave way too often.
    changed: Vec<(ThreadName, Fragment)>,
    yields: Vec<(ThreadName, u32)>,
    notes: Notes,
}

impl VtbGuide {
    pub(super) fn new(order: RandomOrder, preemptions: Vec<PreemptionPoint>, scope: Scope) -> Self {
        Self {
            order,
            preemptions: preemptions.into_iter().map(|place| (place, AccessCount::default())).collect(),
            taken: 0,
            scope,
            seen: Position::START,
            changed: Vec::new(),
            yields: Vec::new(),
            notes: Notes::default(),
        }
    }

    fn priority(&self, agent: Agent) -> u64 {
        let fragment = match agent {
            Agent::Thread(name) => {
                let changed = self.changed.iter().rev().find(|(known, _)| *known == name);
                changed.map_or(Fragment::Thread(name), |&(_, fragment)| fragment)
            }
            Agent::Timeout(name) | Agent::Flush(name) => Fragment::Timeout(name),
        };
        self.order.priority(fragment)
    }

    fn highest(&self, at: &SchedulingPoint<'_>) -> Option<Agent> {
        agents(at).max_by_key(|&agent| self.priority(agent))
    }

    /// Counts what has run since.
    fn count(&mut self, at: &SchedulingPoint<'_>) {
        for event in at.trace.steps[self.seen..].iter().map(|step| &step.event) {
            for (place, count) in self.preemptions.iter_mut().filter(|(p, _)| p.thread == event.id.thread) {
                *count = count.with(&event.op, place.variable);
            }
        }
        self.seen = at.position();
    }

    /// Whether a thread is where the next preemption is.
    fn is_there(&self, thread: ThreadName) -> bool {
        let next = self.preemptions.get(self.taken);
        next.is_some_and(|(place, count)| place.thread == thread && place.count == *count)
    }

    /// Whether an agent is there once it has run its operation: then it has to stop at once.
    fn comes_there(&self, agent: Option<&AgentView>) -> bool {
        let (Some(agent), Some((place, count))) = (agent, self.preemptions.get(self.taken)) else {
            return false;
        };
        let after = agent.pending.as_ref().map(|op| count.with(op, place.variable));
        agent.agent == Agent::Thread(place.thread) && after == Some(place.count)
    }

    fn fragment(&self) -> Fragment {
        Fragment::Preempted(self.taken as u32)
    }

    /// Notes that the thread that goes on could be left for another one.
    fn note(&mut self, at: &SchedulingPoint<'_>, thread: ThreadName) {
        let lowered = self.order.priority(self.fragment());
        let above = |agent: &Agent| *agent != Agent::Thread(thread) && self.priority(*agent) > lowered;
        let other = agents(at).filter(above).max_by_key(|&agent| self.priority(agent));
        let choice = other.and_then(|agent| at.choices.iter().find(|choice| choice.agent == agent));
        if let Some(step) = choice.and_then(|&choice| at.planned(choice)) {
            let (at, cost) = (at.position(), self.taken as u32 + 1);
            self.notes.alternatives.push(Alternative { at, step, cost, state: None });
        }
    }

    fn count_yield(&mut self, at: &SchedulingPoint<'_>, thread: ThreadName) {
        if !at.agents.thread(thread).is_some_and(AgentView::gives_way) {
            return;
        }
        let known = self.yields.iter().position(|(known, _)| *known == thread);
        let nth = known.unwrap_or_else(|| {
            self.yields.push((thread, 0));
            self.yields.len() - 1
        });
        self.yields[nth].1 += 1;
        if self.yields[nth].1 == YIELD_LIMIT {
            self.changed.push((thread, Fragment::Previous));
        }
    }
}

impl Guide for VtbGuide {
    fn scope(&self) -> Scope {
        self.scope.clone()
    }

    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        self.count(at);
        let Some(mut agent) = self.highest(at) else { return Decision::Prune };
        let running = can_go_on(at).filter(|&running| agent == Agent::Thread(running));
        if running.is_some_and(|running| self.is_there(running)) {
            self.changed.push((agent.thread(), self.fragment()));
            self.taken += 1;
            agent = self.highest(at).unwrap_or(agent);
        } else if let Some(running) = running.filter(|_| self.taken == self.preemptions.len()) {
            self.note(at, running);
        }
        if let Agent::Thread(thread) = agent {
            self.count_yield(at, thread);
        }
        let choice = at.choices.iter().find(|choice| choice.agent == agent);
        let until = Until { at_next: self.comes_there(at.agents.agent(agent)), ..Until::one() };
        choice.map_or(Decision::Prune, |&choice| Decision::Run { choice, until })
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        self.notes
    }
}

/// The thread that ran last, if it can go on here, so that leaving it is a preemption.
fn can_go_on(at: &SchedulingPoint<'_>) -> Option<ThreadName> {
    match at.last {
        crate::trace::Previous::Runnable(thread) => Some(thread),
        _ => None,
    }
}
