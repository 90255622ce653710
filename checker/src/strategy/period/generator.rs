//! Every schedule of a number of periods for a slice, one after another.

/// A period: a thread, by its place in the slice, and the number of its key points in it.
pub(super) type Period = (usize, u32);

/// The beginning of schedules: periods as they are, then perhaps one of a thread with any number of key points.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct PeriodPrefix {
    pub(super) periods: Vec<Period>,
    pub(super) then: Option<usize>,
}

impl PeriodPrefix {
    /// Up to the first key point at which a schedule differs from the one before it; of that one the thread.
    pub(super) fn at_difference(schedule: &[Period], before: &[Period]) -> Self {
        let expand = |periods: &[Period]| -> Vec<usize> {
            periods.iter().flat_map(|&(thread, count)| vec![thread; count as usize]).collect()
        };
        let (here, before) = (expand(schedule), expand(before));
        let at = here.iter().zip(&before).take_while(|(one, other)| one == other).count();
        let mut periods: Vec<Period> = Vec::new();
        for &thread in &here[..at] {
            match periods.last_mut() {
                Some((last, count)) if *last == thread => *count += 1,
                _ => periods.push((thread, 1)),
            }
        }
        let then = here.get(at).copied();
        // The period goes on: its length is open.
        periods.pop_if(|(last, _)| Some(*last) == then);
        Self { periods, then }
    }

    /// The common beginning of both.
    pub(super) fn common(&self, other: &Self) -> Self {
        let same = self.periods.iter().zip(&other.periods).take_while(|(one, other)| one == other).count();
        let next = |prefix: &Self| prefix.periods.get(same).map(|&(thread, _)| thread).or(prefix.then);
        let then = next(self).filter(|_| next(self) == next(other));
        Self { periods: self.periods[..same].to_vec(), then }
    }

    fn starts(&self, pattern: &[usize]) -> bool {
        let threads = self.periods.iter().map(|&(thread, _)| thread).chain(self.then);
        let mut pattern = pattern.iter();
        threads.into_iter().all(|thread| pattern.next() == Some(&thread))
    }
}

/// The schedules of `periods` periods in which chosen threads, 1 to all of them, take turns, and each runs as many key points
/// as the slice has: by choice, by pattern (the thread of each period), and by the spread of the key points, each in
/// lexicographic order.
#[derive(Clone, Debug)]
pub(super) struct Generator {
    slice: Vec<u32>,
    prefix: PeriodPrefix,
    pattern: Vec<usize>,
    chosen: Option<Vec<usize>>,
    /// The number of the pattern among all sequences of chosen threads.
    nth: u64,
    /// Of each chosen thread, the key points in each of its periods; empty before the first schedule of a pattern.
    spread: Vec<Parts>,
}

impl Generator {
    pub(super) fn new(slice: Vec<u32>, periods: usize, prefix: PeriodPrefix) -> Self {
        let chosen = (!slice.is_empty() && periods > 0).then(|| vec![0]);
        Self { slice, prefix, pattern: vec![0; periods], chosen, nth: 0, spread: Vec::new() }
    }

    fn next_pattern(&mut self) -> Option<()> {
        loop {
            let chosen = self.chosen.as_mut()?;
            let base = chosen.len() as u64;
            let mut number = self.nth;
            for place in self.pattern.iter_mut().rev() {
                *place = chosen[(number % base) as usize];
                number /= base;
            }
            if number > 0 {
                let most = self.pattern.len();
                if !next_choice(chosen, self.slice.len(), most) {
                    self.chosen = None;
                }
                self.nth = 0;
                continue;
            }
            self.nth += 1;
            if let Some(spread) = self.first_spread() {
                self.spread = spread;
                return Some(());
            }
        }
    }

    /// The first way to spread the key points over the pattern; nothing, if there is none.
    fn first_spread(&self) -> Option<Vec<Parts>> {
        let repeats = self.pattern.windows(2).any(|two| two[0] == two[1]);
        if repeats || !self.prefix.starts(&self.pattern) {
            return None;
        }
        let parts = |&thread: &usize| {
            let periods = self.pattern.iter().filter(|&&other| other == thread).count();
            let fixed = self.prefix.periods.iter().filter(|&&(other, _)| other == thread);
            Parts::first(self.slice[thread], periods, fixed.map(|&(_, count)| count).collect())
        };
        self.chosen.as_ref()?.iter().map(parts).collect()
    }

    fn schedule(&self) -> Vec<Period> {
        let chosen = self.chosen.as_deref().unwrap_or_default();
        let mut used = vec![0; chosen.len()];
        let mut period = |&thread: &usize| {
            let nth = chosen.iter().position(|&other| other == thread).unwrap_or(0);
            used[nth] += 1;
            (thread, self.spread[nth].counts[used[nth] - 1])
        };
        self.pattern.iter().map(&mut period).collect()
    }

    /// Goes on to the next way to spread the key points: the last thread's varies first.
    fn advance(&mut self) -> bool {
        for nth in (0..self.spread.len()).rev() {
            if self.spread[nth].advance() {
                return true;
            }
            self.spread[nth].restart();
        }
        false
    }
}

impl Iterator for Generator {
    type Item = Vec<Period>;

    fn next(&mut self) -> Option<Vec<Period>> {
        if self.spread.is_empty() || !self.advance() {
            self.spread.clear();
            self.next_pattern()?;
        }
        Some(self.schedule())
    }
}

/// The next choice of at most `most` of `0..count`, in lexicographic order.
fn next_choice(chosen: &mut Vec<usize>, count: usize, most: usize) -> bool {
    let last = chosen.last().copied().unwrap_or(0);
    if chosen.len() < most && last + 1 < count {
        chosen.push(last + 1);
        return true;
    }
    while let Some(last) = chosen.pop() {
        if last + 1 < count {
            chosen.push(last + 1);
            return true;
        }
    }
    false
}

/// The spread of the key points of a thread over its periods, at least one in each, as many as can be in the first.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Parts {
    counts: Vec<u32>,
    /// The first ones are given.
    fixed: usize,
}

impl Parts {
    fn first(key_points: u32, periods: usize, fixed: Vec<u32>) -> Option<Self> {
        let given = fixed.len();
        let rest = key_points.checked_sub(fixed.iter().sum())?;
        let open = periods.checked_sub(given)? as u32;
        if open == 0 && rest > 0 || rest < open {
            return None;
        }
        let counts = fixed.into_iter().chain((0..open).map(|_| 1)).collect();
        let mut parts = Self { counts, fixed: given };
        if let Some(first) = parts.counts.get_mut(given) {
            *first += rest - open;
        }
        Some(parts)
    }

    fn restart(&mut self) {
        let open = self.counts[self.fixed..].iter().sum::<u32>() + 1
            - (self.counts.len() - self.fixed).max(1) as u32;
        let mut first = true;
        for count in &mut self.counts[self.fixed..] {
            *count = if first { open } else { 1 };
            first = false;
        }
    }

    fn advance(&mut self) -> bool {
        let movable =
            (self.fixed..self.counts.len().saturating_sub(1)).rev().find(|&nth| self.counts[nth] > 1);
        let Some(nth) = movable else { return false };
        self.counts[nth] -= 1;
        let rest: u32 = self.counts[nth + 1..].iter().sum();
        let after = (self.counts.len() - nth - 2) as u32;
        self.counts[nth + 1] = rest + 1 - after;
        self.counts[nth + 2..].fill(1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `001/2`: two key points of thread 0 and one of thread 1, then one of thread 2.
    fn words(schedules: impl Iterator<Item = Vec<Period>>) -> Vec<String> {
        let period = |(thread, count): Period| thread.to_string().repeat(count as usize);
        schedules.map(|periods| periods.into_iter().map(period).collect::<Vec<_>>().join(" ")).collect()
    }

    fn all(slice: &[u32], periods: usize, prefix: PeriodPrefix) -> Vec<String> {
        words(Generator::new(slice.to_vec(), periods, prefix))
    }

    #[test]
    fn the_smallest_slice_is_run_in_both_orders() {
        assert_eq!(all(&[1, 1], 2, PeriodPrefix::default()), ["0 1", "1 0"]);
        assert_eq!(all(&[1, 1], 3, PeriodPrefix::default()), Vec::<String>::new());
    }

    #[test]
    fn the_example_of_the_paper_begins_as_it_says() {
        // Section 3.2.1: three, two and one key points in four periods; the first pattern has all three threads there.
        let schedules = all(&[3, 2, 1], 4, PeriodPrefix::default());
        let three: Vec<&String> = schedules.iter().filter(|schedule| schedule.contains('2')).collect();
        assert_eq!(three[..2], ["00 11 0 2", "0 11 00 2"]);
        assert_eq!(schedules.iter().position(|schedule| schedule == "00 1 0 1"), Some(0));
    }

    #[test]
    fn every_schedule_comes_once_and_obeys_the_rules() {
        let slice = [3, 2, 2];
        let mut count = 0;
        let mut seen = std::collections::BTreeSet::new();
        for periods in 1..=6 {
            for schedule in Generator::new(slice.to_vec(), periods, PeriodPrefix::default()) {
                count += 1;
                assert_eq!(schedule.len(), periods);
                assert!(
                    schedule.windows(2).all(|two| two[0].0 != two[1].0) && schedule.iter().all(|p| p.1 > 0)
                );
                for (thread, &key_points) in slice.iter().enumerate() {
                    let own: u32 = schedule.iter().filter(|p| p.0 == thread).map(|p| p.1).sum();
                    assert!(own == 0 || own == key_points, "{schedule:?}");
                }
                assert!(seen.insert(schedule));
            }
        }
        // Of one thread 1; of two with 3 and 2 (twice) or 2 and 2 key points, all their interleavings: 10, 10 and 6. Of all
        // three, those of the 7!/(3! 2! 2!) that have at most six blocks.
        let blocks = |order: &[usize]| 1 + order.windows(2).filter(|two| two[0] != two[1]).count();
        let mut three = 0;
        for code in 0..3_u32.pow(7) {
            let order: Vec<usize> = (0..7).map(|place| (code / 3_u32.pow(place) % 3) as usize).collect();
            let right =
                (0..3).all(|thread| order.iter().filter(|&&o| o == thread).count() == slice[thread] as usize);
            three += u32::from(right && blocks(&order) <= 6);
        }
        assert_eq!(count, 3 + 10 + 10 + 6 + three);
    }

    #[test]
    fn a_prefix_is_what_comes_before_the_first_difference() {
        let here = [(0, 4), (1, 1), (0, 5)];
        assert_eq!(
            PeriodPrefix::at_difference(&here, &[(0, 5), (1, 1), (0, 4)]),
            PeriodPrefix { periods: vec![(0, 4)], then: Some(1) }
        );
        assert_eq!(PeriodPrefix::at_difference(&here, &[]), PeriodPrefix { periods: vec![], then: Some(0) });
        assert_eq!(
            PeriodPrefix::at_difference(&[(0, 2), (1, 2)], &[(0, 1), (1, 2)]),
            PeriodPrefix { periods: vec![], then: Some(0) }
        );
        let prefix = PeriodPrefix { periods: vec![(0, 4)], then: Some(1) };
        let within = all(&[9, 2], 3, prefix.clone());
        assert_eq!(within, ["0000 11 00000"]);
        assert_eq!(
            prefix.common(&PeriodPrefix { periods: vec![(0, 3)], then: Some(1) }),
            PeriodPrefix { periods: vec![], then: Some(0) }
        );
        assert_eq!(prefix.common(&PeriodPrefix { periods: vec![(0, 4), (1, 2)], then: Some(0) }), prefix);
    }
}
