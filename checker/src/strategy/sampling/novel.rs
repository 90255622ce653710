//! New reads first: an operation goes at once where it would see a write that it has not been seen to see, and as late as
//! possible where it would see one that it has.
//!
//! A search of our own, made for the portfolio ([`crate::strategy::Auto`]), and no more than the greedy end of two published ones:
//! reads-from pairs as what is worth seeing (Wolff et al., ASPLOS 2024), and the random priorities of pending events that
//! decide the rest (Yuan, Yang, Gu, CAV 2018). Views of a read are told apart by what its thread's read before had seen:
//! many failures are two reads that do not belong together. A schedule that keeps a thread waiting for too long
//! ([`super::starvation_guard`]) is left to chance from there on. No bound is published.

use rustc_hash::{FxHashMap, FxHashSet};

use super::choices::{agents, run};
use super::pos::{EventPriorities, Racing};
use super::rng::SeededRng;
use super::sampler::Sample;
use super::starvation_guard::StarvationGuard;
use crate::event::agent::Agent;
use crate::event::names::{Obj, Site, ThreadName};
use crate::event::operation::{Effect, Mode, OpKind};
use crate::event::position::Position;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::guided::{LastWrites, reads};
use crate::strategy::{Decision, Guide, Notes};
use crate::trace::{Trace, TraceStep};

/// One schedule in so many is left to chance.
const BY_CHANCE: usize = 8;

/// The thread that wrote, and the place in the code; none: what was there at first.
type Writer = Option<(ThreadName, Site)>;

/// A read of a thread with the write that it saw, and with the write that the thread's read before that had seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct ReadObservation {
    thread: ThreadName,
    before: Option<(Site, Writer)>,
    read: (Obj, Site),
    write: Writer,
}

/// Schedules that show what has not been seen.
#[derive(Clone, Debug, Default)]
pub struct Novel {
    seen: FxHashSet<ReadObservation>,
}

impl Sample for Novel {
    fn guide<'a>(&'a self, mut rng: SeededRng) -> Box<dyn Guide + 'a> {
        let is_greedy = rng.below(BY_CHANCE) > 0;
        let priorities = EventPriorities::new(Racing::Conflicts);
        Box::new(NovelGuide {
            rng,
            priorities,
            known: &self.seen,
            is_greedy,
            starvation_guard: StarvationGuard::of(StarvationGuard::SHORT),
            so_far: Reads::default(),
            taken: Position::START,
        })
    }

    fn learn(&mut self, run: &Trace) {
        let mut reads = Reads::default();
        for step in &run.steps {
            self.seen.extend(reads.take(step));
        }
    }

    fn forget(&mut self) {
        self.seen.clear();
    }
}

/// The reads of one execution.
#[derive(Clone, Debug, Default)]
struct Reads {
    last: LastWrites<(ThreadName, Site)>,
    before: FxHashMap<ThreadName, (Site, Writer)>,
}

impl Reads {
    /// The observations of an operation if it runs now.
    fn of(&self, thread: ThreadName, kind: OpKind, site: Site, effect: &Effect) -> Vec<ReadObservation> {
        let before = self.before.get(&thread).copied();
        let accesses = effect.accesses.iter().filter(|_| reads(kind));
        let sight =
            |obj: Obj| ReadObservation { thread, before, read: (obj, site), write: self.last.of(&obj) };
        accesses.map(|access| sight(access.obj)).collect()
    }

    /// Takes in an event, and says what it saw.
    fn take(&mut self, step: &TraceStep) -> Vec<ReadObservation> {
        let event = &step.event;
        let thread = event.id.thread;
        let seen = self.of(thread, event.op.kind, event.site, &event.did);
        if let Some(sight) = seen.last() {
            self.before.insert(thread, (event.site, sight.write));
        }
        for access in event.did.accesses.iter().filter(|access| access.mode != Mode::Read) {
            self.last.record(access.obj, (thread, event.site));
        }
        seen
    }
}

/// The worth of what an operation would show.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Novelty {
    Nothing,
    Whatever,
    New,
}

struct NovelGuide<'a> {
    rng: SeededRng,
    priorities: EventPriorities,
    known: &'a FxHashSet<ReadObservation>,
    is_greedy: bool,
    starvation_guard: StarvationGuard,
    so_far: Reads,
    taken: Position,
}

impl NovelGuide<'_> {
    fn worth(&self, at: &SchedulingPoint<'_>, agent: Agent) -> Novelty {
        let view = at.agents.agent(agent).filter(|_| self.is_greedy);
        let Some((view, op)) = view.and_then(|view| Some((view, view.pending.as_ref()?))) else {
            return Novelty::Whatever;
        };
        let sights = self.so_far.of(agent.thread(), op.kind, view.site, &op.may);
        match sights.iter().any(|sight| !self.known.contains(sight)) {
            true => Novelty::New,
            false if sights.is_empty() => Novelty::Whatever,
            false => Novelty::Nothing,
        }
    }
}

impl Guide for NovelGuide<'_> {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        for step in &at.trace.steps[self.taken..] {
            self.so_far.take(step);
        }
        self.taken = at.position();
        self.is_greedy &= !self.starvation_guard.ends(at);
        self.priorities.refresh(at, &mut self.rng);
        let agent = agents(at).max_by_key(|&agent| (self.worth(at, agent), self.priorities.of(agent)));
        run(at, agent, &mut self.rng)
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
