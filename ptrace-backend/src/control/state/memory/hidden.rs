//! Accesses of code of system libraries, as far as they were traced.

use checker::account::HiddenAccess;
use checker::names::ThreadName;
use checker::position::Position;
use rustc_hash::FxHashMap;
use rustc_hash::FxHashSet;

use crate::control::state::thread_index::ThreadIndex;

/// The accesses that an execution has shown, and the traps that show them.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    /// Those that are trapped, each with the byte that the trap replaces.
    pub(crate) trapped: FxHashMap<u64, u8>,
    /// Each with whether it is of its thread's own stack.
    pub(crate) accesses: Vec<(HiddenAccess, bool)>,
    /// The last event and the running thread.
    pub(crate) segment: Option<(Position, ThreadName)>,
    /// The accesses of the running thread since its last event.
    pub(crate) since: FxHashSet<HiddenAccess>,
    /// The number of times that it has come to each instruction since then and done nothing new there.
    pub(crate) visits: FxHashMap<u64, u32>,
    /// The number of passed accesses of the program's own code that are no events, by instruction.
    pub(crate) own_visits: FxHashMap<u64, u32>,
    /// Traps that are lifted until another thread or event, because their instructions have done nothing new for long.
    pub(crate) lifted: Vec<u64>,
    /// The object of each thread's last call of a function on such that the C library has made itself: a mutex, or what else it takes.
    pub(crate) taking: FxHashMap<ThreadIndex, u64>,
    /// Not all was traced.
    pub(crate) is_cut: bool,
}
