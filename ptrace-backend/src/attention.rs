//! Proof that no loop is deaf: in builds with debug assertions, a thread that uses a second of a processor's time without having
//! looked whether it may go on ends the process.
//!
//! The clock is that of the thread, so that a loaded machine makes no difference.

use std::cell::Cell;

use crate::os::alarm::Alarm;

thread_local! {
    /// How often this thread has looked.
    static LOOKS: Cell<u64> = const { Cell::new(0) };
    /// The same when its alarm went off last.
    static HEARD: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// The calling thread looks whether it may go on.
pub fn look() {
    if cfg!(debug_assertions) {
        LOOKS.set(LOOKS.get().wrapping_add(1));
    }
}

/// While this is there, the thread that made it has to look in time.
#[derive(Debug)]
#[must_use]
pub struct Attention {
    _alarm: Option<Alarm>,
}

impl Attention {
    /// From now on the calling thread looks in time.
    pub fn pay() -> Self {
        HEARD.set(u64::MAX);
        look();
        Self { _alarm: if cfg!(debug_assertions) { Alarm::each_second(check).ok() } else { None } }
    }
}

/// Within a signal handler.
fn check() -> bool {
    let looks = LOOKS.get();
    HEARD.replace(looks) != looks
}
