//! One execution of a real process, as the checker sees it.

use std::sync::Arc;

use checker::account::{Unwatched, UnwatchedKind};
use checker::divergence::{Difference, Observation};
use checker::failure::FailureKind;
use checker::names::{Site, ThreadName};
use checker::peculiarity::Peculiarity;
use checker::position::Position;
use checker::program::{
    Agent, AgentView, Batch, BlockedOn, Choice, Event, Execution, ExecutionError, ExecutionSummary, OpKey,
    Scope, Status, Step, Stop, Until,
};
use checker::refusal::ImpossibleChoice;
use smallvec::SmallVec;

use crate::control::enabled::Waiter;
use crate::control::memory::hidden;
use crate::control::process::Process;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::stacks;
use crate::control::views;
use crate::target::streams::Streams;

/// After new key points were found, an execution goes on for so many events to find more of them at once.
const FURTHER: u32 = 3000;

/// A copy of the program under control.
pub struct PtraceExecution {
    process: Process,
    streams: Arc<Streams>,
    views: Vec<AgentView>,
}

impl PtraceExecution {
    /// Takes over a copy and lets its main thread run to the first key point.
    pub(crate) fn new(mut process: Process, streams: Arc<Streams>) -> Result<Self, ExecutionError> {
        process.advance(ThreadIndex::MAIN)?;
        let views = views::views(
            &process.tracee,
            &mut process.scheduling,
            &process.objects,
            &process.memory,
            Waiter::Thread(ThreadIndex::MAIN),
        );
        Ok(Self { process, streams, views })
    }

    fn index(&self, thread: ThreadName) -> Option<ThreadIndex> {
        self.process.scheduling.threads.position(|t| t.name == thread)
    }

    fn view(&self, agent: Agent) -> Option<&AgentView> {
        self.views.iter().find(|view| view.agent == agent)
    }

    /// Runs one event.
    fn one(&mut self, choice: Choice) -> Result<Step, ExecutionError> {
        let view = self.view(choice.agent).ok_or(ImpossibleChoice::NoAgent(choice.agent))?;
        if view.status != Status::Enabled {
            return Err(ImpossibleChoice::NotEnabled(choice.agent).into());
        }
        let (event, mover) = self.process.run(choice)?;
        let process_ended = self.process.is_over();
        Ok(Step { event, changed: self.refresh(mover), process_ended })
    }

    /// Looks at all agents again after an event of this one, and returns the views that are different now.
    fn refresh(&mut self, mover: Waiter) -> SmallVec<[AgentView; 2]> {
        let new = views::views(
            &self.process.tracee,
            &mut self.process.scheduling,
            &self.process.objects,
            &self.process.memory,
            mover,
        );
        // Most stand where they stood before.
        let find = |views: &[AgentView], at: usize, agent: Agent| {
            let same = views.get(at).is_some_and(|view| view.agent == agent).then_some(at);
            same.or_else(|| views.iter().position(|view| view.agent == agent))
        };
        let is_new = |(at, view): &(usize, &AgentView)| {
            find(&self.views, *at, view.agent).is_none_or(|old| self.views[old] != **view)
        };
        let changed = new.iter().enumerate().filter(is_new).map(|(_, view)| view.clone());
        let mut changed: SmallVec<[AgentView; 2]> = changed.collect();
        let closed = self.views.iter().enumerate();
        let closed = closed.filter(|(at, old)| find(&new, *at, old.agent).is_none()).map(|(_, old)| old);
        changed.extend(closed.map(|old| AgentView {
            status: Status::Finished,
            pending: None,
            outcomes: SmallVec::new(),
            ..old.clone()
        }));
        self.views = new;
        changed
    }

    /// The reason for which a batch has to end after this step, if there is one.
    fn stop(&self, agent: Agent, until: &Until, step: &Step) -> Option<Stop> {
        if step.changed.iter().any(|view| matches!(view.status, Status::Failed(_))) {
            return Some(Stop::Failed);
        }
        if self.process.memory.has_learnt() {
            return Some(Stop::Promoted);
        }
        let Some(view) = self.view(agent) else { return Some(Stop::Finished) };
        match view.status {
            Status::Finished | Status::Failed(_) => return Some(Stop::Finished),
            Status::Blocked(_) => return Some(Stop::Blocked),
            Status::Enabled if view.gives_way() => return Some(Stop::Blocked),
            Status::Enabled => {}
        }
        let enabled = |view: &AgentView| {
            matches!(view.status, Status::Enabled) && until.on_enabled.contains(&view.agent)
        };
        if step.changed.iter().any(enabled) {
            return Some(Stop::Enabled);
        }
        let touched = |view: &AgentView| {
            view.pending
                .iter()
                .flat_map(|op| &op.may.accesses)
                .any(|a| until.on_objects.iter().any(|obj| obj.overlaps(&a.obj)))
        };
        touched(view).then_some(Stop::Object)
    }

    /// Runs on by default choices, to find as many new key points as this execution has.
    fn explore_further(&mut self) {
        let mut last: Option<Agent> = None;
        for _ in 0..FURTHER {
            // The knowledge gained by now depends on no clock, unless the search ends anyway.
            if self.process.tracee.is_to_end() {
                return;
            }
            let can_move = |v: &&AgentView| v.status == Status::Enabled;
            let goes_on = |v: &&AgentView| can_move(v) && !v.gives_way();
            let stay = last.and_then(|agent| self.view(agent)).filter(goes_on);
            let next = stay.or_else(|| self.views.iter().find(goes_on));
            let other = |v: &&AgentView| can_move(v) && Some(v.agent) != last;
            let next = next.or_else(|| self.views.iter().find(other));
            let Some(view) = next.or_else(|| self.views.iter().find(can_move)) else { return };
            let choice =
                Choice { agent: view.agent, outcome: view.outcomes.first().copied().unwrap_or_default() };
            last = Some(choice.agent);
            if self.one(choice).is_err() {
                return;
            }
        }
    }
}

impl Execution for PtraceExecution {
    fn agents(&self) -> &[AgentView] {
        &self.views
    }

    fn run(&mut self, choice: Choice, until: &Until) -> Result<Batch, ExecutionError> {
        let mut steps = Vec::with_capacity(1);
        let mut choice = choice;
        loop {
            self.process.memory.stops_next = until.at_next;
            let step = self.one(choice)?;
            let stop = self.stop(choice.agent, until, &step);
            steps.push(step);
            if let Some(stop) = stop {
                return Ok(Batch { steps, stop });
            }
            let outcomes = self.view(choice.agent).map(|view| &view.outcomes);
            // A choice of its own is needed where the next operation can go several ways.
            if steps.len() as u32 >= until.events || outcomes.is_none_or(|outcomes| outcomes.len() != 1) {
                return Ok(Batch { steps, stop: Stop::Quantum });
            }
            choice.outcome = outcomes.and_then(|outcomes| outcomes.first().copied()).unwrap_or_default();
        }
    }

    fn replay(&mut self, expected: &[(Choice, OpKey)]) -> Result<Batch, ExecutionError> {
        let mut batch = Batch { steps: Vec::with_capacity(expected.len()), stop: Stop::Quantum };
        for (at, (choice, key)) in expected.iter().enumerate() {
            let thread = choice.agent.thread();
            let diverged = |got: Observation| {
                let expected = Observation::operation(thread, key);
                ExecutionError::Diverged(Box::new(Difference { at: Position::after(at), expected, got }))
            };
            let pending = self
                .view(choice.agent)
                .and_then(|view| Some(OpKey { kind: view.pending.as_ref()?.kind, site: view.site }));
            match pending {
                Some(pending) if pending == *key => {}
                Some(pending) => return Err(diverged(Observation::operation(thread, &pending))),
                None => return Err(diverged(Observation::NoAgent(choice.agent))),
            }
            let step = self.one(*choice).map_err(|error| match error {
                ExecutionError::Impossible(why) => diverged(Observation::Impossible(why)),
                other => other,
            })?;
            let stop = self.stop(choice.agent, &Until::one(), &step);
            batch.steps.push(step);
            batch.stop = stop.unwrap_or(Stop::Quantum);
            if batch.stop == Stop::Promoted {
                break;
            }
        }
        Ok(batch)
    }

    fn stack(&mut self, thread: ThreadName) -> Vec<Site> {
        let index = self.index(thread).filter(|&index| !self.process.tracee.tasks[index].reaped);
        index.map(|index| stacks::stack(&self.process.tracee, index)).unwrap_or_default()
    }

    fn finish(mut self) -> ExecutionSummary {
        let (stdout, stderr, truncated) = self.streams.output();
        if self.streams.flooded() {
            self.process.account.note(Peculiarity::FloodsOutput);
        }
        // The rest of an execution that was stopped is unknown.
        let goes_on = |view: &AgentView| match &view.status {
            Status::Enabled => true,
            Status::Failed(failure) => failure.kind == FailureKind::Timeout,
            Status::Blocked(_) | Status::Finished => false,
        };
        let has_ended = !self.views.iter().any(goes_on);
        self.process.note_client(has_ended);
        // Processes that run side by side have more schedules than one.
        let has_others = [Peculiarity::StartsProcesses, Peculiarity::ReplacesItself];
        let has_others = has_others.iter().any(|it| self.process.account.notes.contains(it));
        if !self.process.tracee.concurrent && has_ended && !has_others {
            self.process.account.note(Peculiarity::OneThread);
        }
        let is_idle = !self.views.iter().any(AgentView::has_work);
        if is_idle
            && self.process.may_lack_input()
            && self.views.iter().any(|view| matches!(view.status, Status::Blocked(BlockedOn::Outside(_))))
        {
            self.process.account.enter_unwatched(Unwatched::of(UnwatchedKind::OutsideInput));
        }
        let waits = || self.views.iter().any(|view| view.status == Status::Blocked(BlockedOn::Process));
        if let Some(function) = self.process.tracee.started_by
            && (self.process.tracee.starts_own_program
                || self.process.tracee.children_have_external_effects
                || waits())
        {
            self.process.account.enter_unwatched(Unwatched::call(UnwatchedKind::Task, function));
        }
        let notes = self.process.account.notes.clone();
        let unwatched = std::mem::take(&mut self.process.account.unwatched);
        let store_buffers = std::mem::take(&mut self.process.account.store_buffers);
        let hidden = hidden::take(&mut self.process.memory);
        if self.process.memory.has_learnt() {
            self.explore_further();
        } else {
            let Process { tracee, scheduling, memory, .. } = &self.process;
            tracee.knowledge.settle_own(scheduling.accesses, memory.scope == Scope::Audit);
        }
        self.process.tracee.kill();
        let left_out = self.process.account.left_out;
        ExecutionSummary { stdout, stderr, truncated, notes, left_out, unwatched, store_buffers, hidden }
    }
}

/// An event is small enough to be kept by the hundred thousand.
const _: () = assert!(size_of::<Event>() < 512);
