//! Visits of a thread to memory accesses since it last changed anything, which raise the suspicion that it spins.

use rustc_hash::FxHashMap;

use crate::os::Regs;

/// The longest iteration that is looked at, in instructions, where all registers are those of the last visit.
const LONGEST: u32 = 2000;

/// The same where a scratch register differs, as it does after the first iteration; and where so many looks of the thread's were in vain: it
/// calls one function after the other with the same arguments, and most loops that wait are short.
const LONGEST_IN_DOUBT: u32 = 200;
const DOUBTFUL: u32 = 8;

/// The number of times that a loop is looked at in vain; after that, it is looked at each time once it has raised twice as many
/// suspicions as the time before, since a loop may begin to spin later.
const PATIENCE: u32 = 2;

/// The state of a thread when it stood at a memory access.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) regs: Regs,
    pub(crate) frame: Vec<u8>,
}

/// The places to which a thread has come, by which its loops are known.
#[derive(Debug, Default)]
pub(crate) struct SpinDetection {
    /// The last visit to each memory access since the thread last changed anything.
    pub(crate) visits: FxHashMap<u64, Visit>,
    /// The number of times that a loop has turned out to be none, and of the suspicions that it has raised since.
    pub(crate) refuted: FxHashMap<u64, (u32, u64)>,
    /// The number of times that any loop has turned out to be none.
    in_vain: u32,
    /// The memory of the read-modify-write that the thread is passing, as it was before: an exchange of equal values only looks.
    pub(crate) updating: Option<MemoryBytes>,
    /// The number of its pauses in code that is not watched since it had run so many events.
    pub(crate) pauses: (u32, u32),
}

/// Bytes of memory: their address, their number and their value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryBytes {
    pub(crate) address: u64,
    /// At most 8.
    pub(crate) len: usize,
    pub(crate) value: u64,
}

impl SpinDetection {
    /// The thread has changed something.
    pub(crate) fn forget_visits(&mut self) {
        self.visits.clear();
    }

    /// Notes that the thread stands at a memory access with these registers. If it may have come back there by spinning, says how many instructions
    /// are worth a look. `shared`: what it touches is known to be shared.
    pub(crate) fn suspicious(&mut self, regs: &Regs, shared: bool, frame: Vec<u8>) -> Option<u32> {
        let at = regs.rip;
        let same_frame = |last: &Visit| last.frame == frame;
        let same = self.visits.get(&at).is_some_and(same_frame);
        let last = self.visits.insert(at, Visit { regs: *regs, frame })?.regs;
        if !same {
            return None;
        }
        if let Some((times, since)) = self.refuted.get_mut(&at) {
            *since += 1;
            if *times >= PATIENCE && *since < 1 << (*times).min(32) {
                return None;
            }
        }
        if same_registers(&last, regs) {
            return Some(if self.in_vain < DOUBTFUL { LONGEST } else { LONGEST_IN_DOUBT });
        }
        (shared && same_preserved_registers(&last, regs)).then_some(LONGEST_IN_DOUBT)
    }

    /// The thread, which has run so many events, pauses. Whether it has done so this often since then; if so, it begins anew.
    pub(crate) fn pauses_often(&mut self, events: u32, often: u32) -> bool {
        let times = if self.pauses.0 == events { self.pauses.1 + 1 } else { 1 };
        self.pauses = (events, times % often);
        times == often
    }

    /// The loop around a place has turned out to be none.
    pub(crate) fn refute(&mut self, place: u64) {
        let (times, since) = self.refuted.entry(place).or_default();
        (*times, *since) = (*times + 1, 0);
        self.in_vain += 1;
    }
}

/// Whether two states of a thread agree in all registers that code can see.
pub(crate) fn same_registers(a: &Regs, b: &Regs) -> bool {
    let seen = |r: &Regs| {
        [
            r.rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13,
            r.r14, r.r15, r.rip, r.eflags, r.fs_base, r.gs_base,
        ]
    };
    seen(a) == seen(b)
}

/// Whether two states agree in the stack pointer and in the registers that calls preserve.
pub(crate) fn same_preserved_registers(a: &Regs, b: &Regs) -> bool {
    let preserved = |r: &Regs| [r.rsp, r.rbp, r.rbx, r.r12, r.r13, r.r14, r.r15];
    preserved(a) == preserved(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_whose_loops_have_turned_out_to_be_none_is_looked_at_less_closely() {
        // SAFETY: the structure consists of integers only.
        let zero: Regs = unsafe { std::mem::zeroed() };
        let mut spinning = SpinDetection::default();
        let mut comes_back = |rip| {
            let regs = Regs { rip, ..zero };
            let first = spinning.suspicious(&regs, false, Vec::new());
            let again = spinning.suspicious(&regs, false, Vec::new());
            spinning.refute(rip);
            (first, again)
        };
        for place in 0..u64::from(DOUBTFUL) {
            assert_eq!(comes_back(place), (None, Some(LONGEST)));
        }
        assert_eq!(comes_back(u64::from(DOUBTFUL)), (None, Some(LONGEST_IN_DOUBT)));
    }
}
