//! Hit conditions: the numbers of the hits of a breakpoint that count. They are counted from the beginning of the program,
//! whichever way the session moves.

use std::collections::BTreeMap;

/// The hits that are stopped at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::debug) enum HitCondition {
    Is(u32),
    Above(u32),
    Below(u32),
    MultipleOf(u32),
}

impl HitCondition {
    /// Reads `3`, `== 3`, `> 3`, `>= 3`, `< 3`, `<= 3` or `% 3`; the error is a sentence.
    pub(in crate::debug) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("`{text}` is no hit count: a number, or one after `==`, `>`, `>=`, `<`, `<=` or `%`, is")
        };
        let trimmed = text.trim();
        let digits = trimmed.trim_start_matches(['=', '>', '<', '%']);
        let number: u32 = digits.trim().parse().map_err(|_| wrong())?;
        Ok(match &trimmed[..trimmed.len() - digits.len()] {
            "" | "=" | "==" => Self::Is(number),
            ">" => Self::Above(number),
            ">=" => number.checked_sub(1).map_or(Self::MultipleOf(1), Self::Above),
            "<" => Self::Below(number),
            "<=" => Self::Below(number.saturating_add(1)),
            "%" if number > 0 => Self::MultipleOf(number),
            _ => return Err(wrong()),
        })
    }

    /// Whether a hit counts.
    pub(in crate::debug) fn wants(self, number: u32) -> bool {
        match self {
            Self::Is(wanted) => number == wanted,
            Self::Above(limit) => number > limit,
            Self::Below(limit) => number < limit,
            Self::MultipleOf(step) => number.is_multiple_of(step),
        }
    }
}

/// Hit counts: the number of times that every breakpoint has been hit since the beginning of the program.
#[derive(Default)]
pub(in crate::debug) struct Tally(BTreeMap<u64, u32>);

impl Tally {
    /// Counts one more hit. Returns its number, from 1.
    pub(in crate::debug) fn hit(&mut self, breakpoint: u64) -> u32 {
        let count = self.0.entry(breakpoint).or_default();
        *count = count.saturating_add(1);
        *count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_counted_from_one() {
        let wanted = |text: &str| -> Vec<u32> {
            let condition = HitCondition::parse(text).unwrap();
            (1..=6).filter(|number| condition.wants(*number)).collect()
        };
        for (text, expected) in [
            ("3", vec![3]),
            ("== 3", vec![3]),
            ("=3", vec![3]),
            ("> 4", vec![5, 6]),
            (">=4", vec![4, 5, 6]),
            (">= 0", vec![1, 2, 3, 4, 5, 6]),
            ("< 3", vec![1, 2]),
            ("<= 3", vec![1, 2, 3]),
            ("%2", vec![2, 4, 6]),
            ("0", vec![]),
        ] {
            assert_eq!(wanted(text), expected, "{text}");
        }
        for text in ["", "x", "> ", "% 0", "!= 3", "-1", "3 times", "=>3"] {
            assert!(HitCondition::parse(text).is_err(), "{text}");
        }
        let mut tally = Tally::default();
        assert_eq!([tally.hit(1), tally.hit(2), tally.hit(1)], [1, 1, 2]);
    }
}
