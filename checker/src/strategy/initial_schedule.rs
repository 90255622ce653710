//! The schedules that the portfolio begins with. There is no chance in them, and each is as far from the default schedule
//! in its own way as a schedule can be: in the order of the threads, in how often they are switched, in the order of what
//! conflicts.
//!
//! A search of our own, made for the portfolio ([`super::Auto`]) and measured in `docs/searches.md`. Many failures need no
//! search: Thomson, Donaldson, Betts (Concurrency Testing Using Controlled Schedulers: An Empirical Study, TOPC 2016) find
//! that half of their benchmarks fail in the first few schedules of whatever kind. No bound is published.
//!
//! A schedule that keeps a thread waiting for too long ([`super::sampling::starvation_guard`]) goes on in step.

use rustc_hash::FxHashMap;

use super::sampling::choices::agents;
use super::sampling::starvation_guard::StarvationGuard;
use super::{Decision, Guide, Notes};
use crate::event::agent::Agent;
use crate::event::names::ThreadName;
use crate::event::position::Position;
use crate::program::Until;
use crate::state::scheduling_point::SchedulingPoint;

/// One of these schedules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialSchedule {
    /// Once an event has run, a thread that is about to do something that conflicts with it goes at once; else the same thread
    /// goes on. Where there is a choice, the youngest.
    YoungestConflict,
    /// The thread that has run the fewest events goes: what threads do alike they do at the same time.
    LeastAdvanced,
    /// As the first, but the oldest.
    OldestConflict,
}

impl InitialSchedule {
    /// The one that is run first.
    pub const FIRST: Self = Self::ALL[0];

    /// All of them, in the order in which they are run.
    pub(super) const ALL: [Self; 3] = [Self::YoungestConflict, Self::LeastAdvanced, Self::OldestConflict];

    /// The guide that takes an execution through it.
    #[must_use]
    pub fn guide(self) -> Box<dyn Guide> {
        let starvation_guard = StarvationGuard::of(StarvationGuard::SHORT);
        Box::new(InitialScheduleGuide {
            schedule: self,
            events: FxHashMap::default(),
            starvation_guard,
            taken: Position::START,
        })
    }
}

/// One execution under way.
struct InitialScheduleGuide {
    schedule: InitialSchedule,
    /// The number of events that each thread has run.
    events: FxHashMap<ThreadName, u64>,
    starvation_guard: StarvationGuard,
    taken: Position,
}

impl InitialScheduleGuide {
    /// The better a choice, the less it is. Time runs out only where no thread can go.
    fn rank(&self, at: &SchedulingPoint<'_>, agent: Agent) -> (bool, bool, u64, u64) {
        let thread = agent.thread();
        let age = at.agents.index(thread).unwrap_or(0) as u64;
        let youngest = u64::MAX - age;
        let leaves = u64::from(at.last.thread() != Some(thread));
        let is_late = matches!(agent, Agent::Timeout(_));
        match self.schedule {
            InitialSchedule::YoungestConflict => (is_late, !conflicts_with_last(at, agent), leaves, youngest),
            InitialSchedule::LeastAdvanced => {
                (is_late, false, self.events.get(&thread).copied().unwrap_or(0), youngest)
            }
            InitialSchedule::OldestConflict => (is_late, !conflicts_with_last(at, agent), leaves, age),
        }
    }
}

/// Whether what it would do conflicts with the event of another that has just run.
fn conflicts_with_last(at: &SchedulingPoint<'_>, agent: Agent) -> bool {
    let pending = at.agents.agent(agent).and_then(|view| view.pending.as_ref());
    let last = at.trace.steps.last().map(|step| &step.event).filter(|last| last.id.thread != agent.thread());
    pending.zip(last).is_some_and(|(op, last)| last.did.conflicts(&op.may))
}

impl Guide for InitialScheduleGuide {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        for step in &at.trace.steps[self.taken..] {
            *self.events.entry(step.event.id.thread).or_default() += 1;
        }
        self.taken = at.position();
        if self.starvation_guard.ends(at) {
            // As if all had begun just now: a thread that came late does not catch up first.
            self.schedule = InitialSchedule::LeastAdvanced;
            self.events.clear();
            self.starvation_guard = StarvationGuard::of(StarvationGuard::SHORT);
        }
        let agent = agents(at).min_by_key(|&agent| self.rank(at, agent));
        let choice = at.choices.iter().find(|choice| Some(choice.agent) == agent);
        choice.map_or(Decision::Prune, |&choice| Decision::Run { choice, until: Until::one() })
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn goes_on(&self) -> bool {
        true
    }

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
