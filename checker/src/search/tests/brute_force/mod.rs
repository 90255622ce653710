//! Searches compared with brute force, mostly on programs drawn at random.

pub(crate) mod against_oracle;
mod bounded_dpor;
mod dpor;
pub(crate) mod generated;
pub(crate) mod oracle;
mod races;
mod turns;

use super::*;
