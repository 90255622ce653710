//! One execution, from its start to its end, recorded point by point.

use std::mem;

use super::error::SearchError;
use super::idle::Idle;
use super::limits::{Limits, OnlyAt};
use super::outcome::{Exceeded, Replay, RunOutcome, TerminationPoint};
use crate::event::agent::{Agent, AgentView, Choice, Status};
use crate::event::failure::Failure;
use crate::event::names::{Site, ThreadName};
use crate::event::position::Position;
use crate::event::recorded::TraceEvent;
use crate::event::step::{OpKey, Step};
use crate::event::wait::BlockedOn;
use crate::limit::StopRequest;
use crate::program::{Batch, Epoch, Execution, ExecutionError, ExecutionSummary, Program, Scope, Stop};
use crate::state::agents::AgentTable;
use crate::state::scheduling_point::SchedulingPoint;
use crate::state::{blocked_state, scheduling_point};
use crate::strategy::{Decision, Guide, TraceGuide};
use crate::trace::interner::Interner;
use crate::trace::{PendingAtEnd, Previous, Trace, TraceStep, cost};

/// After a failure, or the end of the process, the other threads get this many events to show what they had left.
const TAIL: usize = 1_000;

/// An execution that hits the limit after this many yields, no other thread having been able to move and nothing having been
/// written, goes on for ever without progress. Before the limit this cannot be known: a thread may count its sleeps.
const LIVELOCK: u32 = 1_000;

/// An execution in which a thread waits for what comes from outside is at its end after so many times that time has passed
/// because no thread could move: a server without a client, whose timers go on for ever.
const IDLE: u32 = 1_000;

/// So many steps of a prefix are run at a time: each is returned with the views that it changed, ten times what is kept.
const REPLAYED_AT_ONCE: usize = 1_024;

/// Runs executions one after another, with the buffers that they share.
pub(crate) struct Runner<'p, P> {
    pub(crate) program: &'p P,
    pub(crate) limits: Limits,
    pub(crate) only_at: OnlyAt,
    /// Of the execution that ran last.
    pub(crate) trace: Trace,
    /// The agents as it left them.
    pub(crate) agents: AgentTable,
    /// Its ending.
    pub(crate) summary: ExecutionSummary,
    pub(crate) to_audit: Vec<(Epoch, Vec<(Choice, OpKey)>)>,
    state: RunnerState,
    choices: Vec<Choice>,
    known: Interner,
    /// The number of executions so far that were run to tell where others failed.
    pub(crate) attribution_runs: u64,
}

/// The state of a runner: counts within one execution, and its progress in it.
#[derive(Clone, Debug, Default)]
struct RunnerState {
    last: Option<ThreadName>,
    /// See [`SchedulingPoint::yields`].
    yields: u32,
    preemptions: u32,
    delays: u32,
    timeouts: u32,
    idle: Idle,
    failure: Option<ThreadName>,
    termination: TerminationPoint,
    timeouts_bounded: bool,
    /// The point at which key points were added. From there on a guide that knows of none of them is not asked: the rest of the
    /// prefix runs, and then the default schedule.
    promoted: Option<Position>,
}

impl<'p, P: Program> Runner<'p, P> {
    pub(crate) fn new(program: &'p P, limits: Limits) -> Self {
        Self {
            program,
            limits,
            only_at: None,
            trace: Trace::default(),
            agents: AgentTable::default(),
            summary: ExecutionSummary::default(),
            state: RunnerState::default(),
            choices: Vec::new(),
            known: Interner::default(),
            attribution_runs: 0,
            to_audit: Vec::new(),
        }
    }

    /// As if an execution that ran elsewhere had run here: its trace, how it ended, and [`Runner::termination`]. Returns the trace of
    /// the one before.
    pub(crate) fn take_over(
        &mut self,
        trace: Trace,
        summary: ExecutionSummary,
        termination: TerminationPoint,
    ) -> Trace {
        (self.summary, self.state.termination) = (summary, termination);
        mem::replace(&mut self.trace, trace)
    }

    /// The extent of the last execution.
    pub(crate) fn termination(&self) -> TerminationPoint {
        self.state.termination
    }

    /// Runs one execution: the prefix, then as the guide says.
    pub(crate) fn run(
        &mut self,
        prefix: &[(Choice, OpKey)],
        guide: &mut dyn Guide,
        go: &mut dyn FnMut() -> StopRequest,
    ) -> Result<RunOutcome, SearchError> {
        self.run_within(&Scope::All, prefix, guide, go)
    }

    /// The same, with these scheduling points.
    pub(crate) fn run_within(
        &mut self,
        scope: &Scope,
        prefix: &[(Choice, OpKey)],
        guide: &mut dyn Guide,
        go: &mut dyn FnMut() -> StopRequest,
    ) -> Result<RunOutcome, SearchError> {
        let epoch = self.program.epoch();
        let mut run = match self.program.start(scope) {
            Ok(run) => run,
            Err(error) => return RunOutcome::unstarted(error),
        };
        self.start(run.agents());
        let end = self.drive(&mut run, prefix, guide, go);
        let end = match end {
            Ok(RunOutcome::Completed(_)) => Ok(RunOutcome::of(self.failures(&mut run))),
            Err(error) => RunOutcome::broken_off(error),
            end => end,
        };
        self.take_summary(run.finish(), scope, epoch);
        match end {
            Ok(RunOutcome::Stopped(go)) => Ok(RunOutcome::Stopped(go)),
            Ok(RunOutcome::Completed(failures)) if self.program.epoch() != epoch => {
                Ok(RunOutcome::Promoted(failures))
            }
            _ if self.program.epoch() != epoch => Ok(RunOutcome::Promoted(Vec::new())),
            end => {
                let mut end = end?;
                self.attribute(&mut end, scope);
                Ok(end)
            }
        }
    }

    /// Adds what the program knows of failures once an execution with these scheduling points has ended: the one that ran last,
    /// or was taken over.
    pub(crate) fn attribute(&mut self, end: &mut RunOutcome, scope: &Scope) {
        if let RunOutcome::Completed(failures) | RunOutcome::LimitExceeded(_, failures) = end
            // With few key points some events are not seen, so that the execution cannot be run again.
            && !matches!(scope, Scope::Objects(_))
        {
            for failure in failures {
                self.attribution_runs += self.program.attribute(failure, &self.trace, &self.summary);
            }
        }
    }

    /// Takes in how an execution with these scheduling points ended, which began with these key points.
    fn take_summary(&mut self, summary: ExecutionSummary, scope: &Scope, epoch: Epoch) {
        self.summary = summary;
        // The order of few key points is no schedule with all of them: the next one that has all is audited.
        if !matches!(scope, Scope::Objects(_)) {
            self.queue_audit(*scope == Scope::Audit || self.program.epoch() != epoch);
        }
    }

    /// Keeps in mind what ran last, with the key points that there are, if it has to be audited; not if `is_exempt`: if
    /// everything was watched, or it has shown key points and is no schedule any longer.
    pub(crate) fn queue_audit(&mut self, is_exempt: bool) {
        if self.program.needs_audit(&self.trace) && !is_exempt {
            self.to_audit.push((self.program.epoch(), self.trace.schedule()));
        }
    }

    fn start(&mut self, views: &[AgentView]) {
        self.agents.start(views);
        self.trace.clear();
        self.state = RunnerState::default();
        for view in self.agents.threads() {
            self.trace.threads.push(view.agent.thread());
            self.trace.hb.add_thread(view.agent.thread(), None);
        }
        self.note_failures();
        self.update_choices();
    }

    fn drive(
        &mut self,
        run: &mut P::Run,
        prefix: &[(Choice, OpKey)],
        guide: &mut dyn Guide,
        go: &mut dyn FnMut() -> StopRequest,
    ) -> Result<RunOutcome, ExecutionError> {
        let mut follow = TraceGuide::new(Vec::new());
        match self.replay(run, prefix, go)? {
            Replay::Through => {}
            Replay::Promoted => {
                self.state.promoted = Some(self.trace.steps.end());
                follow = TraceGuide::new(prefix[self.trace.steps.len()..].to_vec());
            }
            Replay::Stopped(go) => return Ok(RunOutcome::Stopped(go)),
        }
        loop {
            debug_assert!(self.agents.agrees(run.agents()), "a step did not say all that it changed");
            match go() {
                StopRequest::Continue => {}
                stop => return Ok(RunOutcome::Stopped(stop)),
            }
            if let Some(end) = self.end() {
                self.note_left();
                return Ok(end);
            }
            let decision = if self.state.promoted.is_none() || guide.goes_on() {
                guide.choose(&self.point())
            } else {
                follow.choose(&self.point())
            };
            let Decision::Run { choice, until } = decision else {
                self.note_left();
                return Ok(RunOutcome::Pruned);
            };
            #[cfg(test)]
            let predicted = self.point().predict(choice);
            let Batch { steps, stop } = run.run(choice, &until)?;
            #[cfg(test)]
            let alone = steps.len() == 1;
            self.take(choice, steps, guide);
            #[cfg(test)]
            if let Some(TraceStep { event, .. }) = self.trace.steps.last()
                && alone
                && event.did == event.op.may
            {
                assert_eq!(predicted, Some(self.trace.hb.state()), "{event:?}");
            }
            if stop == Stop::Promoted {
                self.state.promoted.get_or_insert(self.trace.steps.end());
            }
        }
    }

    fn replay(
        &mut self,
        run: &mut P::Run,
        steps: &[(Choice, OpKey)],
        go: &mut dyn FnMut() -> StopRequest,
    ) -> Result<Replay, ExecutionError> {
        for (nth, part) in steps.chunks(REPLAYED_AT_ONCE).enumerate() {
            match go() {
                StopRequest::Continue => {}
                stop => return Ok(Replay::Stopped(stop)),
            }
            let batch = run.replay(part).map_err(|error| error.later_by(nth * REPLAYED_AT_ONCE))?;
            for (step, (choice, _)) in batch.steps.into_iter().zip(part) {
                self.record(*choice, step);
            }
            if batch.stop == Stop::Promoted {
                return Ok(Replay::Promoted);
            }
        }
        Ok(Replay::Through)
    }

    fn take(&mut self, choice: Choice, steps: Vec<Step>, guide: &mut dyn Guide) {
        for (nth, step) in steps.into_iter().enumerate() {
            if nth > 0 {
                guide.pass(&self.point());
            }
            self.record(Choice { agent: choice.agent, outcome: step.event.outcome }, step);
        }
    }

    pub(crate) fn point(&self) -> SchedulingPoint<'_> {
        SchedulingPoint {
            agents: &self.agents,
            choices: &self.choices,
            last: self.last(),
            yields: self.state.yields,
            trace: &self.trace,
            timeouts_bounded: self.state.timeouts_bounded,
        }
    }

    fn last(&self) -> Previous {
        scheduling_point::last(&self.agents, self.state.last, self.state.yields)
    }

    /// Takes in one event.
    fn record(&mut self, choice: Choice, step: Step) {
        let Step { event, changed, process_ended } = step;
        let last = self.last();
        let position = self.trace.steps.end();
        let reason = scheduling_point::reason(&self.agents, last, choice);
        self.state.preemptions += cost::preemption(last, choice);
        self.state.delays += cost::delay(last, &self.choices, choice);
        let moment = self.known.moment(choice, reason, last, &self.choices);
        let event = self.known.event(event);
        let alone = scheduling_point::is_alone(choice, &self.choices);
        self.state.idle.note(last, choice, &event, alone);
        self.note_giving_way(choice, &event);
        let agents = &self.agents;
        if let Some(thread) = agents.index(event.id.thread) {
            self.trace.hb.push(thread, &event, |name| agents.index(name));
        }
        let mut woke = false;
        for view in changed {
            self.state.idle.note_change(choice, self.agents.agent(view.agent), &view);
            woke |= self.note_wake(event.id.thread, &view, position);
            if let (Agent::Thread(name), None) = (view.agent, self.agents.agent(view.agent)) {
                self.trace.threads.push(name);
                self.trace.hb.add_thread(name, Some(position));
            }
            self.note_unrun(choice, &view, position);
            if let Status::Blocked(BlockedOn::Await(locations)) = &view.status {
                self.trace.spun_on.extend_from_slice(locations);
            }
            self.agents.apply(view);
        }
        match choice.agent {
            Agent::Thread(name) => self.state.last = Some(name),
            Agent::Timeout(_) => self.state.timeouts += 1,
            Agent::Flush(_) => {}
        }
        let RunnerState { preemptions, delays, .. } = self.state;
        self.trace.steps.push(TraceStep::new(event, moment, (preemptions, delays), woke));
        if process_ended {
            self.state.termination.after.get_or_insert(position.next());
        }
        self.note_failures();
        self.update_choices();
    }

    /// Whether this view shows a thread that the event of another one woke.
    fn note_wake(&mut self, by: ThreadName, view: &AgentView, position: Position) -> bool {
        let Agent::Thread(name) = view.agent else { return false };
        let waited = self.agents.thread(name).is_some_and(|old| old.status.waits_for_a_wake());
        if name == by || !waited || view.status.waits_for_a_wake() {
            return false;
        }
        if let Some(thread) = self.agents.index(name) {
            self.trace.hb.woken(thread, position);
        }
        true
    }

    /// Notes what can no longer run: a time-out, if what was waited for has come, what a thread waited for, if its time has run
    /// out, and the expiry of a timer that was stopped.
    fn note_unrun(&mut self, choice: Choice, new: &AgentView, at: Position) {
        let out_of_time = choice.agent == Agent::Timeout(new.agent.thread());
        let closed = match new.agent {
            Agent::Timeout(_) => !out_of_time && new.status == Status::Finished,
            Agent::Thread(name) if name.is_timer() => {
                let could_go = self.agents.agent(new.agent).is_some_and(|old| old.status == Status::Enabled);
                could_go && choice.agent != new.agent && new.status == Status::Finished
            }
            Agent::Thread(_) => out_of_time,
            Agent::Flush(_) => false,
        };
        if let Some(view) = self.agents.agent(new.agent).filter(|_| closed) {
            self.trace.pending_at_end.push(PendingAtEnd { at, view: view.clone(), closed, waker: None });
        }
    }

    /// Notes what is still pending where an execution ends.
    fn note_left(&mut self) {
        let at = self.trace.steps.end();
        for (thread, view) in self.agents.threads().iter().enumerate() {
            if view.pending.is_some() {
                let waker = self.trace.hb.waker(thread);
                self.trace.pending_at_end.push(PendingAtEnd { at, view: view.clone(), closed: false, waker });
            }
        }
    }

    /// A thread that goes past a yield having run last may do so a few times: it is no guarantee that another thread has moved.
    fn note_giving_way(&mut self, choice: Choice, event: &TraceEvent) {
        let goes_on = self.state.last.is_some_and(|last| choice.agent == Agent::Thread(last));
        let yields = self.state.yields + event.op.kind.yields();
        self.state.yields = if goes_on { yields.min(self.limits.yields) } else { 0 };
    }

    fn note_failures(&mut self) {
        if self.state.failure.is_none() {
            let failed = self.agents.threads().iter().find(|view| matches!(view.status, Status::Failed(_)));
            if let Some(view) = failed {
                self.state.failure = Some(view.agent.thread());
                let now = self.trace.steps.end();
                self.state.termination.failed_late = *self.state.termination.after.get_or_insert(now) < now;
            }
        }
    }

    fn update_choices(&mut self) {
        let timeouts = self.state.timeouts < self.limits.timeouts;
        let (last, idle) = (self.last(), self.state.idle.count);
        let waits = self.state.yields >= self.limits.yields;
        self.state.timeouts_bounded =
            scheduling_point::choices(&self.agents, (last, waits), timeouts, idle, &mut self.choices);
        if let Some(variables) = &self.only_at {
            scheduling_point::go_on_at_plain_accesses(&self.agents, last, variables, &mut self.choices);
        }
    }

    /// The end of the execution, if it is at an end here.
    fn end(&self) -> Option<RunOutcome> {
        let events = self.trace.steps.len() as u32;
        let stands = || blocked_state::is_asked_in_deadlock(&self.agents, &self.choices);
        let is_idle = || self.state.idle.rounds >= IDLE && blocked_state::is_idle(&self.agents);
        if self.choices.is_empty() || self.is_capped() || stands() || is_idle() {
            return Some(RunOutcome::Completed(Vec::new()));
        }
        if events < self.limits.events {
            return None;
        }
        let goes_round = self.state.idle.count >= LIVELOCK;
        let failure = goes_round.then(|| blocked_state::livelock(&self.agents));
        Some(RunOutcome::LimitExceeded(Exceeded::Events, failure.into_iter().collect()))
    }

    /// The point at which key points were added, if that is what happened.
    pub(crate) fn promoted(&self) -> Option<Position> {
        self.state.promoted
    }

    /// Whether the threads that were left have had their time.
    pub(crate) fn is_capped(&self) -> bool {
        self.state.termination.after.is_some_and(|since| self.trace.steps.len() >= since.count() + TAIL)
    }

    /// The failures that an execution at its end has shown.
    fn failures(&mut self, run: &mut P::Run) -> Vec<Failure> {
        let mut stack = |thread| -> Vec<Site> { run.stack(thread) };
        if let Some(first) = self.state.failure {
            blocked_state::failed(&self.agents, first, &mut stack)
        } else if self.state.termination.after.is_none() {
            blocked_state::stuck(&self.agents, &self.trace, &mut stack).into_iter().collect()
        } else {
            Vec::new()
        }
    }
}
