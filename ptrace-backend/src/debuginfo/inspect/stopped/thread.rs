//! A stopped thread: its frames with their registers, and the memory that it sees.

use super::state::ThreadState;
use crate::debuginfo::entries::info::Info;
use crate::debuginfo::memory::{Memory, Pages};
use crate::debuginfo::modules::Modules;
use crate::debuginfo::unwind::{Activation, Activations};

/// More frames than a user looks at: a stack that overflowed has a hundred thousand.
const MOST_FRAMES: usize = 1000;

/// A stopped thread.
pub(crate) struct StoppedThread<'a> {
    pub(crate) modules: &'a Modules,
    memory: Pages<'a>,
    state: ThreadState,
    /// Innermost first.
    pub(crate) frames: Vec<Activation>,
}

impl<'a> StoppedThread<'a> {
    pub(crate) fn new(modules: &'a Modules, memory: &'a dyn Memory, state: ThreadState) -> Self {
        let pages = Pages::new(memory);
        let frames = Activations::new(modules, &pages, &state.registers).take(MOST_FRAMES).collect();
        Self { modules, memory: pages, state, frames }
    }

    pub(crate) fn memory(&self) -> &dyn Memory {
        &self.memory
    }

    /// Address at which the calling thread's own data begins.
    pub(crate) fn thread_pointer(&self) -> Option<u64> {
        self.state.thread_pointer
    }

    /// A register, by its DWARF number, as a frame's function sees it.
    pub(crate) fn register(&self, frame: usize, number: u16) -> Option<u128> {
        /// xmm0 to xmm15; functions do not preserve them.
        const VECTORS: std::ops::Range<u16> = 17..33;
        if VECTORS.contains(&number) {
            let vectors = self.state.vectors.as_ref().filter(|_| frame == 0)?;
            return Some(vectors[usize::from(number - VECTORS.start)]);
        }
        self.frames.get(frame)?.register(number).map(u128::from)
    }

    /// A module's debug information.
    pub(crate) fn info(&self, module: usize) -> Option<Info<'a>> {
        self.modules.get(module)?.image.info()
    }
}
