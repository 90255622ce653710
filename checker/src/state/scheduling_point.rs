//! A scheduling point: what a guide decides on.

use super::agents::AgentTable;
use crate::event::agent::{Agent, AgentView, Choice, Status};
use crate::event::names::ThreadName;
use crate::event::position::Position;
use crate::event::ranges::byte_set::ByteSet;
use crate::event::step::OpKey;
use crate::hb::hash::HbHash;
use crate::race;
use crate::trace::{Previous, Reason, Trace, cost};

/// Everything that is known where a choice is due.
#[derive(Clone, Copy, Debug)]
pub struct SchedulingPoint<'a> {
    /// Every agent, blocked ones too.
    pub agents: &'a AgentTable,
    /// The choices; the ways in which one agent can go stand together.
    pub choices: &'a [Choice],
    /// The thread that ran last.
    pub last: Previous,
    /// The number of times that the thread that ran last was let past a yield or sleep where it might have been left, no other
    /// agent having moved since: after so many ([`Options::max_yields`](crate::search::Options::max_yields)) it has to let
    /// others go. Under fair scheduling (Musuvathi, Qadeer: Fair Stateless Model Checking, PLDI 2008) the first one would bind
    /// it already; but a sleep is no guarantee that another thread has moved.
    pub yields: u32,
    /// The events so far, with clocks and hashes.
    pub trace: &'a Trace,
    /// Time-outs were left out of `choices`, because their bound is reached.
    pub timeouts_bounded: bool,
}

impl SchedulingPoint<'_> {
    /// The position of the event which is due.
    #[must_use]
    pub fn position(&self) -> Position {
        self.trace.steps.end()
    }

    /// The hash of the state.
    #[must_use]
    pub fn state(&self) -> HbHash {
        self.trace.hb.state()
    }

    /// The choice of a non-preemptive round-robin scheduler: the last thread while it can go on and does not give way again,
    /// else the next one; a time-out only where no thread can go.
    #[must_use]
    pub fn default_choice(&self) -> Option<Choice> {
        let threads = self.choices.iter().filter_map(|choice| match choice.agent {
            Agent::Thread(name) => Some((cost::turn(self.last, name), choice)),
            Agent::Timeout(_) | Agent::Flush(_) => None,
        });
        let next = threads.min_by_key(|&(turn, _)| turn).map(|(_, choice)| choice);
        next.or(self.choices.first()).copied()
    }

    /// The choice with the operation that it will run.
    #[must_use]
    pub fn planned(&self, choice: Choice) -> Option<(Choice, OpKey)> {
        let view = self.agents.agent(choice.agent)?;
        Some((choice, OpKey { kind: view.pending.as_ref()?.kind, site: view.site }))
    }

    /// The state after a choice, as far as it can be told: see [`crate::hb::HappensBefore::predict`].
    #[must_use]
    pub fn predict(&self, choice: Choice) -> Option<HbHash> {
        let op = self.agents.agent(choice.agent)?.pending.as_ref()?;
        let thread = self.agents.index(choice.agent.thread())?;
        let peer = op.peer.and_then(|peer| self.agents.index(peer));
        Some(self.trace.hb.predict(thread, op, choice.outcome, peer))
    }
}

/// The number of rounds of nothing but yields after which waiting threads' time runs out, so that spinning ends.
const IDLE_ROUNDS: u32 = 2;

/// Collects the choices. `waits` says whether a thread that gives way again goes only if no other one can, `timeouts` whether
/// timed waits may run out of time by choice; `idle` counts the yields since anything was written. Returns whether time-outs
/// were withheld.
pub(crate) fn choices(
    agents: &AgentTable,
    (last, waits): (Previous, bool),
    timeouts: bool,
    idle: u32,
    into: &mut Vec<Choice>,
) -> bool {
    into.clear();
    let threads = agents.threads();
    let has_to_wait = |view: &AgentView| waits && last == Previous::Yielding(view.agent.thread());
    let (waiting, free): (Vec<&AgentView>, Vec<&AgentView>) =
        threads.iter().filter(|view| view.status == Status::Enabled).partition(|view| has_to_wait(view));
    free.into_iter().for_each(|view| add_choices(view, into));
    let others = agents.others().iter().filter(|view| view.status == Status::Enabled);
    let (timed, flushes): (Vec<_>, Vec<_>) = others.partition(|view| matches!(view.agent, Agent::Timeout(_)));
    flushes.into_iter().for_each(|view| add_choices(view, into));
    let time_passes = !timed.is_empty() && idle > IDLE_ROUNDS * threads.len() as u32;
    if into.is_empty() && !time_passes {
        waiting.into_iter().for_each(|view| add_choices(view, into));
    }
    if timeouts {
        timed.into_iter().for_each(|view| add_choices(view, into));
        return false;
    }
    // If no other thread can move, time goes on, for one of them: which one must not depend on the order in which they began to
    // wait.
    match timed.iter().min_by_key(|view| view.agent.thread()) {
        Some(first) if into.is_empty() => add_choices(first, into),
        _ => {}
    }
    !timed.is_empty()
}

/// Whether no other agent can be chosen but those whose time may run out.
pub(crate) fn is_alone(choice: Choice, choices: &[Choice]) -> bool {
    let is_timed = |other: &Choice| matches!(other.agent, Agent::Timeout(_));
    choices.iter().all(|other| other.agent == choice.agent || is_timed(other))
}

/// Leaves no choice where the thread that ran last goes on with a load or a store of none of these synchronisation
/// variables.
pub(crate) fn go_on_at_plain_accesses(
    agents: &AgentTable,
    last: Previous,
    variables: &ByteSet,
    choices: &mut Vec<Choice>,
) {
    let Previous::Runnable(name) = last else { return };
    let pending = agents.thread(name).and_then(|view| view.pending.as_ref());
    if pending.is_some_and(|op| race::is_plain(op, variables)) {
        choices.retain(|choice| choice.agent == Agent::Thread(name));
    }
}

fn add_choices(view: &AgentView, into: &mut Vec<Choice>) {
    into.extend(view.outcomes.iter().map(|&outcome| Choice { agent: view.agent, outcome }));
}

/// The reason for which the agent that was chosen runs here.
pub(crate) fn reason(agents: &AgentTable, last: Previous, choice: Choice) -> Reason {
    let Agent::Thread(next) = choice.agent else { return Reason::Aside };
    let Some(before) = last.thread() else { return Reason::First };
    if before == next {
        return Reason::Continues;
    }
    match (last, agents.thread(before).map(|view| &view.status)) {
        (Previous::Runnable(_), _) => Reason::Preempted(before),
        (_, Some(Status::Blocked(on))) => Reason::Blocked(before, on.clone()),
        (_, Some(Status::Finished)) => Reason::Finished(before),
        (_, Some(Status::Failed(_))) => Reason::Failed(before),
        _ => Reason::GaveWay(before),
    }
}

/// The thread that ran last, as it stands now; `yields` as in [`SchedulingPoint::yields`].
pub(crate) fn last(agents: &AgentTable, ran: Option<ThreadName>, yields: u32) -> Previous {
    let Some(name) = ran else { return Previous::Nobody };
    match agents.thread(name) {
        Some(view) if view.status != Status::Enabled => Previous::Free(name),
        Some(view) if !view.gives_way() => Previous::Runnable(name),
        Some(_) if yields > 0 => Previous::Yielding(name),
        _ => Previous::Free(name),
    }
}
