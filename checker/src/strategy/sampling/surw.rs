//! Selectively uniform random walk: the interleavings of one shared variable's events are equally likely.
//!
//! Huan Zhao, Dylan Wolff, Umang Mathur, Abhik Roychoudhury: Selectively Uniform Concurrency Testing, ASPLOS 2025.
//! Published bound: where it is known how many selected events each thread runs, and no thread blocks another, each
//! interleaving of the selected events has the same probability.
//!
//! In each schedule one variable is selected, and its events are the selected ones. A thread weighs as much as it has
//! selected events left, with those of the threads that it has yet to create. The thread that goes on to run the next
//! selected event is drawn by weight; the others are held before theirs, and released where no other thread can run. All else
//! is a random walk. Deviations: counts are the largest ones seen so far, so that the first schedule is a random walk; the
//! variable is drawn from those that two threads touched, one of them changing it, locks and the like among them; an execution
//! that keeps a thread waiting for too long ([`super::starvation_guard`]) goes on as a random walk.

use std::collections::BTreeMap;

use super::choices::{agents, run};
use super::rng::SeededRng;
use super::sampler::Sample;
use super::starvation_guard::StarvationGuard;
use crate::event::agent::{Agent, Status};
use crate::event::names::{Obj, ThreadName};
use crate::event::operation::{Effect, Mode};
use crate::event::position::Position;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::{Decision, Guide, Notes};
use crate::trace::Trace;

/// Events on an object in the executions so far.
#[derive(Clone, Debug, Default)]
struct ObjectProfile {
    /// The number of events of each thread that touch it, at most.
    counts: BTreeMap<ThreadName, u32>,
    is_changed: bool,
}

/// A uniform walk over the events of one variable.
#[derive(Clone, Debug, Default)]
pub struct Surw {
    objects: BTreeMap<Obj, ObjectProfile>,
}

impl Sample for Surw {
    fn guide<'a>(&'a self, mut rng: SeededRng) -> Box<dyn Guide + 'a> {
        let is_shared = |used: &&ObjectProfile| used.is_changed && used.counts.len() > 1;
        let shared: Vec<Obj> =
            self.objects.iter().filter(|(_, used)| is_shared(used)).map(|(&obj, _)| obj).collect();
        let selected = rng.one_of(&shared);
        let counts = selected.map(|obj| self.objects[&obj].counts.clone()).unwrap_or_default();
        let starvation_guard = StarvationGuard::of(StarvationGuard::LONG);
        let weights = BTreeMap::new();
        Box::new(SurwGuide {
            rng,
            selected,
            counts,
            weights,
            starvation_guard,
            intended: None,
            seen: Position::START,
        })
    }

    fn learn(&mut self, run: &Trace) {
        let mut here: BTreeMap<Obj, ObjectProfile> = BTreeMap::new();
        for event in run.steps.iter().map(|step| &step.event) {
            for access in &event.op.may.accesses {
                let used = here.entry(access.obj).or_default();
                *used.counts.entry(event.id.thread).or_default() += 1;
                used.is_changed |= access.mode != Mode::Read;
            }
        }
        for (obj, used) in here {
            let known = self.objects.entry(obj).or_default();
            known.is_changed |= used.is_changed;
            for (thread, count) in used.counts {
                let most = known.counts.entry(thread).or_default();
                *most = count.max(*most);
            }
        }
    }

    fn forget(&mut self) {
        self.objects.clear();
    }
}

struct SurwGuide {
    rng: SeededRng,
    selected: Option<Obj>,
    /// The number of selected events that each thread will run.
    counts: BTreeMap<ThreadName, u32>,
    /// The number of them that the threads that exist have left, with those of threads that they have yet to create.
    weights: BTreeMap<ThreadName, u32>,
    starvation_guard: StarvationGuard,
    /// The thread that runs the next one.
    intended: Option<ThreadName>,
    seen: Position,
}

impl SurwGuide {
    fn touches(&self, effect: &Effect) -> bool {
        let selected = self.selected.as_ref();
        selected.is_some_and(|obj| effect.accesses.iter().any(|access| access.obj.overlaps(obj)))
    }

    /// Takes in the selected events that ran.
    fn note_events(&mut self, at: &SchedulingPoint<'_>) {
        for event in at.trace.steps[self.seen..].iter().map(|step| &step.event) {
            if self.touches(&event.op.may) {
                let thread = event.id.thread;
                self.weights.entry(thread).and_modify(|left| *left = left.saturating_sub(1));
                self.intended = self.intended.filter(|&intended| intended != thread);
            }
        }
        self.seen = at.position();
    }

    /// Moves the weights of threads that are new from those that created them.
    fn admit(&mut self, at: &SchedulingPoint<'_>) {
        for thread in at.agents.threads().iter().map(|view| view.agent.thread()) {
            if self.weights.contains_key(&thread) {
                continue;
            }
            let own = self.counts.iter().filter(|(name, _)| name.path().starts_with(thread.path()));
            let weight = own.map(|(_, count)| count).sum();
            self.weights.insert(thread, weight);
            let Some(parent) = thread.parent() else { continue };
            let Some(left) = self.weights.get_mut(&parent) else { continue };
            *left = left.saturating_sub(weight);
            if self.intended == Some(parent) {
                let event = self.rng.below((*left + weight) as usize);
                self.intended = Some(if event < weight as usize { thread } else { parent });
            }
        }
    }

    /// Draws the thread that runs the next selected event, where that is open or the thread that should cannot any more.
    fn intend(&mut self, at: &SchedulingPoint<'_>) {
        for view in at.agents.threads() {
            if matches!(view.status, Status::Finished | Status::Failed(_)) {
                self.weights.insert(view.agent.thread(), 0);
            }
        }
        if self.intended.is_some_and(|thread| self.weights.get(&thread).is_some_and(|&left| left > 0)) {
            return;
        }
        let mut event = self.rng.below(self.weights.values().sum::<u32>() as usize) as u32;
        self.intended = None;
        for (&thread, &left) in &self.weights {
            if event < left {
                self.intended = Some(thread);
                return;
            }
            event -= left;
        }
    }

    /// Whether a thread has to wait before its selected event.
    fn is_held(&self, at: &SchedulingPoint<'_>, agent: Agent) -> bool {
        let pending = at.agents.agent(agent).and_then(|view| view.pending.as_ref());
        let is_another = self.intended.is_some_and(|intended| intended != agent.thread());
        is_another && pending.is_some_and(|op| self.touches(&op.may))
    }
}

impl Guide for SurwGuide {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        self.note_events(at);
        self.admit(at);
        self.intend(at);
        if self.starvation_guard.ends(at) {
            self.selected = None;
        }
        let mut free: Vec<Agent> = agents(at).filter(|&agent| !self.is_held(at, agent)).collect();
        if free.is_empty() {
            free.extend(agents(at));
        }
        let agent = self.rng.one_of(&free);
        run(at, agent, &mut self.rng)
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
