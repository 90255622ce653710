//! Lamport clocks: an event comes after all events on the same objects that it depends on (Lamport, CACM 1978).

use checker::names::Obj;
use checker::operation::{Effect, Mode};
use rustc_hash::FxHashMap;

/// The time that an event takes, in nanoseconds.
const TICK: u64 = 1000;

/// The times of the last read and the last write of each object, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct LamportClock(FxHashMap<Obj, (u64, u64)>);

impl LamportClock {
    /// The clock of an agent after an event, which was this before.
    pub(crate) fn after(&mut self, before: u64, did: &Effect) -> u64 {
        let mut now = before + TICK;
        for access in &did.accesses {
            let (read, written) = self.0.get(&access.obj).copied().unwrap_or_default();
            now = now.max(written + TICK);
            if !access.mode.leaves_as_it_is() {
                now = now.max(read + TICK);
            }
        }
        for access in &did.accesses {
            let (read, written) = self.0.entry(access.obj).or_default();
            match access.mode {
                Mode::Read | Mode::Share => *read = now.max(*read),
                _ => *written = now,
            }
        }
        now
    }
}
