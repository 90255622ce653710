//! Events as a trace keeps them: a loop runs the same few operations again and again, so each is kept once.

use std::ops::Deref;
use std::sync::Arc;

use super::agent::OpOutcome;
use super::names::{EventId, Site};
use super::operation::{Effect, Op};
use super::step::Event;
use super::timing::Timing;

/// An event of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceEvent {
    /// Its name.
    pub id: EventId,
    done: Arc<EventBody>,
    /// Few events have it.
    rest: Option<Box<Rest>>,
}

/// Parts that few events have.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Rest {
    woken_by: Option<EventId>,
    timing: Option<Box<Timing>>,
}

/// The part of an event that many events share.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EventBody {
    /// The operation that was pending.
    pub op: Op,
    /// Its effect: part of [`Op::may`].
    pub did: Effect,
    /// The way in which it went.
    pub outcome: OpOutcome,
    /// Its place in the code.
    pub site: Site,
}

impl TraceEvent {
    /// An event that has this in common with others.
    pub(crate) fn new(
        id: EventId,
        done: Arc<EventBody>,
        woken_by: Option<EventId>,
        timing: Option<Box<Timing>>,
    ) -> Self {
        let has_rest = woken_by.is_some() || timing.is_some();
        Self { id, done, rest: has_rest.then(|| Box::new(Rest { woken_by, timing })) }
    }

    /// The part that it has in common with others.
    #[cfg(test)]
    pub(crate) fn done(&self) -> &Arc<EventBody> {
        &self.done
    }

    /// The event that woke this thread up, which therefore happens before this one.
    #[must_use]
    pub fn woken_by(&self) -> Option<EventId> {
        self.rest.as_ref()?.woken_by
    }

    /// The relation of its deadline to other threads, where a sleep or a timed wait ends.
    #[must_use]
    pub fn timing(&self) -> Option<&Timing> {
        self.rest.as_ref()?.timing.as_deref()
    }

    /// Its body, to be changed for this event alone.
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
        let Event { id, op, did, outcome, site, woken_by, timing } = event;
        Self::new(id, Arc::new(EventBody { op, did, outcome, site }), woken_by, timing)
    }
}
