//! The sample of many tests alike that is run each time. `./test full` runs them all.

use crate::build::Optimisation;

/// From here the sample is taken.
const SEED: usize = 1;

/// The environment variable that `./test full` sets.
const FULL: &str = "INTERLEAVER_TEST_FULL";

/// Whether all are run.
#[must_use]
pub fn is_full() -> bool {
    std::env::var_os(FULL).is_some()
}

/// Whether the test at this place among many alike belongs to the sample, of which there is one in `one_in`.
#[must_use]
pub fn is_sampled(place: usize, one_in: usize) -> bool {
    is_full() || place % one_in == SEED % one_in
}

/// One in `one_in` of these, or all.
pub fn sample<T>(all: impl IntoIterator<Item = T>, one_in: usize) -> impl Iterator<Item = T> {
    all.into_iter().enumerate().filter(move |(place, _)| is_sampled(*place, one_in)).map(|(_, one)| one)
}

/// The levels of optimisation at which a program or a case of this name is tested: one by its name, so that half of all
/// is tested at each of them, or both.
pub fn levels(name: &str) -> impl Iterator<Item = Optimisation> {
    let sampled = name.bytes().fold(SEED, |sum, byte| sum + usize::from(byte)) % Optimisation::ALL.len();
    let levels = Optimisation::ALL.into_iter().enumerate();
    levels.filter(move |(place, _)| is_full() || *place == sampled).map(|(_, level)| level)
}
