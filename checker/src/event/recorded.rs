//! Events as a trace keeps them: a loop runs the same few operations again and again, so each is kept once.

use std::ops::Deref;
use std::sync::Arc;

use super::agent::Pick;
use super::names::{EventId, Site};
use super::operation::{Effect, Op};
use super::step::Event;

/// An event of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceEvent {
    /// Its name.
    pub id: EventId,
    done: Arc<EventBody>,
    /// Few events have one.
    woken_by: Option<Box<EventId>>,
}

/// The part of an event that many events share.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EventBody {
    /// What was pending.
    pub op: Op,
    /// What it did: part of [`Op::may`].
    pub did: Effect,
    /// Which way it went.
    pub pick: Pick,
    /// Where it is in the code.
    pub site: Site,
}

impl TraceEvent {
    /// An event that has this in common with others.
    pub(crate) fn new(id: EventId, done: Arc<EventBody>, woken_by: Option<EventId>) -> Self {
        Self { id, done, woken_by: woken_by.map(Box::new) }
    }

    /// What it has in common with others.
    #[cfg(test)]
    pub(crate) fn done(&self) -> &Arc<EventBody> {
        &self.done
    }

    /// The event that woke this thread up, which therefore happens before this one.
    #[must_use]
    pub fn woken_by(&self) -> Option<EventId> {
        self.woken_by.as_deref().copied()
    }

    /// What it did, to be changed for this event alone.
    pub(crate) fn done_mut(&mut self) -> &mut EventBody {
        Arc::make_mut(&mut self.done)
    }
}

impl Deref for TraceEvent {
    type Target = EventBody;

    fn deref(&self) -> &EventBody {
        &self.done
    }
}

impl From<Event> for TraceEvent {
    fn from(event: Event) -> Self {
        let Event { id, op, did, pick, site, woken_by } = event;
        Self::new(id, Arc::new(EventBody { op, did, pick, site }), woken_by)
    }
}
