//! One execution of a model program.

use smallvec::{SmallVec, smallvec};

use super::code::{Instruction, Operation};
use super::names::site;
use super::sync::{Object, OperationOutcome};
use super::{Model, sync};
use crate::event::agent::{Agent, AgentView, Choice, OpOutcome, Status};
use crate::event::divergence::{Difference, Observation};
use crate::event::failure::{Failure, FailureDetail, FailureKind};
use crate::event::names::{EventId, Site, ThreadName};
use crate::event::position::Position;
use crate::event::refusal::{ImpossibleChoice, UnsupportedFeature};
use crate::event::step::{Event, OpKey, Step};
use crate::event::wait::BlockedOn;
use crate::program::{Batch, Execution, ExecutionError, ExecutionSummary, Scope, Stop, Until};

/// This many instructions without a key point are an endless loop.
const LOCAL_LIMIT: u32 = 100_000;

/// An execution of a [`Model`].
#[derive(Clone, Debug)]
pub struct ModelRun {
    pub(super) model: Model,
    pub(super) objects: Vec<Object>,
    pub(super) threads: Vec<ModelThread>,
    /// Of each piece of code, the thread that runs it.
    pub(super) running: Vec<Option<usize>>,
    /// Threads in creation order, then open timed waits.
    pub(super) views: Vec<AgentView>,
    exited: bool,
    scope: Scope,
}

#[derive(Clone, Debug)]
pub(super) struct ModelThread {
    pub(super) name: ThreadName,
    code: usize,
    at: usize,
    pub(super) registers: SmallVec<[i64; 8]>,
    /// The first half of the present operation is over.
    pub(super) second: Option<u32>,
    events: u32,
    children: u16,
    woken_by: Option<EventId>,
    pub(super) failure: Option<Failure>,
}

impl ModelRun {
    pub(super) fn new(model: Model, scope: Scope) -> Self {
        let objects = model.objects.iter().map(|(_, value)| Object::with(*value)).collect();
        let mut run = Self {
            objects,
            threads: Vec::new(),
            running: vec![None; model.threads.len()],
            views: Vec::new(),
            exited: false,
            model,
            scope,
        };
        for code in 0..run.running.len() {
            if !run.model.threads[code].created {
                let name = if code == 0 { Some(ThreadName::MAIN) } else { run.next_name(0) };
                run.begin(code, name.unwrap_or(ThreadName::MAIN));
            }
        }
        (0..run.threads.len()).for_each(|thread| run.run_to_next_operation(thread));
        // The ability of a thread to run may depend on whether a later one has anything to do at all.
        run.views = (0..run.threads.len()).map(|thread| run.view(thread)).collect();
        run
    }

    fn next_name(&mut self, parent: usize) -> Option<ThreadName> {
        let parent = &mut self.threads[parent];
        parent.children += 1;
        parent.name.child(parent.children)
    }

    fn begin(&mut self, code: usize, name: ThreadName) {
        self.running[code] = Some(self.threads.len());
        let registers = smallvec![0; self.model.threads[code].registers];
        self.threads.push(ModelThread {
            name,
            code,
            at: 0,
            registers,
            second: None,
            events: 0,
            children: 0,
            woken_by: None,
            failure: None,
        });
    }

    pub(super) fn instruction(&self, thread: usize) -> Option<&Instruction> {
        let thread = &self.threads[thread];
        self.model.threads[thread.code].instructions.get(thread.at)
    }

    pub(super) fn operation(&self, thread: usize) -> Option<(&Operation, usize)> {
        match self.instruction(thread) {
            Some(Instruction::Do(operation, register)) => Some((operation, *register)),
            _ => None,
        }
    }

    pub(super) fn site(&self, thread: usize) -> Site {
        site(self.threads[thread].code, self.threads[thread].at)
    }

    /// Runs what is no event, up to the next operation, the end, or a failure.
    fn run_to_next_operation(&mut self, index: usize) {
        let thread = &mut self.threads[index];
        let code = &self.model.threads[thread.code].instructions;
        for _ in 0..LOCAL_LIMIT {
            if thread.failure.is_some() {
                return;
            }
            match code.get(thread.at) {
                None => return,
                Some(Instruction::Do(..)) => return,
                Some(Instruction::Set(register, value)) => {
                    thread.registers[*register] = value.value(&thread.registers);
                    thread.at += 1;
                }
                Some(Instruction::JumpUnless(condition, target)) => {
                    thread.at = if condition.value(&thread.registers) == 0 { *target } else { thread.at + 1 };
                }
                Some(Instruction::Jump(target)) => thread.at = *target,
                Some(Instruction::Assert(condition)) => {
                    if condition.value(&thread.registers) == 0 {
                        thread.fail(FailureKind::Assertion, "an assertion failed".to_owned());
                    } else {
                        thread.at += 1;
                    }
                }
                Some(Instruction::Crash) => thread.fail(FailureKind::Crash, "the thread crashed".to_owned()),
            }
        }
        thread.fail(FailureKind::Timeout, "the thread runs for ever without a key point".to_owned());
    }

    fn index(&self, name: ThreadName) -> Option<usize> {
        self.threads.iter().position(|thread| thread.name == name)
    }

    /// Runs one event.
    fn step(&mut self, choice: Choice, at_next: bool) -> Result<Step, ExecutionError> {
        let impossible = || ImpossibleChoice::NotEnabled(choice.agent);
        let view = self.views.iter().find(|view| view.agent == choice.agent);
        let view = view.ok_or(ImpossibleChoice::NoAgent(choice.agent))?;
        if view.status != Status::Enabled || !view.outcomes.contains(&choice.outcome) {
            return Err(impossible().into());
        }
        let op = view.pending.clone().ok_or_else(impossible)?;
        let site = view.site;
        let index = self.index(choice.agent.thread()).ok_or_else(impossible)?;
        let thread = &mut self.threads[index];
        let id = EventId { thread: thread.name, index: thread.events };
        thread.events += 1;
        let mut event = Event {
            id,
            did: op.may.clone(),
            op,
            outcome: choice.outcome,
            site,
            woken_by: None,
            timing: None,
        };
        match choice.agent {
            Agent::Timeout(_) => self.time_out(index),
            Agent::Thread(_) | Agent::Flush(_) => self.act(index, &mut event)?,
        }
        if !at_next && !event.op.kind.may_let_go(self.somebody_waits()) {
            self.run_along(index)?;
        }
        Ok(Step { event, changed: self.refresh(), process_ended: self.exited })
    }

    fn somebody_waits(&self) -> bool {
        let has_limit = |view: &AgentView| view.pending.as_ref().is_some_and(|op| op.limit.is_some());
        let awaits = |view: &AgentView| matches!(view.status, Status::Blocked(BlockedOn::Await(_)));
        self.views.iter().any(|view| awaits(view) || has_limit(view))
    }

    /// Runs the accesses of a thread that the scope leaves out.
    fn run_along(&mut self, index: usize) -> Result<(), ExecutionError> {
        for _ in 0..LOCAL_LIMIT {
            let AgentView { status, pending, site, .. } = self.view(index);
            let Some(op) = pending.filter(|op| status == Status::Enabled && self.scope.leaves_out(op)) else {
                return Ok(());
            };
            let id = EventId { thread: self.threads[index].name, index: self.threads[index].events };
            let did = op.may.clone();
            self.act(
                index,
                &mut Event { id, op, did, outcome: OpOutcome::Only, site, woken_by: None, timing: None },
            )?;
        }
        let message = "the thread runs for ever without a key point".to_owned();
        self.threads[index].fail(FailureKind::Timeout, message);
        Ok(())
    }

    fn time_out(&mut self, index: usize) {
        let Some((operation, register)) = self.operation(index) else { return };
        match *operation {
            Operation::Wait { cond, .. } => {
                self.objects[cond].forget_waiter(index);
                self.threads[index].registers[register] = 0;
            }
            _ => {
                self.threads[index].registers[register] = 0;
                self.advance(index);
            }
        }
    }

    fn act(&mut self, index: usize, event: &mut Event) -> Result<(), ExecutionError> {
        let signalled = match event.outcome {
            OpOutcome::Wake(name) => self.index(name),
            OpOutcome::Only | OpOutcome::Value(_) => None,
        };
        let second = self.threads[index].second;
        event.woken_by = if second.is_some() { self.threads[index].woken_by.take() } else { None };
        let ModelThread { code, at, registers, .. } = &self.threads[index];
        let code = &self.model.threads[*code].instructions;
        let Some(Instruction::Do(operation, register)) = code.get(*at) else {
            return Err(ImpossibleChoice::NoOperation(Agent::Thread(self.threads[index].name)).into());
        };
        let register = *register;
        let created = if let Operation::Create(code) = operation { Some(*code) } else { None };
        let end = (*operation == Operation::Exit).then_some(code.len());
        let done = sync::execute(operation, second, index, registers, signalled, &mut self.objects);
        let OperationOutcome { did, result, first_half, woken, failure } = done;
        if let Some(did) = did {
            event.did = did;
        }
        woken.into_iter().for_each(|waiter| self.threads[waiter].woken_by = Some(event.id));
        if let Some(code) = created {
            event.op.peer = Some(self.create(index, code)?);
        }
        let thread = &mut self.threads[index];
        if let Some(result) = result {
            thread.registers[register] = result;
        }
        thread.second = first_half;
        match failure {
            Some((kind, message)) => thread.fail(kind, message),
            None if first_half.is_none() => self.advance(index),
            None => {}
        }
        if let Some(end) = end {
            // The process has ended: the thread does nothing more.
            self.threads[index].at = end;
            self.exited = true;
        }
        Ok(())
    }

    fn create(&mut self, parent: usize, code: usize) -> Result<ThreadName, ExecutionError> {
        if self.running[code].is_some() {
            return Err(UnsupportedFeature::CreatedTwice.into());
        }
        let name = self.next_name(parent);
        let name = name.ok_or(UnsupportedFeature::NestedThreads)?;
        self.begin(code, name);
        self.run_to_next_operation(self.threads.len() - 1);
        Ok(name)
    }

    fn advance(&mut self, index: usize) {
        self.threads[index].at += 1;
        self.threads[index].second = None;
        self.run_to_next_operation(index);
    }

    /// The reason for which a batch ends here, if it does.
    fn stop(&self, choice: Choice, until: &Until, events: usize) -> Option<Stop> {
        let view = |agent| self.views.iter().find(|view| view.agent == agent);
        let status = |agent| view(agent).map(|view| &view.status);
        let mine = status(choice.agent).unwrap_or(&Status::Finished);
        let touches = || {
            let pending = view(choice.agent)?.pending.as_ref()?;
            let touched = |obj| pending.may.accesses.iter().any(|access| access.obj.overlaps(obj));
            until.on_objects.iter().any(touched).then_some(())
        };
        if self.threads.iter().any(|thread| thread.failure.is_some()) {
            Some(Stop::Failed)
        } else if *mine == Status::Finished {
            Some(Stop::Finished)
        } else if *mine != Status::Enabled || view(choice.agent).is_some_and(AgentView::gives_way) {
            Some(Stop::Blocked)
        } else if until.on_enabled.iter().any(|&agent| status(agent) == Some(&Status::Enabled)) {
            Some(Stop::Enabled)
        } else if touches().is_some() {
            Some(Stop::Object)
        } else {
            (events >= until.events as usize).then_some(Stop::Quantum)
        }
    }
}

impl ModelThread {
    /// It fails, with these words of the program's.
    fn fail(&mut self, kind: FailureKind, words: String) {
        let stack = vec![site(self.code, self.at)];
        self.failure = Some(Failure::of_thread(kind, FailureDetail::Said(words), self.name, stack));
    }
}

impl Execution for ModelRun {
    fn agents(&self) -> &[AgentView] {
        &self.views
    }

    fn run(&mut self, mut choice: Choice, until: &Until) -> Result<Batch, ExecutionError> {
        let mut steps = Vec::new();
        loop {
            steps.push(self.step(choice, until.at_next)?);
            if let Some(stop) = self.stop(choice, until, steps.len()) {
                return Ok(Batch { steps, stop });
            }
            let next = self.views.iter().find(|view| view.agent == choice.agent);
            choice.outcome = next.map_or(OpOutcome::Only, |view| view.outcomes[0]);
        }
    }

    fn replay(&mut self, steps: &[(Choice, OpKey)]) -> Result<Batch, ExecutionError> {
        let mut done = Vec::with_capacity(steps.len());
        let mut stop = Stop::Quantum;
        for (at, (choice, expected)) in steps.iter().enumerate() {
            let view = self.views.iter().find(|view| view.agent == choice.agent);
            let got =
                view.and_then(|view| Some(OpKey { kind: view.pending.as_ref()?.kind, site: view.site }));
            let thread = choice.agent.thread();
            let diverged = |got: Observation| {
                let expected = Observation::operation(thread, expected);
                ExecutionError::Diverged(Box::new(Difference { at: Position::after(at), expected, got }))
            };
            if got.as_ref() != Some(expected) {
                return Err(diverged(match got {
                    Some(key) => Observation::operation(thread, &key),
                    None => Observation::NoAgent(choice.agent),
                }));
            }
            let step = match self.step(*choice, false) {
                Err(ExecutionError::Impossible(why)) => return Err(diverged(Observation::Impossible(why))),
                step => step?,
            };
            done.push(step);
            stop = self.stop(*choice, &Until::one(), 1).unwrap_or(Stop::Quantum);
        }
        Ok(Batch { steps: done, stop })
    }

    fn stack(&mut self, thread: ThreadName) -> Vec<Site> {
        self.index(thread).map(|index| vec![self.site(index)]).unwrap_or_default()
    }

    fn finish(self) -> ExecutionSummary {
        ExecutionSummary { hidden: Some(Vec::new()), ..ExecutionSummary::default() }
    }
}
