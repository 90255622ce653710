//! Names that mean the same in every execution, whatever the schedule was.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The greatest depth to which threads may create threads.
pub const MAX_DEPTH: usize = 7;

/// From here on, ordinals are those of timers.
const FIRST_TIMER: u16 = 0x8000;

/// The word before the ordinal of a timer.
const TIMER: &str = "timer";

/// The ordinal of the client, and the word for it.
const CLIENT: (u16, &str) = (u16::MAX, "client");

/// A thread, named by its creation path: the main thread, or the n-th thread that another thread created.
///
/// Written `main`, `main/1` (its first child), `main/1/2` (that one's second child). The order is that of a
/// depth-first walk of the creation tree.
///
/// A timer is an agent as a thread is that does nothing but sleep and send: `main/timer0`. So is the client that is started with
/// the program: `main/client`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadName {
    /// Ordinals from 1, padded with 0, so that the derived order is that of the paths.
    path: [u16; MAX_DEPTH],
}

impl ThreadName {
    /// The thread that the program starts with.
    pub const MAIN: Self = Self { path: [0; MAX_DEPTH] };

    /// The client of the program.
    pub const CLIENT: Self = Self { path: [CLIENT.0, 0, 0, 0, 0, 0, 0] };

    /// The `ordinal`-th thread (from 1) that this one created; `None` past [`MAX_DEPTH`] or for ordinal 0.
    #[must_use]
    pub fn child(self, ordinal: u16) -> Option<Self> {
        if (1..FIRST_TIMER).contains(&ordinal) { self.below(ordinal) } else { None }
    }

    /// The timer number `nth` (from 0) that this thread made; `None` past [`MAX_DEPTH`], or of too many.
    #[must_use]
    pub fn timer(self, nth: u16) -> Option<Self> {
        self.below(FIRST_TIMER.checked_add(nth).filter(|&ordinal| ordinal != CLIENT.0)?)
    }

    fn below(mut self, ordinal: u16) -> Option<Self> {
        let depth = self.depth();
        *self.path.get_mut(depth)? = ordinal;
        Some(self)
    }

    /// Whether it is a timer.
    #[must_use]
    pub fn is_timer(&self) -> bool {
        self.path().last().is_some_and(|&ordinal| ordinal >= FIRST_TIMER && ordinal != CLIENT.0)
    }

    /// Whether it is the client.
    #[must_use]
    pub fn is_client(&self) -> bool {
        *self == Self::CLIENT
    }

    /// The thread that created this one; `None` for the main thread.
    #[must_use]
    pub fn parent(mut self) -> Option<Self> {
        let last = self.depth().checked_sub(1)?;
        self.path[last] = 0;
        Some(self)
    }

    /// The ordinals from the main thread down; empty for the main thread.
    #[must_use]
    pub fn path(&self) -> &[u16] {
        &self.path[..self.depth()]
    }

    fn depth(&self) -> usize {
        self.path.iter().position(|&o| o == 0).unwrap_or(MAX_DEPTH)
    }
}

impl fmt::Display for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("main")?;
        self.path().iter().try_for_each(|ordinal| match ordinal.checked_sub(FIRST_TIMER) {
            _ if *ordinal == CLIENT.0 => write!(f, "/{}", CLIENT.1),
            Some(nth) => write!(f, "/{TIMER}{nth}"),
            None => write!(f, "/{ordinal}"),
        })
    }
}

impl fmt::Debug for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not a thread's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a thread's name (expected `main`, `main/1`, `main/1/2` …)")]
pub struct ThreadNameError(String);

impl FromStr for ThreadName {
    type Err = ThreadNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ThreadNameError(text.to_owned());
        let mut parts = text.split('/');
        if parts.next() != Some("main") {
            return Err(wrong());
        }
        if text == Self::CLIENT.to_string() {
            return Ok(Self::CLIENT);
        }
        parts.try_fold(Self::MAIN, |name, part| {
            let named = match part.strip_prefix(TIMER) {
                Some(nth) => nth.parse().ok().and_then(|nth| name.timer(nth)),
                None => part.parse().ok().and_then(|ordinal| name.child(ordinal)),
            };
            named.ok_or_else(wrong)
        })
    }
}

impl Serialize for ThreadName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ThreadName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The schedule-independent name of a block of memory (a module's data, an allocation, a thread's stack …), as a stable
/// 64-bit digest of what the program says it is. [`crate::program::Program::describe`] gives its words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ObjName(pub u64);

impl ObjName {
    /// Set in the names of blocks that the program has allocated, and in no others.
    pub const ALLOCATED: u64 = 1 << 63;

    /// Whether the program has allocated it.
    #[must_use]
    pub const fn is_allocated(self) -> bool {
        self.0 & Self::ALLOCATED != 0
    }

    /// The object that stands for the end of its life. Memory that is shared makes accesses key points; this, if it is shared,
    /// makes the freeing of the block one.
    #[must_use]
    pub const fn release(self) -> Obj {
        const RELEASE: u64 = 0x2b7e_1516_28ae_d2a6;
        Obj::whole(self.0 ^ RELEASE)
    }
}

/// A location or a synchronisation object: `len` bytes at `offset` in the block `name`.
///
/// Two of them are the same location if they share a byte. A synchronisation object is one byte long, so that it never
/// overlaps its neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Obj {
    /// The block that holds it.
    pub name: ObjName,
    /// Bytes from the start of the block.
    pub offset: u32,
    /// Its length in bytes, at least 1.
    pub len: u32,
}

impl Obj {
    /// A one-byte object at the start of a block of its own.
    #[must_use]
    pub const fn whole(name: u64) -> Self {
        Self { name: ObjName(name), offset: 0, len: 1 }
    }

    /// The variable that it is part of, where variables are counted: a block that was allocated is one as a whole, any
    /// other object is one by itself.
    #[must_use]
    pub const fn variable(self) -> Self {
        if self.name.is_allocated() { Self { offset: 0, len: u32::MAX, ..self } } else { self }
    }

    /// Whether both share a byte.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.name == other.name
            && u64::from(self.offset) < u64::from(other.offset) + u64::from(other.len)
            && u64::from(other.offset) < u64::from(self.offset) + u64::from(self.len)
    }

    /// The bytes that both share, if they share any.
    #[must_use]
    pub fn common(&self, other: &Self) -> Option<Self> {
        let end = |obj: &Self| obj.offset.saturating_add(obj.len);
        let offset = self.offset.max(other.offset);
        let len = end(self).min(end(other)).saturating_sub(offset);
        self.overlaps(other).then_some(Self { offset, len, ..*self })
    }
}

/// A place in the program's code, the same in every execution; the backend knows its file, line and function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Site(pub u64);

/// An event's name: the thread and the number of events that it had run before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct EventId {
    /// The thread that ran it.
    pub thread: ThreadName,
    /// From 0, counting this thread's events only.
    pub index: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_sort_by_path() {
        let first = ThreadName::MAIN.child(1).unwrap();
        let nested = first.child(2).unwrap();
        let second = ThreadName::MAIN.child(2).unwrap();
        for name in [ThreadName::MAIN, first, nested, second] {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        assert_eq!((nested.parent(), first.parent()), (Some(first), Some(ThreadName::MAIN)));
        assert_eq!(ThreadName::MAIN.parent(), None);
        let mut sorted = [second, nested, first, ThreadName::MAIN];
        sorted.sort();
        assert_eq!(sorted, [ThreadName::MAIN, first, nested, second]);
    }

    #[test]
    fn timers_have_names_that_read_back_and_are_no_threads() {
        let first = ThreadName::MAIN.child(1).unwrap();
        for (timer, text) in [(ThreadName::MAIN.timer(0), "main/timer0"), (first.timer(2), "main/1/timer2")] {
            let timer = timer.unwrap();
            assert_eq!((timer.to_string().as_str(), text.parse()), (text, Ok(timer)));
            assert!(timer.is_timer() && !timer.parent().unwrap().is_timer());
        }
        assert_eq!((ThreadName::MAIN.child(0x8000), ThreadName::MAIN.timer(0x8000)), (None, None));
    }

    #[test]
    fn the_client_has_a_name_that_is_no_timer_s() {
        let client = ThreadName::CLIENT;
        assert_eq!((client.to_string().as_str(), "main/client".parse()), ("main/client", Ok(client)));
        assert!(client.is_client() && !client.is_timer() && client.parent() == Some(ThreadName::MAIN));
        assert_eq!(ThreadName::MAIN.timer(0x7fff), None);
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in [
            "main/client/1",
            "main/1/client",
            "main/timer",
            "main/timerx",
            "main/32768",
            "",
            "main/",
            "main/0",
            "other",
            "main/x",
            "main/1/1/1/1/1/1/1/1",
        ] {
            assert!(text.parse::<ThreadName>().is_err(), "{text}");
        }
    }

    #[test]
    fn neighbours_do_not_overlap() {
        let at = |offset, len| Obj { name: ObjName(1), offset, len };
        assert!(at(0, 4).overlaps(&at(3, 1)));
        assert!(!at(0, 4).overlaps(&at(4, 4)));
        assert!(!at(0, 4).overlaps(&Obj { name: ObjName(2), offset: 0, len: 4 }));
    }
}
