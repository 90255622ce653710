//! Measured values of one quantity, and what they say together.

use std::fmt;

/// One value for each round.
#[derive(Clone, Debug, Default)]
pub struct Sample(Vec<f64>);

impl Sample {
    /// Takes in the value of one more round.
    pub fn add(&mut self, value: f64) {
        let at = self.0.partition_point(|&other| other < value);
        self.0.insert(at, value);
    }

    /// The same in another unit.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self(self.0.iter().map(|value| value * factor).collect())
    }

    /// The middle value; not a number where there is none.
    #[must_use]
    pub fn median(&self) -> f64 {
        let (low, high) = (self.0.len().saturating_sub(1) / 2, self.0.len() / 2);
        match (self.0.get(low), self.0.get(high)) {
            (Some(low), Some(high)) => f64::midpoint(*low, *high),
            _ => f64::NAN,
        }
    }

    /// The greatest value; not a number where there is none.
    #[must_use]
    pub fn most(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }

    /// The middle half of the values: those that a busy moment of the machine does not decide.
    #[must_use]
    pub fn middle_half(&self) -> &[f64] {
        let quarter = self.0.len() / 4;
        &self.0[quarter..self.0.len() - quarter]
    }
}

impl FromIterator<f64> for Sample {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sample = Self::default();
        values.into_iter().for_each(|value| sample.add(value));
        sample
    }
}

/// The median, and from where to where the values go.
impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(0);
        let (least, most) = (self.0.first(), self.0.last());
        let [least, most] = [least, most].map(|end| end.copied().unwrap_or(f64::NAN));
        write!(f, "{:.digits$} ({least:.digits$}..{most:.digits$})", self.median())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], expected: &str) {
        let sample: Sample = values.iter().copied().collect();
        assert_eq!(format!("{sample:.1}"), expected);
    }

    #[test]
    fn the_median_is_the_middle_one_or_between_the_two_in_the_middle() {
        check(&[3.0, 1.0, 9.0], "3.0 (1.0..9.0)");
        check(&[4.0, 1.0, 9.0, 2.0], "3.0 (1.0..9.0)");
        check(&[5.0], "5.0 (5.0..5.0)");
        check(&[], "NaN (NaN..NaN)");
    }

    #[test]
    fn the_middle_half_leaves_out_a_quarter_at_each_end() {
        let sample: Sample = (1..=8).rev().map(f64::from).collect();
        assert_eq!(sample.middle_half(), [3.0, 4.0, 5.0, 6.0]);
        assert_eq!(Sample::default().middle_half(), [0.0; 0]);
    }
}
