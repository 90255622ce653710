//! The length of time for which an execution has gone on without progress.

use crate::event::agent::{Agent, AgentView, Choice, Status};
use crate::event::names::ThreadName;
use crate::event::operation::OpKind;
use crate::event::recorded::TraceEvent;
use crate::trace::Previous;

/// Yields since anything was written, all of them where no other thread could move; and expirations of timers likewise.
#[derive(Clone, Debug, Default)]
pub(super) struct Idle {
    pub(super) count: u32,
    /// The number of times that time has passed for a thread or a timer, whatever it wrote in between, because no other thread
    /// could move.
    pub(super) rounds: u32,
    /// The thread whose wait the last expiry of a timer has ended.
    rung: Option<ThreadName>,
}

impl Idle {
    /// Takes in an event; `alone`: no other thread could move. `last` ran before it.
    pub(super) fn note(&mut self, last: Previous, choice: Choice, event: &TraceEvent, alone: bool) {
        let (expires, kind) = (choice.agent.thread().is_timer(), event.op.kind);
        // Signals of a timer, and waits for them, concern no other thread.
        let rung = self.rung.take() == Some(event.id.thread);
        let is_rung = kind == OpKind::SignalWait || kind == OpKind::Kill && rung;
        let changes = event.did.accesses.iter().any(|access| !access.mode.leaves_as_it_is());
        let yields = matches!(last, Previous::Yielding(name) if choice.agent == Agent::Thread(name));
        let times_out = matches!(choice.agent, Agent::Timeout(_));
        self.rounds += u32::from(alone && (expires || yields || times_out));
        if changes && !expires && !is_rung || times_out || kind.creates() {
            self.count = 0;
        } else if alone && (expires || yields) {
            self.count += 1;
        }
    }

    /// Takes in how an event has changed an agent.
    pub(super) fn note_change(&mut self, choice: Choice, old: Option<&AgentView>, new: &AgentView) {
        let waited = old.is_some_and(|old| matches!(old.status, Status::Blocked(_)));
        if choice.agent.thread().is_timer() && waited && new.status == Status::Enabled {
            self.rung = Some(new.agent.thread());
        }
    }
}
