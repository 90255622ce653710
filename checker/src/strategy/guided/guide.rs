//! The guide that has an execution follow a plan where it can.

use super::pairs::{Abstract, AbstractSchedule, Constraint, LastWrites, reads};
use crate::event::agent::{Agent, AgentView};
use crate::event::operation::Mode;
use crate::event::position::Position;
use crate::state::scheduling_point::SchedulingPoint;
use crate::strategy::sampling::choices::{agents, run};
use crate::strategy::sampling::pos::{EventPriorities, Racing};
use crate::strategy::sampling::rng::SeededRng;
use crate::strategy::sampling::starvation_guard::StarvationGuard;
use crate::strategy::{Decision, Guide, Notes};

/// The degree to which a plan wants an agent to go now.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum ConstraintDemand {
    Defer,
    Neutral,
    Run,
}

/// Follows a plan, and else the random priorities of pending events.
pub(super) struct ConstraintGuide {
    rng: SeededRng,
    priorities: EventPriorities,
    /// The rest of the plan: a constraint that was met once has done its work.
    plan: AbstractSchedule,
    last: LastWrites<Abstract>,
    starvation_guard: StarvationGuard,
    seen: Position,
}

impl ConstraintGuide {
    pub(super) fn new(rng: SeededRng, plan: AbstractSchedule) -> Self {
        let priorities = EventPriorities::new(Racing::Conflicts);
        let starvation_guard = StarvationGuard::of(StarvationGuard::SHORT);
        Self { rng, priorities, plan, last: LastWrites::default(), starvation_guard, seen: Position::START }
    }

    /// Takes in the events that ran.
    fn note_events(&mut self, at: &SchedulingPoint<'_>) {
        for event in at.trace.steps[self.seen..].iter().map(|step| &step.event) {
            for access in &event.did.accesses {
                let this = Abstract { kind: event.op.kind, obj: access.obj, site: event.site };
                let seen = self.last.of(&access.obj);
                self.plan
                    .retain(|asked| !(asked.holds && asked.pair.read == this && asked.pair.write == seen));
                if access.mode != Mode::Read {
                    self.last.record(this.obj, this);
                }
            }
        }
        self.seen = at.position();
    }

    fn demand(&self, at: &SchedulingPoint<'_>, agent: Agent) -> ConstraintDemand {
        let Some(view) = at.agents.agent(agent) else { return ConstraintDemand::Neutral };
        let demands = self
            .plan
            .iter()
            .flat_map(|asked| accesses(view).map(|(this, mode)| self.of(at, asked, this, mode)));
        demands.fold(ConstraintDemand::Neutral, |all, one| match (all, one) {
            (ConstraintDemand::Defer, _) | (_, ConstraintDemand::Defer) => ConstraintDemand::Defer,
            _ => all.max(one),
        })
    }

    /// The wish of one constraint for one pending access.
    fn of(
        &self,
        at: &SchedulingPoint<'_>,
        asked: &Constraint,
        this: Abstract,
        mode: Mode,
    ) -> ConstraintDemand {
        let Constraint { pair, holds } = *asked;
        if !this.obj.overlaps(&pair.read.obj) {
            return ConstraintDemand::Neutral;
        }
        let is_there = self.last.of(&pair.read.obj) == pair.write;
        match (holds, this == pair.read) {
            // The read waits for its write, and then comes before another one.
            (true, true) if is_there => ConstraintDemand::Run,
            (true, true) => ConstraintDemand::Defer,
            (true, false) if is_there && mode != Mode::Read => ConstraintDemand::Defer,
            // The read waits until another write has come, and that write for the read.
            (false, true) if is_there => ConstraintDemand::Defer,
            (false, false) if Some(this) == pair.write && is_pending(at, pair.read) => {
                ConstraintDemand::Defer
            }
            _ => ConstraintDemand::Neutral,
        }
    }
}

/// The accesses of a pending operation.
fn accesses(view: &AgentView) -> impl Iterator<Item = (Abstract, Mode)> {
    let pending = view.pending.iter();
    pending.flat_map(|op| {
        let this = |obj| Abstract { kind: op.kind, obj, site: view.site };
        op.may.accesses.iter().map(move |access| (this(access.obj), access.mode))
    })
}

fn is_pending(at: &SchedulingPoint<'_>, read: Abstract) -> bool {
    let mut waiting = at.agents.threads().iter().flat_map(accesses);
    reads(read.kind) && waiting.any(|(this, _)| this == read)
}

impl Guide for ConstraintGuide {
    fn choose(&mut self, at: &SchedulingPoint<'_>) -> Decision {
        self.note_events(at);
        if self.starvation_guard.ends(at) {
            self.plan.clear();
        }
        self.priorities.refresh(at, &mut self.rng);
        let agent = agents(at).max_by_key(|&agent| (self.demand(at, agent), self.priorities.of(agent)));
        run(at, agent, &mut self.rng)
    }

    fn pass(&mut self, _at: &SchedulingPoint<'_>) {}

    fn notes(self: Box<Self>) -> Notes {
        Notes::default()
    }
}
