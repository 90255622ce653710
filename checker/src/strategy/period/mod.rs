//! Periodical scheduling: schedules of few periods, in each of which one thread runs.
//!
//! Cheng Wen, Mengda He, Bohao Wu, Zhiwu Xu, Shengchao Qin: Controlled Concurrency Testing via Periodical Scheduling,
//! ICSE 2022. A *slice* says how many key points each thread ran. A job is a slice and a prefix; for 2 periods, then 3 and
//! so on, every schedule of every job is run in which chosen threads take turns and begin with the prefix. A slice that an
//! execution shows, and that its own job's slice does not support (no thread has more key points there), is a new job;
//! its prefix is what the schedule has up to where it first differs from the one before it. No bound is published.
//!
//! Deviations: executions are serial; threads that were not chosen run in the last period, by creation, each until it
//! blocks, where the paper lets them run freely; a thread that blocks ends its period, and what is left of it goes to its
//! last one; creations and joins are no key points, and run as soon as they can; a thread that is alone has no key points;
//! the first execution, which shows what threads there are, is the default schedule; a time-out runs only where no thread
//! can, and the first waiter wakes. Slices that are alike but for the names of their threads are both explored.

mod generator;
mod guide;

use std::collections::VecDeque;

use self::generator::{Generator, Period, PeriodPrefix};
use self::guide::{PeriodGuide, slice};
use super::{Coverage, Guide, Next, Notes, Strategy, WorkItem};
use crate::cache::Cache;
use crate::event::names::ThreadName;
use crate::program::Epoch;
use crate::trace::Trace;

/// The number of key points that each thread ran.
type Slice = Vec<(ThreadName, u32)>;

/// A slice with a prefix: the schedules to be run for it.
#[derive(Clone, Debug)]
struct SliceJob {
    slice: Slice,
    /// By places in [`Periods::threads`].
    prefix: PeriodPrefix,
    is_done: bool,
}

/// The execution under way.
#[derive(Clone, Debug)]
struct CurrentExecution {
    id: u64,
    /// By places in [`Periods::threads`].
    schedule: Vec<Period>,
}

/// A planner that iterates over numbers of periods.
#[derive(Debug)]
pub struct Periods {
    max: u32,
    /// Every thread seen, by its place in schedules.
    threads: Vec<ThreadName>,
    jobs: Vec<SliceJob>,
    /// The number of periods that schedules have now.
    count: u32,
    /// The job that is explored, its schedules, and the jobs whose turn is yet to come in this round.
    job: usize,
    schedules: Option<Generator>,
    turns: VecDeque<usize>,
    generated: bool,
    before: Vec<Period>,
    started: bool,
    in_flight: Option<CurrentExecution>,
    next_id: u64,
}

impl Periods {
    /// A search with at most so many periods.
    #[must_use]
    pub fn new(max: u32) -> Self {
        Self {
            max,
            threads: Vec::new(),
            jobs: Vec::new(),
            count: 2,
            job: 0,
            schedules: None,
            turns: VecDeque::new(),
            generated: false,
            before: Vec::new(),
            started: false,
            in_flight: None,
            next_id: 0,
        }
    }

    fn begin(&mut self, schedule: Vec<Period>) -> Next {
        let id = self.next_id;
        self.next_id += 1;
        self.in_flight = Some(CurrentExecution { id, schedule });
        Next::Work(WorkItem { id, prefix: Vec::new(), cost: 0, branch: None })
    }

    fn place(&mut self, thread: ThreadName) -> usize {
        self.threads.iter().position(|&known| known == thread).unwrap_or_else(|| {
            self.threads.push(thread);
            self.threads.len() - 1
        })
    }

    /// The next schedule of the job that has its turn, of those after it, and then of all with one more period.
    fn next_schedule(&mut self) -> Option<Vec<Period>> {
        loop {
            if let Some(schedule) = self.schedules.as_mut().and_then(Iterator::next) {
                self.generated = true;
                let places = &self.jobs[self.job].slice;
                let place = |nth: usize| self.threads.iter().position(|&known| known == places[nth].0);
                return schedule.into_iter().map(|(nth, count)| Some((place(nth)?, count))).collect();
            }
            if self.schedules.take().is_some() && !self.generated {
                self.jobs[self.job].is_done = true;
            }
            if !self.next_job() {
                return None;
            }
        }
    }

    fn next_job(&mut self) -> bool {
        if self.turns.is_empty() {
            if self.count >= self.max {
                return false;
            }
            self.count += 1;
            self.turns = (0..self.jobs.len()).filter(|&nth| !self.jobs[nth].is_done).collect();
        }
        let Some(nth) = self.turns.pop_front() else { return false };
        self.job = nth;
        self.generated = false;
        let SliceJob { slice, prefix, .. } = &self.jobs[nth];
        let local = |place: usize| slice.iter().position(|(name, _)| *name == self.threads[place]);
        let periods = prefix.periods.iter().map(|&(place, count)| Some((local(place)?, count))).collect();
        // A prefix with a thread that the slice has not cannot be followed.
        let prefix =
            Option::map(periods, |periods| PeriodPrefix { periods, then: prefix.then.and_then(local) });
        let counts = slice.iter().map(|&(_, count)| count).collect();
        self.schedules = prefix.map(|prefix| Generator::new(counts, self.count as usize, prefix));
        true
    }

    /// Makes a job of a slice that is new, or lets the one that there is begin with what both have in common.
    fn add(&mut self, slice: Slice, prefix: PeriodPrefix) {
        if let Some(known) = self.jobs.iter_mut().find(|job| job.slice == slice) {
            known.prefix = known.prefix.common(&prefix);
            return;
        }
        self.jobs.push(SliceJob { slice, prefix, is_done: false });
        self.turns.push_back(self.jobs.len() - 1);
    }
}

/// Whether no thread has more key points in the first slice than in the second.
fn is_supported(one: &Slice, by: &Slice) -> bool {
    let most = |thread| by.iter().find(|(name, _)| *name == thread).map_or(0, |&(_, count)| count);
    one.iter().all(|&(thread, count)| count <= most(thread))
}

impl Strategy for Periods {
    fn next(&mut self, _cache: &Cache) -> Next {
        if self.in_flight.is_some() {
            return Next::Wait;
        }
        if !self.started {
            self.started = true;
            return self.begin(Vec::new());
        }
        match self.next_schedule() {
            Some(schedule) => self.begin(schedule),
            None => Next::Done,
        }
    }

    fn guide<'a>(&'a self, item: &WorkItem, _cache: &'a Cache) -> Box<dyn Guide + 'a> {
        let begun = self.in_flight.as_ref().filter(|begun| begun.id == item.id);
        let schedule = begun.map(|begun| begun.schedule.as_slice()).unwrap_or_default();
        let periods = schedule.iter().map(|&(place, count)| (self.threads[place], count)).collect();
        Box::new(PeriodGuide::new(periods))
    }

    fn learn(&mut self, item: &WorkItem, run: &Trace, _notes: Notes, _cache: &Cache) {
        let Some(CurrentExecution { schedule, .. }) = self.in_flight.take_if(|begun| begun.id == item.id)
        else {
            return;
        };
        let seen = slice(run);
        seen.iter().for_each(|&(thread, _)| {
            self.place(thread);
        });
        if self.jobs.is_empty() {
            // The smallest approximation: one key point of each thread.
            let smallest = seen.iter().map(|&(thread, _)| (thread, 1)).collect();
            self.add(smallest, PeriodPrefix::default());
            return;
        }
        let prefix = PeriodPrefix::at_difference(&schedule, &self.before);
        self.before = schedule;
        if !is_supported(&seen, &self.jobs[self.job].slice) {
            self.add(seen, prefix);
        }
    }

    fn reset(&mut self, _epoch: Epoch) {
        let next_id = self.next_id;
        *self = Self { next_id, ..Self::new(self.max) };
    }

    fn coverage(&self, _cut: Option<u32>) -> Coverage {
        Coverage::default()
    }

    fn bound(&self) -> Option<u32> {
        Some(self.count)
    }
}
