//! The code of the target with traps planted where instructions are watched.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::ProgramKnowledge;
use crate::control::knowledge::armed_code::{ArmedCode, DetouredCode, armed};
use crate::control::knowledge::state::KnowledgeState;
use crate::control::knowledge::status::Status;
use crate::instructions::detour::access_logging::LoggedOperand;
use crate::instructions::detour::{CopiedInstruction, Detour, JUMP};
use crate::layout::allocator::Allocator;
use crate::layout::{Foreign, Layout};
use crate::os::Tid;

/// The breakpoint instruction.
const TRAP: u8 = 0xcc;

/// The number of touches of private memory after which an instruction that is a key point elsewhere has a detour.
const OFTEN: u32 = 64;

impl ProgramKnowledge {
    /// The code that holds watched instructions, with the traps in it; for an audit, those that are no longer watched as
    /// well. `pristine` is a process whose code has no traps but those of functions.
    pub(crate) fn armed_code(&self, layout: &Layout, pristine: Tid, audit: bool) -> Arc<ArmedCode> {
        let mut state = self.state();
        let kept = if audit { &state.armed_code_of_all } else { &state.armed_code };
        if let Some(armed_code) = kept {
            return Arc::clone(armed_code);
        }
        let armed_code = Arc::new(armed(traps(Self::watched_addresses(&state, layout, audit)), pristine));
        let kept = if audit { &mut state.armed_code_of_all } else { &mut state.armed_code };
        *kept = Some(Arc::clone(&armed_code));
        armed_code
    }

    /// The same code, with detours in the place of traps where no instruction has touched shared memory; `hands_over`: also where
    /// threads hand themselves over.
    pub(crate) fn armed_code_with_detours(
        &self,
        layout: &Layout,
        pristine: Tid,
        audit: bool,
        hands_over: bool,
    ) -> Arc<DetouredCode> {
        let mut state = self.state();
        let kept = if audit { &state.detoured_code_of_all } else { &state.detoured_code };
        if let Some(detoured_code) = kept {
            return Arc::clone(detoured_code);
        }
        let addresses = Self::watched_addresses(&state, layout, audit);
        let mut watched = addresses.clone();
        watched.sort_unstable();
        let detours = Self::detours(&state, layout, &watched, hands_over);
        let code = armed(with_jumps(traps(addresses), layout, &detours), pristine);
        let all = layout.detours.as_ref().map(|detours| &detours.all);
        let used = detours.iter().filter_map(|&place| all?.get(place));
        let candidates: FxHashSet<usize> =
            used.flat_map(|detour| detour.copied.iter().filter_map(|copied| copied.candidate)).collect();
        let stops = |&candidate: &usize| {
            let instruction = &layout.candidates[candidate];
            state.candidates[candidate] == Status::Promoted
                || instruction.logged_operand().is_none() && watched.binary_search(&instruction.addr).is_ok()
        };
        let flags = flags(candidates.iter().copied().filter(stops).collect());
        let keeps_freed = state.allocator;
        let detoured_code = Arc::new(DetouredCode { code, detours, candidates, flags, keeps_freed });
        let kept = if audit { &mut state.detoured_code_of_all } else { &mut state.detoured_code };
        *kept = Some(Arc::clone(&detoured_code));
        detoured_code
    }

    /// The places of the detours for which there is use, where these sorted addresses are watched: an instruction is watched, and each that has touched shared memory touches
    /// private memory as well, and often, or threads hand themselves over there.
    fn detours(state: &KnowledgeState, layout: &Layout, watched: &[u64], hands_over: bool) -> Vec<usize> {
        let is_watched = |address: u64| watched.binary_search(&address).is_ok();
        let is_in_the_way = |&CopiedInstruction { address, candidate, .. }: &CopiedInstruction| {
            // The entry of a function of the allocator.
            let Some(candidate) = candidate else { return !hands_over || !is_watched(address) };
            let is_promoted = state.candidates[candidate] == Status::Promoted;
            let is_often = || state.passed.get(&candidate).is_some_and(|times| *times >= OFTEN);
            let instruction = &layout.candidates[candidate];
            match instruction.logged_operand() {
                Some(LoggedOperand::Address) => {
                    is_promoted && !(instruction.can_be_looked_up() && (hands_over || is_often()))
                }
                Some(LoggedOperand::Arguments) => is_promoted && !hands_over,
                None => !hands_over,
            }
        };
        let is_of_use = |detour: &Detour| {
            !detour.copied.iter().any(is_in_the_way)
                && detour.copied.iter().any(|copied| is_watched(copied.address))
        };
        let all = layout.detours.iter().flat_map(|detours| &detours.all).enumerate();
        all.filter(|(_, detour)| is_of_use(detour)).map(|(place, _)| place).collect()
    }

    /// The code without the traps of these instructions; with those detours in which none of them is, and traps in the place of the others.
    pub(crate) fn armed_code_without(
        &self,
        layout: &Layout,
        pristine: Tid,
        left_out: &[usize],
        detours: &[usize],
    ) -> ArmedCode {
        let is_left_out = |copied: &CopiedInstruction| {
            copied.candidate.is_some_and(|candidate| left_out.contains(&candidate))
        };
        let detour = |place: usize| layout.detours.as_ref()?.all.get(place);
        let takes_away =
            |place: &usize| detour(*place).is_some_and(|detour| detour.copied.iter().any(is_left_out));
        let (away, kept): (Vec<usize>, Vec<usize>) = detours.iter().copied().partition(takes_away);
        let original = |detour: &Detour| (detour.from..).zip(detour.original);
        let mut bytes: Vec<(u64, u8)> = away.into_iter().filter_map(detour).flat_map(original).collect();
        bytes.extend(traps(Self::watched_addresses(&self.state(), layout, false)));
        bytes.extend(left_out.iter().map(|&candidate| {
            let address = layout.candidates[candidate].addr;
            (address, layout.traps[&address].byte())
        }));
        armed(with_jumps(bytes, layout, &kept), pristine)
    }

    /// The addresses of instructions that are no longer watched.
    pub(crate) fn lifted(&self, layout: &Layout) -> Vec<u64> {
        let state = self.state();
        let all = layout.candidates.iter().zip(&state.candidates);
        let lifted = all.filter(|&(_, &status)| status == Status::Disarmed);
        lifted.map(|(candidate, _)| candidate.addr).collect()
    }

    /// The same code with traps at these addresses as well.
    pub(crate) fn armed_code_with(
        &self,
        layout: &Layout,
        pristine: Tid,
        more: impl Iterator<Item = u64>,
    ) -> ArmedCode {
        let mut addresses = Self::watched_addresses(&self.state(), layout, false);
        addresses.extend(more);
        armed(traps(addresses), pristine)
    }

    fn watched_addresses(state: &KnowledgeState, layout: &Layout, audit: bool) -> Vec<u64> {
        let audited = |status: Status| audit && status == Status::Disarmed && !state.fixed;
        let watched = layout.candidates.iter().zip(&state.candidates);
        let watched = watched.filter(|&(_, &status)| status.is_watched() || audited(status));
        let watched = watched.map(|(candidate, _)| candidate.addr);
        // Freeing heap memory may show that threads share it, as long as none are known to.
        let watches = |what: Allocator| state.allocator || what.ends_a_life() && !state.fixed;
        let allocator = layout.allocator_entries().filter(|(_, what)| watches(*what)).map(|(entry, _)| entry);
        // All but operations serve the account alone, and a claim rests on audits.
        let is_stop = |foreign: &&Foreign| {
            foreign.is_operation() || state.streams && foreign.works_on_stream() || audit && !state.fixed
        };
        let foreign = layout.foreign.iter().filter(is_stop).map(|foreign| foreign.address);
        watched.chain(allocator).chain(foreign).collect()
    }

    /// An instruction that is a key point where it touches shared memory has touched other memory. `true`: often enough for a detour.
    pub(crate) fn passed_private(&self, candidate: usize) -> bool {
        let mut state = self.state();
        let times = state.passed.entry(candidate).or_default();
        *times += 1;
        let is_often = *times == OFTEN;
        if is_often {
            (state.detoured_code, state.detoured_code_of_all) = (None, None);
        }
        is_often
    }

    /// The instructions that have touched shared memory.
    pub(crate) fn promoted(&self) -> Vec<usize> {
        let state = self.state();
        let is_promoted = |(_, status): &(usize, &Status)| **status == Status::Promoted;
        state.candidates.iter().enumerate().filter(is_promoted).map(|(candidate, _)| candidate).collect()
    }
}

/// Flags of candidates from the first of these on up to the last one: those of these are set.
fn flags(mut set: Vec<usize>) -> (usize, Vec<u8>) {
    set.sort_unstable();
    let (Some(&first), Some(&last)) = (set.first(), set.last()) else { return (0, Vec::new()) };
    let mut flags = vec![0; last - first + 1];
    set.into_iter().for_each(|candidate| flags[candidate - first] = 1);
    (first, flags)
}

fn traps(addresses: Vec<u64>) -> Vec<(u64, u8)> {
    addresses.into_iter().map(|address| (address, TRAP)).collect()
}

/// Puts the jumps of detours over the code.
fn with_jumps(mut bytes: Vec<(u64, u8)>, layout: &Layout, detours: &[usize]) -> Vec<(u64, u8)> {
    for detour in detours.iter().filter_map(|&place| layout.detours.as_ref()?.all.get(place)) {
        bytes.extend((detour.from..).zip(JUMP));
    }
    bytes
}
