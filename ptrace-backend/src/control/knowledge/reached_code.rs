//! Closed code ([`crate::layout::closed_code`]) that executions have come to: it is to be open in the ones that follow.

use rustc_hash::FxHashMap;

use super::ProgramKnowledge;
use super::unobserved::UnobservedAccesses;
use crate::control::knowledge::state::{KnowledgeState, ReachedCode};
use crate::control::knowledge::status::Status;
use crate::layout::Layout;

impl ProgramKnowledge {
    /// An execution has come to a closed page. `true`: it counts for nothing, since what it does there was not watched.
    pub(crate) fn note_reached(&self, page: u64) -> bool {
        self.reach(|reached| {
            if let ReachedCode::Pages(pages) = reached {
                pages.insert(page);
            }
        })
    }

    /// An execution may come to any closed page, and that would not be seen. `true`: it counts for nothing.
    pub(crate) fn note_all_reached(&self) -> bool {
        self.reach(|reached| *reached = ReachedCode::All)
    }

    fn reach(&self, note: impl FnOnce(&mut ReachedCode)) -> bool {
        let mut state = self.state();
        // An execution of a copy does not open code: the search comes to it in its turn.
        let is_first = state.reached.is_empty() || state.worker.is_some();
        note(&mut state.reached);
        if state.fixed {
            return false;
        }
        if is_first {
            state.know_more();
            state.begin_anew();
        }
        true
    }

    /// The closed code that executions of the search's own have come to, which is to be opened now.
    pub(crate) fn take_reached(&self) -> Option<ReachedCode> {
        let mut state = self.state();
        let is_to_open = state.worker.is_none() && !state.reached.is_empty();
        is_to_open.then(|| std::mem::take(&mut state.reached))
    }

    /// The same program, with more of its code open. Knowledge that goes by the numbers of candidates gets the new ones.
    pub(crate) fn renumber(&self, before: &Layout, after: &Layout) {
        let mut guard = self.state();
        let state = &mut *guard;
        let places: FxHashMap<u64, usize> =
            after.candidates.iter().enumerate().map(|(place, candidate)| (candidate.addr, place)).collect();
        let mut candidates = Self::unknown(after);
        if state.fixed {
            candidates.fill(Status::Disarmed);
        }
        let new_place = |old: usize| places.get(&before.candidates[old].addr).copied();
        for (old, status) in state.candidates.iter().enumerate() {
            if let Some(place) = new_place(old) {
                // Instructions that were given up are watched until they are seen to be private again.
                candidates[place] =
                    if *status == Status::Disarmed && !state.fixed { Status::Watched(0) } else { *status };
            }
        }
        state.candidates = candidates;
        state.ordered = state.ordered.iter().filter_map(|&old| new_place(old)).collect();
        state.passed.clear();
        state.unobserved = UnobservedAccesses::default();
        KnowledgeState::changed(state);
    }
}
