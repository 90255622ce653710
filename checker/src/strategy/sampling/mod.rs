//! Searches that draw schedules at random, each with its own distribution; one planner, [`Sampler`], has them all.

pub(super) mod choices;
mod novel;
mod pct;
mod pctvb;
pub(super) mod pos;
mod random;
mod rapos;
pub(super) mod rng;
mod sampler;
pub(super) mod starvation_guard;
mod surw;

pub use self::novel::Novel;
pub use self::pct::Pct;
pub use self::pctvb::PctVb;
pub use self::pos::{Pos, Racing};
pub use self::random::Random;
pub use self::rapos::Rapos;
pub use self::rng::SeededRng;
pub use self::sampler::{Sample, Sampler};
pub use self::surw::Surw;

#[cfg(test)]
pub(crate) use self::rng::Script;
