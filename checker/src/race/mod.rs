//! Data races of one execution: two conflicting plain accesses that synchronisation alone does not order.
//!
//! Vector clocks: Pozniansky, Schuster: Efficient on-the-fly data race detection in multithreaded C++ programs, PPoPP 2003
//! (DJIT+); of an access its thread and that thread's count is all that has to be kept: Flanagan, Freund: FastTrack,
//! PLDI 2009. Where both promise the first race of a variable, this finds every pair of places that races: of each thread
//! the last access from each place is kept, which is unordered with a later one if any of them is.
//!
//! Synchronisation is everything that is no load or store, creation and join, and the loads and stores of *synchronisation
//! variables*: bytes that the source calls atomic, or that were ever touched by an indivisible instruction or a futex, or
//! spun on. Conflicts between such accesses order, as release and acquire do.

mod detector;
mod hidden;
mod neighbours;
mod pairs;
#[cfg(test)]
mod tests;
mod torn;
mod triangular;

pub use self::detector::{AccessSite, Detector, Race};
pub(crate) use self::detector::{is_plain, learn, ordering};
pub use self::hidden::HiddenSynchronisation;
pub(crate) use self::hidden::{MergedTrace, with};
pub(crate) use self::pairs::MOST;
pub use self::pairs::{HarmfulOrder, Pairs, RacingPair};
pub use self::torn::TornAccesses;
pub use self::triangular::{Triangle, Triangles};
