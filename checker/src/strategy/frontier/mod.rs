//! The search that icb, idb and dfs share: a frontier of prefixes, taken in order of cost; where one cost has very many,
//! the next one takes turns with it.
//!
//! One execution follows its prefix and then the cheapest scheduler there is; every choice that it does not take becomes
//! an item of its own at the cost of taking it. An alternative whose state is known already, or is already waiting, is
//! dropped before an execution is spent on it.

mod bound;
mod dfs;
mod guide;
mod icb;
mod idb;
mod joins;
mod path;
mod place;
mod planner;
mod speculation;
mod stack;
mod visits;

pub use self::bound::Bound;
pub use self::dfs::Unbounded;
pub use self::icb::Preemptions;
pub use self::idb::Delays;
pub(super) use self::place::{at_thread, time_goes_on, waits};
pub use self::planner::Frontier;
pub use self::visits::Visits;
