//! Events as a trace keeps them: a loop runs the same few operations again and again, so each is kept once.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::ops::Deref;
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::names::{EventId, Site};
use crate::op::{Effect, Op};
use crate::seam::{Choice, Event, Pick};
use crate::trace::{Last, Moment, Reason};

/// An event of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// Its name.
    pub id: EventId,
    done: Arc<Done>,
    /// Few events have one.
    woken_by: Option<Box<EventId>>,
}

/// What many events have in common.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Done {
    /// What was pending.
    pub op: Op,
    /// What it did: part of [`Op::may`].
    pub did: Effect,
    /// Which way it went.
    pub pick: Pick,
    /// Where it is in the code.
    pub site: Site,
}

impl Recorded {
    /// The event that woke this thread up, which therefore happens before this one.
    #[must_use]
    pub fn woken_by(&self) -> Option<EventId> {
        self.woken_by.as_deref().copied()
    }

    /// What it did, to be changed for this event alone.
    pub(crate) fn done_mut(&mut self) -> &mut Done {
        Arc::make_mut(&mut self.done)
    }
}

impl Deref for Recorded {
    type Target = Done;

    fn deref(&self) -> &Done {
        &self.done
    }
}

impl From<Event> for Recorded {
    fn from(event: Event) -> Self {
        Known::default().event(event)
    }
}

/// What steps of traces have in common, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Known {
    done: FxHashSet<Arc<Done>>,
    /// By their hashes, of equal ones the last.
    moments: FxHashMap<u64, Arc<Moment>>,
}

/// So many are known at a time; a trace keeps what it needs. Programs whose every event is another one exist: where a
/// barrier is passed a million times, each time is a round of its own.
const MOST: usize = 1 << 14;

impl Known {
    pub(crate) fn event(&mut self, event: Event) -> Recorded {
        let Event { id, op, did, pick, site, woken_by } = event;
        let done = known(&mut self.done, Done { op, did, pick, site });
        Recorded { id, done, woken_by: woken_by.map(Box::new) }
    }

    /// The point where this was chosen of these. They are copied only where they are new.
    pub(crate) fn moment(
        &mut self,
        choice: Choice,
        reason: Reason,
        last: Last,
        choices: &[Choice],
    ) -> Arc<Moment> {
        let hash = FxBuildHasher.hash_one((choice, &reason, last, choices));
        let is_same = |known: &&Arc<Moment>| {
            (known.choice, known.last) == (choice, last)
                && known.reason == reason
                && *known.choices == *choices
        };
        if let Some(known) = self.moments.get(&hash).filter(is_same) {
            return Arc::clone(known);
        }
        if self.moments.len() == MOST {
            self.moments.clear();
        }
        let moment = Arc::new(Moment { choice, reason, last, choices: choices.into() });
        self.moments.insert(hash, Arc::clone(&moment));
        moment
    }
}

/// The one of these that is the same.
fn known<T: Eq + Hash>(all: &mut FxHashSet<Arc<T>>, one: T) -> Arc<T>
where
    Arc<T>: Borrow<T>,
{
    if let Some(known) = all.get(&one) {
        return Arc::clone(known);
    }
    if all.len() == MOST {
        all.clear();
    }
    let one = Arc::new(one);
    all.insert(Arc::clone(&one));
    one
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use super::*;
    use crate::names::ThreadName;
    use crate::op::OpKind;
    use crate::trace::TraceStep;

    /// An execution of a million events may take 500 MB: twice its trace while it is run again, and what is told and saved
    /// of it.
    #[test]
    fn a_step_is_small() {
        assert!(size_of::<TraceStep>() <= 64, "{}", size_of::<TraceStep>());
    }

    fn event(index: u32, site: u64) -> Event {
        let op = Op::new(OpKind::Read, []);
        let id = EventId { thread: ThreadName::MAIN, index };
        Event { id, did: op.may.clone(), op, pick: Pick::Only, site: Site(site), woken_by: None }
    }

    #[test]
    fn what_events_have_in_common_is_kept_once() {
        let mut known = Known::default();
        let [first, second, other] = [(0, 1), (1, 1), (2, 2)].map(|(at, site)| known.event(event(at, site)));
        assert!(Arc::ptr_eq(&first.done, &second.done) && !Arc::ptr_eq(&first.done, &other.done));
        assert_eq!((first.id.index, second.id.index, second.site), (0, 1, Site(1)));
    }

    #[test]
    fn no_more_is_remembered_than_fits() {
        let mut known = Known::default();
        (0..3 * MOST as u64).for_each(|site| drop(known.event(event(0, site))));
        assert!(known.done.len() <= MOST);
    }
}
