//! The code of the target with traps planted where instructions are watched.

use std::sync::Arc;

use super::Shared;
use crate::control::knowledge::arming::{Arming, armed};
use crate::control::knowledge::state::State;
use crate::control::knowledge::status::Status;
use crate::layout::Layout;
use crate::layout::allocator::Allocator;
use crate::os::Tid;

impl Shared {
    /// The code that holds watched instructions, with the traps in it; for an audit, those that are no longer watched as
    /// well. `template` is a process whose code has no traps but those of functions.
    pub(crate) fn arming(&self, layout: &Layout, template: Tid, audit: bool) -> Arc<Arming> {
        let mut state = self.state();
        let kept = if audit { &state.arming_of_all } else { &state.arming };
        if let Some(arming) = kept {
            return Arc::clone(arming);
        }
        let arming = Arc::new(armed(Self::watched_addresses(&state, layout, audit), &[], template));
        let kept = if audit { &mut state.arming_of_all } else { &mut state.arming };
        *kept = Some(Arc::clone(&arming));
        arming
    }

    /// The same code without the traps of these instructions.
    pub(crate) fn arming_without(&self, layout: &Layout, template: Tid, left_out: &[usize]) -> Arming {
        let addresses = Self::watched_addresses(&self.state(), layout, false);
        let left_out: Vec<u64> =
            left_out.iter().map(|&candidate| layout.candidates[candidate].addr).collect();
        armed(addresses, &left_out, template)
    }

    /// The same code with traps at these addresses as well.
    pub(crate) fn arming_with(
        &self,
        layout: &Layout,
        template: Tid,
        more: impl Iterator<Item = u64>,
    ) -> Arming {
        let mut addresses = Self::watched_addresses(&self.state(), layout, false);
        addresses.extend(more);
        armed(addresses, &[], template)
    }

    fn watched_addresses(state: &State, layout: &Layout, audit: bool) -> Vec<u64> {
        let audited = |status: Status| audit && status == Status::Disarmed && !state.fixed;
        let watched = layout.candidates.iter().zip(&state.candidates);
        let watched = watched.filter(|&(_, &status)| status.is_watched() || audited(status));
        let watched = watched.map(|(candidate, _)| candidate.addr);
        // Where nobody shares heap memory yet, to free some may show that somebody does.
        let watches = |what: Allocator| state.allocator || what.ends_a_life() && !state.fixed;
        let allocator = layout.allocator_entries().filter(|(_, what)| watches(*what)).map(|(entry, _)| entry);
        // These traps serve the account alone, and a claim rests on audits.
        let foreign = layout.foreign.iter().filter(|_| audit && !state.fixed).map(|foreign| foreign.address);
        watched.chain(allocator).chain(foreign).collect()
    }

    /// The instructions that have touched shared memory.
    pub(crate) fn promoted(&self) -> Vec<usize> {
        let state = self.state();
        let is_promoted = |(_, status): &(usize, &Status)| **status == Status::Promoted;
        state.candidates.iter().enumerate().filter(is_promoted).map(|(candidate, _)| candidate).collect()
    }
}
