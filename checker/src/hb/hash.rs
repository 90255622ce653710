//! 128-bit hashes that are the same in every execution, process and build.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A hash of an event with everything that happened before it, or of a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct HbHash(pub u128);

impl fmt::Debug for HbHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Hashes a sequence of words into 128 bits: two lanes of multiply-and-fold with different odd constants.
///
/// Not a standard hasher: those promise neither 128 bits nor the same result tomorrow.
#[derive(Clone)]
pub(crate) struct Mixer {
    low: u64,
    high: u64,
}

const LOW: u64 = 0x9e37_79b9_7f4a_7c15;
const HIGH: u64 = 0xd6e8_feb8_6659_fd93;

fn fold(x: u64, by: u64) -> u64 {
    let product = u128::from(x) * u128::from(by);
    (product as u64) ^ ((product >> 64) as u64)
}

impl Mixer {
    pub(crate) const fn new(tag: u64) -> Self {
        Self { low: tag ^ HIGH, high: tag.rotate_left(32) ^ LOW }
    }

    pub(crate) fn word(&mut self, word: u64) {
        self.low = fold(self.low ^ word, LOW).wrapping_add(HIGH);
        self.high = fold(self.high ^ word.rotate_left(29), HIGH).wrapping_add(self.low.rotate_left(17));
    }

    pub(crate) fn wide(&mut self, word: u128) {
        self.word(word as u64);
        self.word((word >> 64) as u64);
    }

    pub(crate) fn finish(mut self) -> u128 {
        self.word(LOW);
        u128::from(self.low) | u128::from(self.high) << 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[u64]) -> u128 {
        let mut mixer = Mixer::new(0);
        words.iter().for_each(|&word| mixer.word(word));
        mixer.finish()
    }

    #[test]
    fn order_and_length_matter() {
        let all =
            [of(&[]), of(&[0]), of(&[0, 0]), of(&[1]), of(&[1, 0]), of(&[0, 1]), of(&[1, 2]), of(&[2, 1])];
        for (i, a) in all.iter().enumerate() {
            assert!(all.iter().skip(i + 1).all(|b| a != b), "{i}");
        }
    }

    #[test]
    fn near_inputs_do_not_collide_in_either_half() {
        let mut low: Vec<u64> = (0..20_000).map(|n| of(&[n]) as u64).collect();
        let mut high: Vec<u64> = (0..20_000).map(|n| (of(&[n]) >> 64) as u64).collect();
        for half in [&mut low, &mut high] {
            half.sort_unstable();
            half.dedup();
            assert_eq!(half.len(), 20_000);
        }
    }
}
