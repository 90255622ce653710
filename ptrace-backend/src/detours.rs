//! Makes the detours of a program ([`crate::instructions::detour`]): finds room for what they need, and writes it.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::attention;
use crate::error::LaunchError;
use crate::instructions::Candidate;
use crate::instructions::detour::access_logging::LoggedOperand;
use crate::instructions::detour::hand_off::HandOff;
use crate::instructions::detour::log::Log;
use crate::instructions::detour::{Detour, DetourPart, JUMP, landing};
use crate::layout::allocator::Allocator;
use crate::layout::functions::TrappedFunction;
use crate::layout::module::Module;
use crate::layout::{Foreign, Trap, TrapKind};
use crate::libraries::effects::Effects;
use crate::os::memory::BlockReader;
use crate::target::inject::MappedArea;
use crate::target::startup::Startup;

/// Addresses at which the log may be.
pub(crate) const PLACES: [u32; 4] = [0x7000_0000, 0x6800_0000, 0x6000_0000, 0x5800_0000];

/// Number of accesses that the log has room for.
const ENTRIES: u32 = 32_768;

/// Room for one copy, in bytes; what needs more has no detour.
const ROOM: usize = 512;

/// Most copies take less.
const USUAL_ROOM: usize = 192;

/// Number of bytes of code that are read for one detour: four bytes of short instructions, and the longest one.
const LONGEST: usize = 4 + 15;

const PAGE: u64 = 4096;

/// Landing places that lie so near to one another are mapped together, in bytes.
const NEAR: u64 = 16 * PAGE;

/// Maps the log for so many candidates, with what hand-offs need below it. `None`: there is no room for it.
pub(crate) fn map_log(
    startup: &mut Startup,
    candidates: usize,
    areas: &mut Vec<MappedArea>,
) -> Result<Option<Log>, LaunchError> {
    for start in PLACES {
        let log = Log { start, entries: ENTRIES };
        let hand_off = HandOff::below(start);
        let len = u64::from(log.end_of_flags(candidates) - hand_off.code());
        let Some(bytes) = hand_off.bytes(log.empty()) else { return Ok(None) };
        if startup.map_at(u64::from(hand_off.code()), len)? {
            let area = MappedArea { start: u64::from(hand_off.code()), len, bytes };
            startup.fill(&area)?;
            areas.push(area);
            return Ok(Some(log));
        }
    }
    Ok(None)
}

/// Makes the detours of one module. `candidates`: all of the program, of which those of the module are in `own`, and `foreign`: its functions
/// of which not all is known; `targets`: where its jumps and calls go.
pub(crate) fn of_module(
    startup: &mut Startup,
    module: &Module,
    log: Log,
    (candidates, own, foreign): (&[Candidate], Range<usize>, &[Foreign]),
    traps: &FxHashMap<u64, Trap>,
    targets: &FxHashSet<u64>,
    areas: &mut Vec<MappedArea>,
) -> Result<Vec<Detour>, LaunchError> {
    let mut leaders: Vec<u64> = candidates[own].iter().map(|candidate| candidate.addr).collect();
    if module.is_libc {
        let is_own = |(at, _): &(&u64, &Trap)| module.mapped.range.contains(at);
        let entries = traps.iter().filter(is_own).filter(|(_, trap)| hands_over(&trap.kind));
        leaders.extend(entries.map(|(at, _)| *at));
        leaders.sort_unstable();
    }
    if leaders.is_empty() {
        return Ok(Vec::new());
    }
    let logged_at_entry = |foreign: &Foreign| {
        let candidate = foreign.candidate.filter(|_| foreign.effects == Effects::PointedTo)?;
        (candidates[candidate].logged_operand() == Some(LoggedOperand::Arguments)).then_some(candidate)
    };
    let found = |at: u64| match traps.get(&at).map(|trap| &trap.kind) {
        None => DetourPart::Nothing,
        Some(TrapKind::Foreign(number)) => match logged_at_entry(&foreign[*number]) {
            Some(candidate) => DetourPart::Entry(candidate),
            None => DetourPart::Stops(None),
        },
        Some(TrapKind::Allocator(Allocator::Free)) => DetourPart::Free(candidates.len()),
        Some(kind) if hands_over(kind) => DetourPart::Stops(None),
        Some(TrapKind::Access(number)) => match candidates[*number].logged_operand() {
            Some(LoggedOperand::Address) => {
                let operand = candidates[*number].operands.first();
                DetourPart::Candidate(*number, operand.map_or(0, |operand| operand.size))
            }
            Some(LoggedOperand::Arguments) => DetourPart::Call(*number),
            // The kernel tells the vector registers of threads alone that it has stopped.
            None if candidates[*number].needs_vectors() => DetourPart::Another,
            None => DetourPart::Stops(Some(*number)),
        },
        Some(_) => DetourPart::Another,
    };
    let room = (leaders.len() * ROOM) as u64;
    let start = startup.map_near(&module.mapped.range, room)?;
    // Room that is not used costs nothing; what grows to hundreds of megabytes is copied again and again.
    let mut copies: Vec<u8> = Vec::with_capacity(leaders.len() * USUAL_ROOM);
    let mut made: Vec<Detour> = Vec::with_capacity(leaders.len());
    let mut code = [0; LONGEST];
    let mut reader = BlockReader::new(startup.tid);
    for from in leaders {
        attention::round();
        let is_free = made.last().is_none_or(|last| last.from + JUMP.len() as u64 <= from);
        let to = start + copies.len() as u64;
        if !is_free || !in_reach(from, to) || !reader.read(from, &mut code) {
            continue;
        }
        let Some((detour, copy)) = Detour::new(&code, from, to, log, found) else { continue };
        if detour.entries.iter().all(|(at, _)| !targets.contains(at)) && copy.len() <= ROOM {
            copies.extend(copy);
            made.push(detour);
        }
    }
    if made.is_empty() {
        return Ok(made);
    }
    let area = MappedArea { start, len: copies.len() as u64, bytes: copies };
    startup.fill(&area)?;
    areas.push(area);
    land(startup, made, areas)
}

/// Whether threads hand themselves over at the entry of a function. At one that only tries, a thread may spin, and is
/// stepped.
fn hands_over(kind: &TrapKind) -> bool {
    match kind {
        TrapKind::Function { function, .. } => !function.only_tries() && *function != TrappedFunction::Look,
        TrapKind::Allocator(_) | TrapKind::Foreign(_) => true,
        _ => false,
    }
}

fn in_reach(from: u64, to: u64) -> bool {
    let distance = to.wrapping_sub(landing(from)).cast_signed();
    // The landing place of an executable with fixed addresses would be below 0.
    landing(from) < from && i32::try_from(distance).is_ok()
}

/// Puts jumps to the copies where the jumps in the code land. If something is there already, these have no detour.
fn land(
    startup: &mut Startup,
    mut made: Vec<Detour>,
    areas: &mut Vec<MappedArea>,
) -> Result<Vec<Detour>, LaunchError> {
    let mut has_landed = vec![false; made.len()];
    let mut first_of_run = 0;
    for run in made.chunk_by(|a, b| b.from - a.from < NEAR) {
        let places = first_of_run..first_of_run + run.len();
        first_of_run = places.end;
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        let start = landing(first.from) & !(PAGE - 1);
        let end = (landing(last.from) + JUMP.len() as u64).next_multiple_of(PAGE);
        if !startup.map_at(start, end - start)? {
            continue;
        }
        let mut bytes = vec![0xcc; (end - start) as usize];
        for detour in run {
            let at = landing(detour.from);
            let distance = detour.to.wrapping_sub(at + JUMP.len() as u64) as u32;
            let place = (at - start) as usize;
            bytes[place] = 0xe9;
            bytes[place + 1..place + JUMP.len()].copy_from_slice(&distance.to_le_bytes());
        }
        let area = MappedArea { start, len: end - start, bytes };
        startup.fill(&area)?;
        areas.push(area);
        has_landed[places].fill(true);
    }
    let mut landed = has_landed.into_iter();
    made.retain(|_| landed.next() == Some(true));
    Ok(made)
}
