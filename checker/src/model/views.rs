//! The views of the agents of a model execution, as they look from outside.

use smallvec::{SmallVec, smallvec};

use super::code::Operation;
use super::run::ModelRun;
use super::sync;
use crate::event::agent::{Agent, AgentView, OpOutcome, Status};
use crate::event::names::ThreadName;
use crate::event::operation::Op;
use crate::event::wait::BlockedOn;

impl ModelRun {
    fn status(&self, index: usize) -> Status {
        let thread = &self.threads[index];
        if let Some(failure) = &thread.failure {
            return Status::Failed(failure.clone());
        }
        let Some((operation, register)) = self.operation(index) else { return Status::Finished };
        if let Operation::Join(code) = operation {
            return self.join_status(*code);
        }
        let seen = thread.registers.get(register).copied().unwrap_or(0);
        let name = |other: usize| self.threads[other].name;
        let on = sync::blocked(operation, thread.second, index, seen, &self.objects, name);
        on.map_or(Status::Enabled, Status::Blocked)
    }

    fn join_status(&self, code: usize) -> Status {
        match self.running[code] {
            Some(target) if self.has_finished(target) => Status::Enabled,
            Some(target) => Status::Blocked(BlockedOn::Join(self.threads[target].name)),
            // Joining what does not exist fails at once, and the program ignores it.
            None => Status::Enabled,
        }
    }

    fn has_finished(&self, thread: usize) -> bool {
        self.threads[thread].failure.is_none() && self.instruction(thread).is_none()
    }

    fn pending(&self, index: usize) -> Option<Op> {
        let thread = &self.threads[index];
        let (operation, _) = self.operation(index).filter(|_| thread.failure.is_none())?;
        let generation = match operation {
            Operation::Barrier { barrier, .. } => self.objects[*barrier].generation,
            _ => 0,
        };
        let mut op = operation.pending(thread.second, generation);
        if let Operation::TimedLock(_) = operation {
            op.limit = operation.timeout().map(|timeout| timeout.may);
        }
        if let Operation::Join(code) = operation {
            op.peer = self.running[*code].map(|target| self.threads[target].name);
        }
        Some(op)
    }

    fn outcomes(&self, index: usize) -> SmallVec<[OpOutcome; 1]> {
        match self.operation(index) {
            Some((Operation::Signal(cond), _)) if !self.objects[*cond].waiters().is_empty() => {
                let mut names: SmallVec<[ThreadName; 4]> =
                    self.objects[*cond].waiters().iter().map(|&waiter| self.threads[waiter].name).collect();
                names.sort_unstable();
                names.into_iter().map(OpOutcome::Wake).collect()
            }
            _ => smallvec![OpOutcome::Only],
        }
    }

    pub(super) fn view(&self, index: usize) -> AgentView {
        AgentView {
            agent: Agent::Thread(self.threads[index].name),
            status: self.status(index),
            pending: self.pending(index),
            site: self.site(index),
            outcomes: self.outcomes(index),
        }
    }

    /// The open timed wait of a thread.
    fn timeout_view(&self, index: usize) -> Option<AgentView> {
        let thread = &self.threads[index];
        let (operation, _) = self.operation(index).filter(|_| thread.failure.is_none())?;
        let op = operation.timeout()?;
        let open = match operation {
            Operation::Wait { cond, .. } => self.objects[*cond].has_waiter(index),
            Operation::TimedLock(mutex) => self.objects[*mutex].owner.is_some(),
            _ => false,
        };
        open.then(|| AgentView {
            agent: Agent::Timeout(thread.name),
            status: Status::Enabled,
            pending: Some(op),
            site: self.site(index),
            outcomes: smallvec![OpOutcome::Only],
        })
    }

    /// Brings the views up to date and returns those that changed.
    pub(super) fn refresh(&mut self) -> SmallVec<[AgentView; 2]> {
        let mut changed = SmallVec::new();
        for index in 0..self.threads.len() {
            let fresh = self.view(index);
            match self.views.get(index) {
                Some(old) if *old == fresh => {}
                Some(old) if matches!(old.agent, Agent::Thread(_)) => {
                    self.views[index] = fresh.clone();
                    changed.push(fresh);
                }
                _ => {
                    self.views.insert(index, fresh.clone());
                    changed.push(fresh);
                }
            }
        }
        self.refresh_timeouts(&mut changed);
        changed
    }

    fn refresh_timeouts(&mut self, changed: &mut SmallVec<[AgentView; 2]>) {
        for index in 0..self.threads.len() {
            let agent = Agent::Timeout(self.threads[index].name);
            let known = self.views.iter().position(|view| view.agent == agent);
            match (known, self.timeout_view(index)) {
                (Some(at), None) => {
                    let mut closed = self.views.remove(at);
                    closed.status = Status::Finished;
                    closed.pending = None;
                    changed.push(closed);
                }
                (None, Some(open)) => {
                    self.views.push(open.clone());
                    changed.push(open);
                }
                (Some(at), Some(open)) if self.views[at] != open => {
                    self.views[at] = open.clone();
                    changed.push(open);
                }
                _ => {}
            }
        }
    }
}
