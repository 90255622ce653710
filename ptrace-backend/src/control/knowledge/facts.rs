//! Facts that executions have shown: which instructions touch private memory (the bound after which they are given up watching, and the doubts
//! that there are then), and what threads share beside memory that instructions touch.

use checker::trace::Trace;

use crate::control::knowledge::ProgramKnowledge;
use crate::control::knowledge::status::Status;
use crate::control::knowledge::unobserved::{UnobservedAccess, is_enough, parts};

impl ProgramKnowledge {
    /// An instruction has touched memory, once more, without being seen to share it, after so many events. `is_shared`: others
    /// do. `true`: it need not be watched any longer.
    pub(crate) fn touched_privately(
        &self,
        candidate: usize,
        touches: &[UnobservedAccess],
        is_shared: bool,
        after: u64,
    ) -> bool {
        let mut state = self.state();
        let Status::Watched(before) = state.candidates[candidate] else { return false };
        if let Some(enough) = Self::note_private(&mut state, candidate, touches, is_shared, after) {
            return enough;
        }
        state.unobserved.touched(candidate, touches);
        let parts = before + parts(is_shared);
        let enough = is_enough(parts);
        state.candidates[candidate] = if enough { Status::Disarmed } else { Status::Watched(parts) };
        if enough {
            state.unobserved.give_up(candidate);
            state.changed();
        }
        enough
    }

    /// Whether what has run since this was last asked, which ended with this trace, may share memory in a way that has not been
    /// watched.
    pub(crate) fn take_doubt(&self, trace: &Trace) -> bool {
        let mut state = self.state();
        state.unobserved.ordered(trace);
        state.unobserved.take_doubt()
    }

    /// Whether allocations are watched.
    pub(crate) fn watches_allocator(&self) -> bool {
        self.state().allocator
    }

    /// Threads share allocated memory. `true` if that was not known.
    pub(crate) fn watch_allocator(&self) -> bool {
        self.state().learn(|state| &mut state.allocator)
    }

    /// Whether uses of memory that are not seen share nothing where events order them.
    pub(crate) fn orders_uses(&self) -> bool {
        self.state().orders_uses
    }

    /// Threads use memory in ways that are not seen. `true` if that was not known.
    pub(crate) fn order_uses(&self) -> bool {
        self.state().learn(|state| &mut state.orders_uses)
    }

    /// Threads share streams. `true` if that was not known.
    pub(crate) fn share_streams(&self) -> bool {
        self.state().learn(|state| &mut state.streams)
    }

    /// Whether calls that print to a standard stream are looked at as those on other streams.
    pub(crate) fn looks_at_outputs(&self) -> bool {
        self.state().outputs
    }

    /// The program looks at what a standard stream has. `true` if that was not known.
    pub(crate) fn look_at_outputs(&self) -> bool {
        let mut state = self.state();
        state.learn(|state| &mut state.streams) | state.learn(|state| &mut state.outputs)
    }
}
