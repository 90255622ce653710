//! Executions that have run are known: the outcome of the same choices is told again, without running them.
//!
//! An execution is a function of its choices ([`crate::program`], clause 3), and the stages of an explanation come to the same
//! schedules again and again: a program of two threads with four events each has 70 of them, and hundreds of experiments. So
//! they are kept as a tree, in which a path from the root is a sequence of choices, and each edge what an event has shown. An
//! execution follows its path for as long as there is one; where it leaves the tree the program is started, runs the choices up
//! to there at once, and goes on, and the tree grows by what comes.
//!
//! Confirming a schedule takes an execution that runs, which [`KnownExecutions::program`] has.

#[cfg(test)]
mod tests;
mod tree;

use std::sync::{Mutex, MutexGuard, PoisonError};

use delegate::delegate;

use self::tree::{ExecutionTree, LONGEST, Node};
use crate::event::agent::{AgentView, Choice};
use crate::event::divergence::{Difference, Observation};
use crate::event::failure::Failure;
use crate::event::names::{Obj, Site, ThreadName};
use crate::event::object_description::ObjectDescription;
use crate::event::position::Position;
use crate::event::refusal::ImpossibleChoice;
use crate::event::step::{OpKey, Step};
use crate::program::{
    Batch, Epoch, Execution, ExecutionError, ExecutionSummary, Program, Scope, StartError, Stop, Until,
};
use crate::trace::Trace;

/// A program, and what is known of its executions.
pub(super) struct KnownExecutions<'a, P> {
    program: &'a P,
    tree: &'a Mutex<ExecutionTree>,
}

impl<'a, P: Program> KnownExecutions<'a, P> {
    pub(super) fn new(program: &'a P, tree: &'a Mutex<ExecutionTree>) -> Self {
        Self { program, tree }
    }

    /// The program itself, whose executions all run.
    pub(super) fn program(&self) -> &'a P {
        self.program
    }

    /// The number of executions that were told without a start.
    pub(super) fn recalled(&self) -> u64 {
        lock(self.tree).recalled
    }
}

fn lock(tree: &Mutex<ExecutionTree>) -> MutexGuard<'_, ExecutionTree> {
    tree.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a, P: Program> Program for KnownExecutions<'a, P> {
    type Run = KnownRun<'a, P>;

    fn start(&self, scope: &Scope) -> Result<Self::Run, StartError> {
        let Self { program, tree } = *self;
        let mut run = KnownRun {
            program,
            tree,
            state: RunState::Lost,
            agents: Vec::new(),
            at: None,
            ran: Vec::new(),
            depth: 0,
        };
        let epoch = program.epoch();
        if *scope != Scope::All {
            run.state = RunState::Running(program.start(scope)?);
            return Ok(run);
        }
        run.at = Some(0);
        {
            let known = lock(tree);
            if known.epoch == epoch && !known.nodes.is_empty() {
                (run.state, run.agents) = (RunState::Recalled, known.agents.clone());
                return Ok(run);
            }
        }
        let real = program.start(scope)?;
        *lock(tree) = ExecutionTree {
            epoch,
            agents: real.agents().to_vec(),
            nodes: vec![Node::default()],
            recalled: self.recalled(),
        };
        run.state = RunState::Running(real);
        Ok(run)
    }

    delegate! {
        to self.program {
            fn epoch(&self) -> Epoch;
            fn describe(&self, obj: Obj) -> Option<ObjectDescription>;
            fn is_reference_count(&self, obj: Obj) -> bool;
            fn needs_audit(&self, trace: &Trace) -> bool;
            fn attribute(&self, failure: &mut Failure, trace: &Trace, summary: &ExecutionSummary) -> u64;
        }
    }
}

/// An execution, which is told for as long as it is known.
pub(super) struct KnownRun<'a, P: Program> {
    program: &'a P,
    tree: &'a Mutex<ExecutionTree>,
    state: RunState<P::Run>,
    /// The agents as they stand, while it is told.
    agents: Vec<AgentView>,
    /// Its place in the tree; `None` where what comes is not kept.
    at: Option<usize>,
    /// The events so far, while it is told.
    ran: Vec<(Choice, OpKey)>,
    /// The number of events that are known or kept.
    depth: usize,
}

enum RunState<R> {
    /// It is told.
    Recalled,
    /// It runs.
    Running(R),
    /// It was told, and did not come out like that again.
    Lost,
}

impl<P: Program> KnownRun<'_, P> {
    /// The event of a choice, if it is known what comes of it.
    fn recall(&mut self, choice: Choice, wanted: Option<&OpKey>) -> Option<(Step, Stop)> {
        if !matches!(self.state, RunState::Recalled) {
            return None;
        }
        let known = lock(self.tree);
        let edge = known.edge(self.at?, choice)?;
        let step = edge.step();
        let key = OpKey { kind: step.event.op.kind, site: step.event.site };
        if wanted.is_some_and(|wanted| *wanted != key) {
            return None;
        }
        self.at = Some(edge.to);
        self.ran.push((choice, key));
        self.depth += 1;
        for view in &step.changed {
            match self.agents.iter_mut().find(|known| known.agent == view.agent) {
                Some(known) => known.clone_from(view),
                None => self.agents.push(view.clone()),
            }
        }
        Some((step, edge.stop))
    }

    /// The execution itself, which has come as far as what was told.
    fn running(&mut self) -> Result<&mut P::Run, ExecutionError> {
        if matches!(self.state, RunState::Recalled) {
            self.state = RunState::Lost;
            let mut run = self.program.start(&Scope::All).map_err(|error| match error {
                StartError::Cancelled => ExecutionError::Cancelled,
                StartError::OutOfTime => ExecutionError::OutOfTime,
                StartError::Failed(error) => ExecutionError::Backend(error),
            })?;
            let caught_up = if self.ran.is_empty() { Ok(()) } else { run.replay(&self.ran).map(drop) };
            let difference = difference(&self.agents, run.agents(), self.ran.len());
            if let Err(error) = caught_up.and(difference.map_or(Ok(()), Err)) {
                run.finish();
                // Other executions may have changed as well.
                lock(self.tree).nodes.clear();
                return Err(error);
            }
            self.state = RunState::Running(run);
        }
        match &mut self.state {
            RunState::Running(run) => Ok(run),
            RunState::Recalled | RunState::Lost => Err(ImpossibleChoice::Over.into()),
        }
    }

    /// Keeps what has run, one event for each choice, unless key points were found.
    fn keep(&mut self, choices: impl Iterator<Item = Choice>, batch: &Batch) {
        let mut known = lock(self.tree);
        if batch.stop == Stop::Promoted || self.program.epoch() != known.epoch {
            self.at = None;
        }
        for (nth, (choice, step)) in choices.zip(&batch.steps).enumerate() {
            let Some(at) = self.at else { return };
            let stop = if nth + 1 == batch.steps.len() { batch.stop } else { Stop::Quantum };
            self.depth += 1;
            self.at = if self.depth > LONGEST { None } else { known.add(at, choice, (step, stop)) };
        }
    }
}

/// The first agent whose pending operation after so many events is not the one that was told.
fn difference(told: &[AgentView], agents: &[AgentView], events: usize) -> Option<ExecutionError> {
    let key = |view: &AgentView| Some(OpKey { kind: view.pending.as_ref()?.kind, site: view.site });
    told.iter().find_map(|view| {
        let expected = key(view)?;
        let got = agents.iter().find(|other| other.agent == view.agent).and_then(key);
        let seen = match &got {
            Some(got) if *got == expected => return None,
            Some(got) => Observation::operation(view.agent.thread(), got),
            None => Observation::NoAgent(view.agent),
        };
        Some(ExecutionError::Diverged(Box::new(Difference {
            at: Position::after(events),
            expected: Observation::operation(view.agent.thread(), &expected),
            got: seen,
        })))
    })
}

impl<P: Program> Execution for KnownRun<'_, P> {
    fn agents(&self) -> &[AgentView] {
        match &self.state {
            RunState::Running(run) => run.agents(),
            RunState::Recalled | RunState::Lost => &self.agents,
        }
    }

    fn run(&mut self, choice: Choice, until: &Until) -> Result<Batch, ExecutionError> {
        let is_one = *until == Until::one();
        if is_one && let Some((step, stop)) = self.recall(choice, None) {
            return Ok(Batch { steps: vec![step], stop });
        }
        let batch = self.running()?.run(choice, until);
        match &batch {
            Ok(batch) if is_one && batch.steps.len() == 1 => self.keep(std::iter::once(choice), batch),
            _ => self.at = None,
        }
        batch
    }

    fn replay(&mut self, steps: &[(Choice, OpKey)]) -> Result<Batch, ExecutionError> {
        let mut told = Batch { steps: Vec::new(), stop: Stop::Quantum };
        for (choice, key) in steps {
            let Some((step, stop)) = self.recall(*choice, Some(key)) else { break };
            told.steps.push(step);
            told.stop = stop;
        }
        let rest = &steps[told.steps.len()..];
        if rest.is_empty() {
            return Ok(told);
        }
        let batch = self.running()?.replay(rest).map_err(|error| error.later_by(told.steps.len()));
        match &batch {
            Ok(batch) if batch.steps.len() == rest.len() => {
                self.keep(rest.iter().map(|(choice, _)| *choice), batch);
            }
            _ => self.at = None,
        }
        let batch = batch?;
        told.steps.extend(batch.steps);
        Ok(Batch { stop: batch.stop, ..told })
    }

    fn stack(&mut self, thread: ThreadName) -> Vec<Site> {
        if let (RunState::Recalled, Some(at)) = (&self.state, self.at) {
            let known = lock(self.tree);
            if let Some((_, stack)) = known.nodes[at].stacks.iter().find(|(of, _)| *of == thread) {
                return stack.clone();
            }
        }
        let Ok(run) = self.running() else { return Vec::new() };
        let stack = run.stack(thread);
        if let Some(at) = self.at {
            lock(self.tree).nodes[at].stacks.push((thread, stack.clone()));
        }
        stack
    }

    fn finish(mut self) -> ExecutionSummary {
        if let (RunState::Recalled, Some(at)) = (&self.state, self.at) {
            let mut known = lock(self.tree);
            if let Some(summary) = known.nodes[at].summary.clone() {
                known.recalled += 1;
                return *summary;
            }
        }
        _ = self.running();
        let RunState::Running(run) = self.state else {
            // Another outcome of the same choices: it depends on more than the order of events.
            return ExecutionSummary { left_out: true, ..ExecutionSummary::default() };
        };
        let summary = run.finish();
        let mut known = lock(self.tree);
        if let Some(at) = self.at.filter(|_| self.program.epoch() == known.epoch) {
            known.nodes[at].summary = Some(Box::new(summary.clone()));
        }
        summary
    }
}
