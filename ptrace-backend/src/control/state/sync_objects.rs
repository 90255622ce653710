//! The state of the target's synchronisation objects: the exact enabledness of every operation on them.
//!
//! The objects' own memory is kept by the C library's code, which really runs. This model repeats the little that decides which
//! threads can go on, keyed by address within one execution.

use checker::names::ThreadName;
use rustc_hash::FxHashMap;

use crate::control::state::thread_index::ThreadIndex;
use crate::os::system_v::IpcObjects;

/// A mutex or spin lock.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mutex {
    pub(crate) owner: Option<ThreadIndex>,
    /// The number of times that the owner holds it.
    pub(crate) depth: u32,
    /// Its owner may take it again.
    pub(crate) recursive: bool,
    /// Taking it again is an error that returns at once.
    pub(crate) error_checking: bool,
    /// It goes on to another thread if its owner ends.
    pub(crate) robust: bool,
}

impl Mutex {
    /// One of the C library that nobody holds, of the type that its memory says.
    pub(crate) fn of(memory: MutexMemory) -> Self {
        let (recursive, error_checking) = (memory.recursive(), memory.error_checking());
        Self { recursive, error_checking, robust: memory.robust(), ..Self::default() }
    }

    /// Whether a lock operation of this thread returns without blocking.
    pub(crate) fn can_lock(&self, thread: ThreadIndex) -> bool {
        match self.owner {
            None => true,
            Some(owner) => owner == thread && (self.recursive || self.error_checking),
        }
    }

    /// Takes it, if the operation succeeds; says whether it does.
    pub(crate) fn lock(&mut self, thread: ThreadIndex) -> bool {
        let free = self.owner.is_none();
        let again = self.owner == Some(thread) && self.recursive;
        if free || again {
            self.owner = Some(thread);
            self.depth += 1;
        }
        free || again
    }

    /// Releases it once.
    pub(crate) fn unlock(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.owner = None;
        }
    }
}

/// A read-write lock.
#[derive(Debug, Clone, Default)]
pub(crate) struct RwLock {
    /// The threads that hold it for reading; a thread stands here as often as it does.
    pub(crate) readers: Vec<ThreadIndex>,
    pub(crate) writer: Option<ThreadIndex>,
    /// Writers that wait, if it prefers writers.
    pub(crate) queue: Vec<ThreadIndex>,
}

impl RwLock {
    pub(crate) fn can_read(&self) -> bool {
        self.writer.is_none()
    }

    pub(crate) fn can_write(&self) -> bool {
        self.writer.is_none() && self.readers.is_empty()
    }
}

/// A condition variable's waiters, or a futex's, in the order in which they came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Queue {
    pub(crate) waiters: Vec<ThreadIndex>,
}

/// A futex, as the kernel tells them apart: calls that say that it is private to the process never meet others, and meet one another at
/// one address only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Futex {
    /// The address of its word: of memory that is there at several addresses, the original one.
    pub(crate) word: u64,
    /// The address in private calls; `None`: in others.
    pub(crate) private: Option<u64>,
}

impl Futex {
    /// The kinds of wakes that a waiter waits for, and of a wake, as bits (`FUTEX_WAIT_BITSET`): all of them.
    pub(crate) const ANY: u32 = u32::MAX;

    /// The one at this address of calls that are private to the process.
    pub(crate) fn private(address: u64) -> Self {
        Self { word: address, private: Some(address) }
    }
}

/// A barrier.
#[derive(Debug, Clone, Default)]
pub(crate) struct Barrier {
    pub(crate) count: u32,
    pub(crate) generation: u32,
    pub(crate) arrived: Vec<ThreadIndex>,
    /// One of these looks at what tells which one is the last.
    pub(crate) tells: bool,
}

/// A once-initialisation that is running.
#[derive(Debug, Clone, Default)]
pub(crate) struct Once {
    pub(crate) runner: Option<ThreadIndex>,
}

/// All objects of one execution, by address.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub(crate) mutexes: FxHashMap<u64, Mutex>,
    pub(crate) rwlocks: FxHashMap<u64, RwLock>,
    pub(crate) conds: FxHashMap<u64, Queue>,
    pub(crate) futexes: FxHashMap<Futex, Queue>,
    pub(crate) barriers: FxHashMap<u64, Barrier>,
    pub(crate) onces: FxHashMap<u64, Once>,
    /// The way in which threads have come to objects that may be reached in several: [`Futex::private`], by [`Futex::word`].
    pub(crate) ways: FxHashMap<u64, Option<u64>>,
    /// Those of System V, which the kernel keeps.
    pub(crate) system_v: IpcObjects,
    /// Objects that were destroyed, and by which thread.
    pub(crate) destroyed: FxHashMap<u64, ThreadName>,
}

impl Objects {
    /// Whether a thread holds the mutex of the C library at an address.
    pub(crate) fn holds_mutex(&self, index: ThreadIndex, at: u64) -> bool {
        self.mutexes.get(&at).is_some_and(|mutex| mutex.owner == Some(index))
    }
}

/// The first 24 bytes of the C library's `pthread_mutex_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MutexMemory {
    pub(crate) lock: u32,
    pub(crate) count: u32,
    pub(crate) owner: u32,
    pub(crate) users: u32,
    pub(crate) kind: u32,
}

/// Bits of `kind`.
const TYPE: u32 = 3;
const RECURSIVE: u32 = 1;
const ERROR_CHECKING: u32 = 2;
const ROBUST: u32 = 16;
const SHARED: u32 = 128;
/// Robust, priority-inheriting or priority-protected: locking does more than write to these fields.
const INTRICATE: u32 = ROBUST | 32 | 64;

/// The owner of a robust mutex that an owner left behind and the next one did not repair.
const LOST: u32 = 0x7fff_fffe;

impl MutexMemory {
    /// The length of this part of the mutex, in bytes.
    pub(crate) const LEN: usize = 20;

    /// The kind of a mutex that is destroyed.
    pub(crate) const DESTROYED: u32 = u32::MAX;

    pub(crate) fn parse(bytes: [u8; Self::LEN]) -> Self {
        let field = |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        Self { lock: field(0), count: field(4), owner: field(8), users: field(12), kind: field(16) }
    }

    /// The fields that locking changes.
    pub(crate) fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        for (i, field) in [self.lock, self.count, self.owner, self.users].into_iter().enumerate() {
            bytes[4 * i..4 * i + 4].copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    pub(crate) fn recursive(self) -> bool {
        self.kind & TYPE == RECURSIVE
    }

    pub(crate) fn error_checking(self) -> bool {
        self.kind & TYPE == ERROR_CHECKING
    }

    /// Whether an unlock by a thread that does not hold it does nothing but fail.
    pub(crate) fn checks_owner(self) -> bool {
        self.recursive() || self.error_checking() || self.robust()
    }

    pub(crate) fn robust(self) -> bool {
        self.kind & ROBUST != 0
    }

    /// Whether the C library waits for it, and wakes others, by calls that are private to the process.
    pub(crate) fn is_private(self) -> bool {
        !self.robust() && self.kind & SHARED == 0
    }

    /// Whether no lock operation succeeds any more.
    pub(crate) fn is_lost(self) -> bool {
        self.robust() && self.owner == LOST
    }

    /// Whether [`Self::released`] and [`Self::taken`] are all that unlocking and locking do.
    pub(crate) fn is_simple(self) -> bool {
        self.kind & INTRICATE == 0
    }

    /// The memory that an uncontended unlock leaves.
    pub(crate) fn released(self) -> Self {
        Self { lock: 0, count: 0, owner: 0, users: self.users.wrapping_sub(1), kind: self.kind }
    }

    /// The memory that an uncontended lock leaves.
    pub(crate) fn taken(self, owner: u32) -> Self {
        let count = u32::from(self.recursive());
        Self { lock: 1, count, owner, users: self.users.wrapping_add(1), kind: self.kind }
    }
}

/// A bit of the word of a robust mutex whose owner has ended.
pub(crate) const OWNER_DIED: u32 = 0x4000_0000;

/// Whether the owner of a robust mutex that holds this word has ended.
pub(crate) fn is_left_behind(word: u32) -> bool {
    word & OWNER_DIED != 0
}
