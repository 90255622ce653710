//! How one execution runs by strict priority.

use super::can_go_on;
use crate::hash::Mixer;
use crate::hb::ThreadTag;
use crate::names::ThreadName;
use crate::point::Point;
use crate::seam::{Agent, AgentView, Until};
use crate::strategy::sampler::agents;
use crate::strategy::{Alternative, Decision, Guide, Notes};

/// A thread that has given way this often has the lowest priority from then on.
const PATIENCE: u32 = 100;

/// A random order of all that can have a priority; each second one is the reverse of the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Order {
    pub(super) seed: u64,
    pub(super) number: u32,
}

/// What has a priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fragment {
    /// A thread that was not preempted.
    Thread(ThreadName),
    /// An open timed wait.
    Timeout(ThreadName),
    /// The thread that was preempted as this one.
    Preempted(u32),
    /// A thread that gave way too often.
    Last,
}

impl Order {
    fn priority(self, fragment: Fragment) -> u64 {
        let (kind, number) = match fragment {
            Fragment::Thread(name) => (0, ThreadTag::of(name).0),
            Fragment::Timeout(name) => (1, ThreadTag::of(name).0),
            Fragment::Preempted(nth) => (2, u64::from(nth)),
            Fragment::Last => return 0,
        };
        let mut mixer = Mixer::new(self.seed);
        [u64::from(self.number / 2), kind, number].into_iter().for_each(|word| mixer.word(word));
        let priority = mixer.finish() as u64;
        if self.number.is_multiple_of(2) { priority } else { !priority }
    }

    /// How these threads and the preempted ones are ordered: of each, its rank.
    pub(super) fn of(self, threads: impl Iterator<Item = ThreadName>, preempted: u32) -> Vec<usize> {
        let fragments = threads.map(Fragment::Thread).chain((0..preempted).map(Fragment::Preempted));
        let priorities: Vec<u64> = fragments.map(|fragment| self.priority(fragment)).collect();
        priorities.iter().map(|one| priorities.iter().filter(|other| *other < one).count()).collect()
    }
}

/// Takes one execution to its end by strict priority, with these preemptions, noting where one more could be.
pub(super) struct ByFragment {
    order: Order,
    /// Before which events, in order.
    preemptions: Vec<u32>,
    taken: usize,
    /// What threads that were preempted or gave way too often are now.
    changed: Vec<(ThreadName, Fragment)>,
    yields: Vec<(ThreadName, u32)>,
    notes: Notes,
}

impl ByFragment {
    pub(super) fn new(order: Order, preemptions: Vec<u32>) -> Self {
        Self {
            order,
            preemptions,
            taken: 0,
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

    fn highest(&self, at: &Point<'_>) -> Option<Agent> {
        agents(at).max_by_key(|&agent| self.priority(agent))
    }

    fn fragment(&self) -> Fragment {
        Fragment::Preempted(self.taken as u32)
    }

    /// Notes that the thread that goes on could be left for another one.
    fn note(&mut self, at: &Point<'_>, thread: ThreadName) {
        let lowered = self.order.priority(self.fragment());
        let above = |agent: &Agent| *agent != Agent::Thread(thread) && self.priority(*agent) > lowered;
        let other = agents(at).filter(above).max_by_key(|&agent| self.priority(agent));
        let choice = other.and_then(|agent| at.choices.iter().find(|choice| choice.agent == agent));
        if let Some(step) = choice.and_then(|&choice| at.planned(choice)) {
            let (at, cost) = (at.position() as u32, self.taken as u32 + 1);
            self.notes.alternatives.push(Alternative { at, step, cost, state: None });
        }
    }

    fn count_yield(&mut self, at: &Point<'_>, thread: ThreadName) {
        if !at.agents.thread(thread).is_some_and(AgentView::gives_way) {
            return;
        }
        let known = self.yields.iter().position(|(known, _)| *known == thread);
        let nth = known.unwrap_or_else(|| {
            self.yields.push((thread, 0));
            self.yields.len() - 1
        });
        self.yields[nth].1 += 1;
        if self.yields[nth].1 == PATIENCE {
            self.changed.push((thread, Fragment::Last));
        }
    }
}

impl Guide for ByFragment {
    fn choose(&mut self, at: &Point<'_>) -> Decision {
        let Some(mut agent) = self.highest(at) else { return Decision::Cut };
        let running = can_go_on(at).filter(|&running| agent == Agent::Thread(running));
        if self.preemptions.get(self.taken).is_some_and(|&next| next as usize == at.position()) {
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
        choice.map_or(Decision::Cut, |&choice| Decision::Run { choice, until: Until::one() })
    }

    fn pass(&mut self, _at: &Point<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        self.notes
    }
}
