//! The loop's own copy of an execution's agents, kept up to date from what each step says that it changed.

use crate::event::agent::{Agent, AgentView, Status};
use crate::event::names::ThreadName;

/// All agents as they stand.
#[derive(Clone, Debug, Default)]
pub struct AgentTable {
    /// Every thread, in creation order.
    threads: Vec<AgentView>,
    /// Open timed waits and store buffers, in the order in which they came.
    others: Vec<AgentView>,
}

impl AgentTable {
    /// Starts over with the agents of a fresh execution.
    pub fn start(&mut self, views: &[AgentView]) {
        self.threads.clear();
        self.others.clear();
        views.iter().for_each(|view| self.apply(view.clone()));
    }

    /// Takes in one changed view.
    pub fn apply(&mut self, view: AgentView) {
        let list = match view.agent {
            Agent::Thread(_) => &mut self.threads,
            Agent::Timeout(_) | Agent::Flush(_) => &mut self.others,
        };
        let known = list.iter().position(|old| old.agent == view.agent);
        let closed = !matches!(view.agent, Agent::Thread(_)) && view.status == Status::Finished;
        match known {
            Some(at) if closed => drop(list.remove(at)),
            Some(at) => list[at] = view,
            None if closed => {}
            None => list.push(view),
        }
    }

    /// Every thread, in creation order.
    #[must_use]
    pub fn threads(&self) -> &[AgentView] {
        &self.threads
    }

    /// Open timed waits and store buffers.
    #[must_use]
    pub fn others(&self) -> &[AgentView] {
        &self.others
    }

    /// A thread's place in creation order.
    #[must_use]
    pub fn index(&self, name: ThreadName) -> Option<usize> {
        self.threads.iter().position(|view| view.agent == Agent::Thread(name))
    }

    /// A thread.
    #[must_use]
    pub fn thread(&self, name: ThreadName) -> Option<&AgentView> {
        self.threads.iter().find(|view| view.agent == Agent::Thread(name))
    }

    /// Any agent.
    #[must_use]
    pub fn agent(&self, agent: Agent) -> Option<&AgentView> {
        match agent {
            Agent::Thread(name) => self.thread(name),
            Agent::Timeout(_) | Agent::Flush(_) => self.others.iter().find(|view| view.agent == agent),
        }
    }

    /// Whether this is what the execution itself says.
    #[must_use]
    pub fn agrees(&self, views: &[AgentView]) -> bool {
        let live =
            |view: &&AgentView| matches!(view.agent, Agent::Thread(_)) || view.status != Status::Finished;
        let (threads, others): (Vec<&AgentView>, Vec<&AgentView>) =
            views.iter().filter(live).partition(|view| matches!(view.agent, Agent::Thread(_)));
        threads.into_iter().eq(&self.threads)
            && others.len() == self.others.len()
            && others.into_iter().all(|view| self.others.contains(view))
    }
}
