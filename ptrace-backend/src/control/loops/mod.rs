//! Loops in which a thread waits, or that do not end, and the way in which they are told from others.

pub(crate) mod livelock_probe;
pub(crate) mod overdue;
pub(crate) mod pauses;
mod rehearsal;
pub(crate) mod spin;
pub(crate) mod time_slices;
mod trial;
