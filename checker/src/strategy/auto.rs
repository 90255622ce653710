//! A portfolio that a user need not understand: searches that find most failures soon, and beside them two that cover what they run.
//!
//! It begins with three schedules without chance ([`super::initial_schedules`]). Then surw has most of the first executions, since it
//! needs the fewest to a failure on the programs that `docs/searches.md` lists; schedules that show new reads ([`super::sampling::novel`])
//! have some, and where there are many threads, periods. Between them come icb (Musuvathi, Qadeer, PLDI 2007), which covers a
//! bound, and dpor ([`super::dpor`]), which covers every schedule: of a program with few classes of schedules dpor comes to its end
//! first, of one with many threads or loops icb. dpor is on trial: it has a third until it has run so many executions that it will hardly
//! end, and gives up where its executions are long. After that icb has every second one, and at last five of six; between them
//! come surw, new reads, pos, reads-from pairs and periods. All of them learn from what the others have run. icb does not go
//! alone to one preemption first: with many threads that takes thousands of schedules, where others need ten. The coverage is
//! that of icb, and everything where dpor has come to its end; the search ends when one of them does. No bound is published for a
//! portfolio.

use super::brief::Brief;
use super::{
    Coverage, Frontier, Guide, Guided, InitialSchedule, InitialSchedules, Next, Notes, Novel, Periods, Pos,
    Preemptions, Racing, ReverseSearch, Sampler, SpeculationValidity, Strategy, Surw, WorkItem,
};
use crate::cache::Cache;
use crate::limit::Limit;
use crate::program::Epoch;
use crate::trace::Trace;

const ICB: usize = 0;
const DPOR: usize = 1;
const NOVEL: usize = 2;
const SURW: usize = 3;
const INITIAL: usize = 4;
/// From here on they share a turn.
const OTHERS: usize = 5;
const PERIODS: usize = 7;
const PARTS: usize = 8;

/// With more threads than these, the initial schedules leave most of the orders in which they can run one after the other. Periods
/// begin with such orders, and have so many executions then.
const FEW_THREADS: usize = 3;
const SERIAL: u64 = 4;

/// So many executions after the initial schedules are surw's and dpor's, apart from these.
const FIRST: u64 = 16;

/// So many executions are given mostly to what finds failures soon.
const EARLY: u64 = 40;

/// After so many most failures that chance finds have been found. Then icb has five of six, so that it comes to the end of its
/// bound within a budget that it could keep alone.
const LATE: u64 = 1_000;

/// So many executions of dpor's are its trial.
const TRIAL: u64 = 250;

/// The longest execution of dpor's, in events: a loop that waits may go on for ever there.
const LONGEST: usize = 600;

/// Several searches that take turns.
pub struct Auto {
    /// icb is the first of them.
    parts: [Box<dyn Strategy>; PARTS],
    max_preemptions: u32,
    /// The number of executions after the initial schedules.
    count: u64,
    /// Those of dpor among them.
    on_trial: u64,
    /// Parts that have nothing left.
    done: [bool; PARTS],
    /// The most threads that were seen.
    threads: usize,
}

impl Auto {
    /// A portfolio with these bounds, whose planning this limit ends.
    #[must_use]
    pub fn new(max_preemptions: u32, max_periods: u32, seed: u64, limit: &Limit) -> Self {
        let parts: [Box<dyn Strategy>; PARTS] = [
            Box::new(Frontier::new(Preemptions { max: max_preemptions })),
            Box::new(ReverseSearch::new().until(limit)),
            Box::new(Sampler::new(Novel::default(), seed)),
            Box::new(Sampler::new(Surw::default(), seed)),
            Box::new(InitialSchedules::default()),
            Box::new(Sampler::new(Pos::new(Racing::Conflicts), seed)),
            Box::new(Guided::new(seed)),
            Box::new(Periods::new(max_periods)),
        ];
        Self { parts, max_preemptions, count: 0, on_trial: 0, done: [false; PARTS], threads: 0 }
    }

    /// The part whose turn it is.
    fn turn(&self) -> usize {
        if !self.done[INITIAL] {
            return INITIAL;
        }
        // A single thread has one schedule, which icb covers.
        if self.threads == 1 {
            return ICB;
        }
        if self.threads > FEW_THREADS && self.count < SERIAL && !self.done[PERIODS] {
            return PERIODS;
        }
        let dpor_or = |part| if self.done[DPOR] { part } else { DPOR };
        if self.count < FIRST {
            return if self.count % 4 == 3 { dpor_or(SURW) } else { SURW };
        }
        let (round, nth) = (self.count / 6, self.count % 6);
        if self.count < EARLY {
            return match nth {
                1 | 4 => dpor_or(SURW),
                3 => NOVEL,
                5 => ICB,
                _ => SURW,
            };
        }
        if !self.done[DPOR] && self.on_trial < TRIAL {
            return match (nth, round % 3) {
                (2 | 4, _) => DPOR,
                (0, 0) => SURW,
                (0, 1) => NOVEL,
                (0, _) => self.another(round / 3),
                _ => ICB,
            };
        }
        if self.count >= LATE {
            return match (nth, round % 3) {
                (0, 0) => SURW,
                (0, 1) => NOVEL,
                (0, _) => self.another(round / 3),
                (3, 0) => dpor_or(ICB),
                _ => ICB,
            };
        }
        match nth {
            1 | 3 | 5 => ICB,
            0 => SURW,
            2 if round.is_multiple_of(2) => NOVEL,
            2 => dpor_or(self.another(round)),
            _ => self.another(round),
        }
    }

    /// Whether dpor has come to its end. It knows itself which of its executions were cut.
    fn has_run_everything(&self) -> bool {
        self.parts[DPOR].coverage(None).everything
    }

    fn covered_by_icb(&self, cut: Option<u32>) -> Coverage {
        self.parts[ICB].coverage(cut.filter(|&cut| cut < u32::MAX))
    }

    /// One of the others that has something left.
    fn another(&self, round: u64) -> usize {
        let others = PARTS - OTHERS;
        let mut turns = (0..others).map(|further| OTHERS + (round as usize + further) % others);
        turns.find(|&part| !self.done[part]).unwrap_or(ICB)
    }
}

/// An item of a part under a name that no other part uses.
fn wrapped(part: usize, item: WorkItem) -> WorkItem {
    // Unexplored items of other parts leave no gap in what icb covers.
    let cost = if part == ICB { item.cost } else { u32::MAX };
    WorkItem { id: item.id * PARTS as u64 + part as u64, cost, ..item }
}

/// The part, and the item as it was.
fn unwrapped(item: &WorkItem) -> (usize, WorkItem) {
    let part = (item.id % PARTS as u64) as usize;
    let cost = if part == ICB { item.cost } else { 0 };
    (part, WorkItem { id: item.id / PARTS as u64, cost, ..item.clone() })
}

impl Strategy for Auto {
    fn next(&mut self, cache: &Cache) -> Next {
        loop {
            if self.has_run_everything() {
                return Next::Done;
            }
            let part = self.turn();
            match self.parts[part].next(cache) {
                Next::Work(item) => {
                    self.count += u64::from(part != INITIAL);
                    self.on_trial += u64::from(part == DPOR);
                    return Next::Work(wrapped(part, item));
                }
                Next::Wait => return Next::Wait,
                Next::Done if part == ICB => return Next::Done,
                Next::Done => self.done[part] = true,
            }
        }
    }

    fn guide<'a>(&'a self, item: &WorkItem, cache: &'a Cache) -> Box<dyn Guide + 'a> {
        let (part, own) = unwrapped(item);
        // icb enters states into the cache under the name by which the search knows the item.
        let guide = self.parts[part].guide(if part == ICB { item } else { &own }, cache);
        if part == DPOR { Box::new(Brief::new(guide, LONGEST)) } else { guide }
    }

    fn determinism_schedule(&self) -> Option<InitialSchedule> {
        Some(InitialSchedule::FIRST)
    }

    /// Of icb: the others are few, and learn from each schedule.
    fn speculate(&mut self, cache: &Cache, others: usize) -> Option<(WorkItem, Box<dyn Guide + Send>)> {
        let (item, guide) = self.parts[ICB].speculate(cache, others)?;
        Some((wrapped(ICB, item), guide))
    }

    fn validate_speculation(
        &mut self,
        item: &WorkItem,
        notes: &mut Notes,
        cache: &Cache,
    ) -> SpeculationValidity {
        let (part, own) = unwrapped(item);
        self.parts[part].validate_speculation(if part == ICB { item } else { &own }, notes, cache)
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, notes: Notes, cache: &Cache) {
        let (part, own) = unwrapped(item);
        self.threads = self.threads.max(run.threads.len());
        let is_too_long = part == DPOR && run.steps.len() >= LONGEST;
        if !is_too_long {
            self.parts[part].learn(&own, run, notes, cache);
        }
        // An item that is never taken in leaves a gap in what dpor covers, as what it has left out does.
        self.done[DPOR] |= is_too_long || !self.parts[DPOR].may_cover_everything();
        let others = self.parts.iter_mut().enumerate().filter(|&(other, _)| other != part);
        others.for_each(|(_, other)| other.observe(run));
    }

    fn observe(&mut self, run: &Trace) {
        self.parts.iter_mut().for_each(|part| part.observe(run));
    }

    fn reset(&mut self, epoch: Epoch) {
        self.parts.iter_mut().for_each(|part| part.reset(epoch));
        (self.count, self.on_trial, self.done) = (0, 0, [false; PARTS]);
    }

    fn coverage(&self, cut: Option<u32>) -> Coverage {
        if self.has_run_everything() {
            let preemptions = Some(self.max_preemptions);
            return Coverage { preemptions, everything: true, ..Coverage::default() };
        }
        self.covered_by_icb(cut)
    }

    fn covered_at_least_cost(&self, covered: Coverage, cut: Option<u32>) -> Coverage {
        // Failures that did not come again leave nothing covered, by whichever search.
        if covered.everything { self.covered_by_icb(cut) } else { covered }
    }

    fn bound(&self) -> Option<u32> {
        self.parts[ICB].bound()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of these executions that each part has, where there were so many threads.
    fn shares(threads: usize, range: std::ops::Range<u64>, on_trial: Option<u64>) -> [usize; PARTS] {
        let mut auto = Auto::new(2, 6, 0, &Limit::default());
        auto.done[INITIAL] = true;
        auto.done[DPOR] = on_trial.is_none();
        auto.on_trial = on_trial.unwrap_or_default();
        auto.threads = threads;
        let mut shares = [0; PARTS];
        for count in range {
            auto.count = count;
            shares[auto.turn()] += 1;
        }
        shares
    }

    #[test]
    fn chance_comes_first_and_icb_has_most_in_the_end() {
        assert_eq!(shares(2, 0..FIRST, Some(0)), [0, 4, 0, 12, 0, 0, 0, 0]);
        assert_eq!(shares(2, FIRST..EARLY, Some(0)), [4, 8, 4, 8, 0, 0, 0, 0]);
        let one_round = 1_008..1_008 + 54;
        assert_eq!(shares(2, EARLY..EARLY + 36, Some(0)), [18, 12, 2, 2, 0, 1, 0, 1]);
        assert_eq!(shares(2, EARLY..EARLY + 36, Some(TRIAL)), [18, 3, 3, 6, 0, 2, 2, 2]);
        assert_eq!(shares(2, one_round.clone(), Some(TRIAL)), [42, 3, 3, 3, 0, 1, 1, 1]);
        assert_eq!(shares(2, one_round, None), [45, 0, 3, 3, 0, 1, 1, 1]);
    }

    #[test]
    fn a_single_thread_is_left_to_icb() {
        assert_eq!(shares(1, 0..FIRST, Some(0)), [16, 0, 0, 0, 0, 0, 0, 0]);
    }
}
