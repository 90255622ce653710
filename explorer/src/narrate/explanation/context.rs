//! A finding with its schedule, as the sentences of an explanation refer to it.

use checker::explain::{self, Second, Swap};
use checker::failure::Failure;
use checker::names::{Obj, ThreadName};
use checker::position::Position;

use crate::narrate::locations::Places;
use crate::narrate::sentences::phrasing::Phrasing;
use crate::narrate::thread_labels::ThreadLabels;
use crate::report::explanation::Side;
use crate::report::{EventLine, Finding, Location};

/// An explanation, and the finding with its schedule as it is told.
pub(crate) struct ExplanationContext<'a> {
    pub(super) told: &'a Finding,
    pub(super) failure: &'a Failure,
    pub(super) labels: ThreadLabels,
    pub(super) places: &'a Places<'a>,
}

impl<'a> ExplanationContext<'a> {
    pub(crate) fn new(
        explained: &'a explain::Explanation,
        told: &'a Finding,
        places: &'a Places<'a>,
    ) -> Self {
        let labels =
            ThreadLabels::of(explained.finding.trace.threads.iter().copied(), places.source().harness());
        Self { told, failure: &explained.finding.failure, labels, places }
    }

    pub(super) fn swap(&self, swap: Swap) -> [Side; 2] {
        let second = match swap.second {
            Second::Event(position) => self.side(position),
            Second::Pending(thread) => self.left(thread),
        };
        [self.side(swap.first), second]
    }

    /// The event at a position of the trace.
    pub(super) fn event(&self, position: Position) -> Option<&EventLine> {
        self.told.events.iter().find(|event| event.number == u32::from(position))
    }

    pub(super) fn side(&self, position: Position) -> Side {
        let event = self.event(position);
        Side {
            number: Some(position.into()),
            thread: event.map(|event| event.thread.to_string()).unwrap_or_default(),
            text: event.map(|event| event.text.to_string()).unwrap_or_default(),
            place: event.map(|event| Location::clone(&event.place)).unwrap_or_default(),
        }
    }

    /// The side of a thread in the failure: its last state and its place.
    pub(super) fn left(&self, thread: ThreadName) -> Side {
        let label = self.labels.label(thread);
        let party = self.told.parties.iter().find(|party| party.thread == label);
        Side {
            number: None,
            thread: label,
            text: party.map(|party| party.doing.clone()).unwrap_or_default(),
            place: party.and_then(|party| party.stack.first().cloned()).unwrap_or_default(),
        }
    }

    /// An object, in backquotes.
    pub(super) fn object(&self, obj: Obj) -> String {
        self.words().object(obj)
    }

    pub(super) fn words(&self) -> Phrasing<'_> {
        Phrasing { labels: &self.labels, source: self.places.source() }
    }
}
