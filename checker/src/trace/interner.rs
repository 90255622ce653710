//! Keeps once what many steps of traces have in common.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::{Moment, Previous, Reason};
use crate::event::agent::Choice;
use crate::event::recorded::{EventBody, TraceEvent};
use crate::event::step::Event;

/// The common parts of steps of traces, as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    done: FxHashSet<Arc<EventBody>>,
    /// By their hashes, of equal ones the last.
    moments: FxHashMap<u64, Arc<Moment>>,
}

/// So many are known at a time; a trace keeps what it needs. Programs whose every event is another one exist: where a
/// barrier is passed a million times, each time is a round of its own.
const MOST: usize = 1 << 14;

impl Interner {
    pub(crate) fn event(&mut self, event: Event) -> TraceEvent {
        let Event { id, op, did, outcome, site, woken_by, timing } = event;
        let done = known(&mut self.done, EventBody { op, did, outcome, site });
        TraceEvent::new(id, done, woken_by, timing)
    }

    /// The point where this was chosen of these. They are copied only where they are new.
    pub(crate) fn moment(
        &mut self,
        choice: Choice,
        reason: Reason,
        last: Previous,
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
    use crate::event::agent::OpOutcome;
    use crate::event::names::{EventId, Site, ThreadName};
    use crate::event::operation::{Op, OpKind};
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
        Event {
            id,
            did: op.may.clone(),
            op,
            outcome: OpOutcome::Only,
            site: Site(site),
            woken_by: None,
            timing: None,
        }
    }

    #[test]
    fn what_events_have_in_common_is_kept_once() {
        let mut known = Interner::default();
        let [first, second, other] = [(0, 1), (1, 1), (2, 2)].map(|(at, site)| known.event(event(at, site)));
        assert!(Arc::ptr_eq(first.done(), second.done()) && !Arc::ptr_eq(first.done(), other.done()));
        assert_eq!((first.id.index, second.id.index, second.site), (0, 1, Site(1)));
    }

    #[test]
    fn no_more_is_remembered_than_fits() {
        let mut known = Interner::default();
        (0..3 * MOST as u64).for_each(|site| drop(known.event(event(0, site))));
        assert!(known.done.len() <= MOST);
    }
}
