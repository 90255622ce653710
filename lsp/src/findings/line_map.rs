//! Places of the lines of an old text in a new one.

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use std::time::{Duration, Instant};

/// The longest time for comparing two texts; past it the result is coarser, and still right.
const PATIENCE: Duration = Duration::from_millis(50);

/// For each line of the old text, its line in the new one.
#[derive(Debug)]
pub(super) struct LineMap(Vec<u32>);

impl LineMap {
    pub(super) fn new(old: &str, new: &str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let deadline = Some(Instant::now() + PATIENCE);
        let mut lines = vec![0; old.len()];
        for operation in capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline) {
            place(&mut lines, operation, new.len().saturating_sub(1));
        }
        Self(lines)
    }

    /// The line of an old line, both from 0; past the end, the last one.
    pub(super) fn of(&self, line: u32) -> u32 {
        let known = self.0.get(line as usize).or(self.0.last());
        known.copied().unwrap_or(line)
    }
}

/// A line that was replaced stays as far from the beginning of what replaced it; one that was deleted goes where it was.
fn place(lines: &mut [u32], operation: DiffOp, last: usize) {
    let new = operation.new_range();
    for (offset, old) in operation.old_range().enumerate() {
        let most = new.end.saturating_sub(1).max(new.start);
        let line = (new.start + offset).min(most).min(last);
        lines[old] = u32::try_from(line).unwrap_or(u32::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every letter is a line.
    #[track_caller]
    fn check(old: &str, new: &str, expected: &[u32]) {
        let lines = |text: &str| text.chars().map(|c| format!("{c}\n")).collect::<String>();
        let map = LineMap::new(&lines(old), &lines(new));
        let of: Vec<u32> = (0..old.len() as u32).map(|line| map.of(line)).collect();
        assert_eq!(of, expected);
    }

    #[test]
    fn lines_move_with_what_is_put_before_them() {
        check("abc", "xabc", &[1, 2, 3]);
        check("abc", "axbc", &[0, 2, 3]);
        check("abc", "bc", &[0, 0, 1]);
    }

    #[test]
    fn a_line_that_is_edited_stays_where_it_is() {
        check("abc", "axc", &[0, 1, 2]);
        check("abcd", "axyd", &[0, 1, 2, 3]);
        check("abcd", "axd", &[0, 1, 1, 2]);
    }

    #[test]
    fn a_line_that_is_gone_is_where_it_was() {
        check("abc", "ab", &[0, 1, 1]);
        check("abc", "", &[0, 0, 0]);
        check("", "abc", &[]);
        assert_eq!(LineMap::new("a\n", "b\na\n").of(7), 1);
    }
}
