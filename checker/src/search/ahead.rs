//! Several workers: items are run ahead of their turn, and their results are taken in when it comes.
//!
//! The search itself stays in the hands of one thread, which takes items in the order in which it would alone. The other
//! workers run what was chosen to come next ([`Strategy::ahead`]), each on its own. When it is the turn of such an item
//! its result stands for the execution, if that would be the same or a longer one ([`Strategy::settle`]); else the item is
//! run. So all that is counted, covered, found and said is the same with any number of workers, and in every run.
//!
//! Whatever goes wrong elsewhere (key points were found, the program could not be started, a worker is gone) is no result:
//! the item is run here, where it goes wrong in its turn, or does not.

use std::collections::VecDeque;
use std::mem;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Search;
use crate::execution::{End, Limits, OnlyAt, Over, Runner, SearchError};
use crate::limit::Limit;
use crate::program::{Ending, Epoch, Program, Scope};
use crate::strategy::{Guide, Notes, Settled, WorkItem};
use crate::trace::Trace;

/// Workers beside the thread that runs the search.
pub trait Workers {
    /// How many there are.
    fn count(&self) -> usize;

    /// How many more jobs they take now, so that none of them is without one.
    fn room(&mut self) -> usize;

    /// Gives them a job.
    fn hand_out(&mut self, job: Job);

    /// Takes back a job that nobody has begun; says whether that was so.
    fn recall(&mut self, id: u64) -> bool;

    /// A job that is done, if there is one. With `wait`, waits a moment for one that is under way; the caller asks again.
    fn collect(&mut self, wait: bool) -> Option<Done>;

    /// Whether a job is still to be collected: waiting, under way or done.
    fn holds(&self, id: u64) -> bool;

    /// The result of a job was taken in: so many of its events, and how it ended.
    fn used(&mut self, id: u64, events: u32, ending: &Ending);

    /// The result of a job is not needed.
    fn unused(&mut self, id: u64);

    /// What a result was recorded in, which is of no more use: the next one can be recorded there.
    fn give_back(&mut self, _paper: Paper) {}
}

/// What an execution is recorded in. Whoever runs one after the other uses it again: it keeps its room.
#[derive(Debug, Default)]
pub struct Paper(Trace);

impl Paper {
    /// How many events it has room for.
    #[must_use]
    pub fn room(&self) -> usize {
        self.0.steps.capacity()
    }
}

/// What a worker keeps from job to job: room, and what its executions had in common.
pub struct Desk<'p, P>(Runner<'p, P>);

impl<'p, P: Program> Desk<'p, P> {
    /// For executions of this program: that of the search, or another one that is the same.
    #[must_use]
    pub fn new(program: &'p P) -> Self {
        Self(Runner::new(program, Limits::default()))
    }
}

/// No workers.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Workers for Alone {
    fn count(&self) -> usize {
        0
    }

    fn room(&mut self) -> usize {
        0
    }

    fn hand_out(&mut self, _job: Job) {}

    fn recall(&mut self, _id: u64) -> bool {
        false
    }

    fn collect(&mut self, _wait: bool) -> Option<Done> {
        None
    }

    fn holds(&self, _id: u64) -> bool {
        false
    }

    fn used(&mut self, _id: u64, _events: u32, _ending: &Ending) {}

    fn unused(&mut self, _id: u64) {}
}

/// An item to be run ahead of its turn.
pub struct Job {
    item: WorkItem,
    guide: Box<dyn Guide + Send>,
    limits: Limits,
    only_at: OnlyAt,
    epoch: Epoch,
}

/// What came of a job.
pub struct Done {
    id: u64,
    ran: Option<Ran>,
}

/// An execution.
struct Ran {
    end: End,
    notes: Notes,
    trace: Trace,
    ending: Ending,
    /// See [`Runner::over`].
    over: Over,
}

impl Job {
    /// The id of the item.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.item.id
    }

    /// The key points that it is for.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Runs it, within this limit.
    pub fn run<P: Program>(self, desk: &mut Desk<'_, P>, paper: Paper, limit: &Limit) -> Done {
        let Self { item, mut guide, limits, only_at, epoch } = self;
        let (id, runner) = (item.id, &mut desk.0);
        if runner.program.epoch() != epoch {
            return Done { id, ran: None };
        }
        (runner.limits, runner.only_at, runner.trace) = (limits, only_at, paper.0);
        let end = runner.run_within(&guide.scope(), &item.prefix, &mut *guide, &mut || limit.look());
        let Ok(end @ (End::Ended(_) | End::Cut | End::Limit(..))) = end else {
            return Done { id, ran: None };
        };
        let over = runner.over();
        guide.ended(&runner.trace, matches!(end, End::Limit(..)));
        let (trace, ending) = (mem::take(&mut runner.trace), mem::take(&mut runner.ending));
        let ran = Ran { end, notes: guide.notes(), trace, ending, over };
        Done { id, ran: Some(ran) }
    }
}

impl Done {
    /// The id of the item.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The same without a result: it has turned out that it cannot count.
    #[must_use]
    pub fn void(self) -> Self {
        Self { ran: None, ..self }
    }

    fn events(&self) -> usize {
        let planned = |ran: &Ran| ran.notes.offspring.as_ref().map_or(0, |offspring| offspring.events());
        self.ran.as_ref().map_or(0, |ran| ran.trace.steps.len() + planned(ran))
    }
}

/// So many events of results may wait for their turn: about 100 MB. The oldest results are dropped for new ones, since
/// what was run first comes last where a search goes deep.
const MAX_EVENTS: usize = 200_000;

/// What is run ahead of its turn.
pub(super) struct Ahead<'a> {
    workers: Box<dyn Workers + 'a>,
    /// Not collected yet.
    out: FxHashSet<u64>,
    done: FxHashMap<u64, Done>,
    /// The keys of `done` in the order in which they came, and perhaps some more.
    order: VecDeque<u64>,
    /// Of all that is done.
    events: usize,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(workers: Box<dyn Workers + 'a>) -> Self {
        Self {
            workers,
            out: FxHashSet::default(),
            done: FxHashMap::default(),
            order: VecDeque::new(),
            events: 0,
        }
    }

    /// Forgets all that was handed out.
    pub(super) fn forget(&mut self) {
        for id in self.out.drain() {
            self.workers.recall(id);
        }
        let done = self.done.drain().map(|(id, _)| id);
        done.for_each(|id| self.workers.unused(id));
        self.order.clear();
        self.events = 0;
    }

    /// Takes in what is done.
    fn collect(&mut self, wait: bool) {
        let mut next = self.workers.collect(wait);
        while let Some(done) = next {
            self.keep(done);
            next = self.workers.collect(false);
        }
    }

    fn keep(&mut self, done: Done) {
        if !self.out.remove(&done.id) {
            self.workers.unused(done.id);
            return;
        }
        self.events += done.events();
        self.order.push_back(done.id);
        self.done.insert(done.id, done);
        while self.events > MAX_EVENTS
            && let Some(oldest) = self.order.pop_front()
        {
            if self.take(oldest).is_some() {
                self.workers.unused(oldest);
            }
        }
    }

    fn take(&mut self, id: u64) -> Option<Ran> {
        let done = self.done.remove(&id)?;
        self.events -= done.events();
        if self.order.len() > 2 * self.done.len() + 64 {
            self.order.retain(|id| self.done.contains_key(id));
        }
        done.ran
    }
}

impl<P: Program> Search<'_, P> {
    /// Gives the other workers something to do.
    pub(super) fn hand_out_ahead(&mut self) {
        let others = self.ahead.workers.count();
        for _ in 0..self.ahead.workers.room() {
            let Some((item, guide)) = self.strategy.ahead(&self.cache, others) else { return };
            self.ahead.out.insert(item.id);
            let only_at = self.runner.only_at.clone();
            let job = Job { item, guide, limits: self.runner.limits, only_at, epoch: self.epoch };
            self.ahead.workers.hand_out(job);
        }
    }

    /// The execution of an item, if somebody else has run it and it would be the same now.
    pub(super) fn ran_ahead(&mut self, item: &WorkItem) -> Result<Option<(End, Notes)>, SearchError> {
        let Some(Ran { mut end, mut notes, mut trace, ending, over }) = self.fetch(item.id) else {
            return Ok(None);
        };
        match self.strategy.settle(item, &mut notes, &self.cache) {
            Settled::AsItIs => {}
            // Of failures, of variables that threads spin on and of what was left out it is not known when they showed.
            Settled::CutAfter(at)
                if end.failures().is_empty() && trace.spun_on.is_empty() && !ending.left_out =>
            {
                trace.cut(at as usize);
                end = End::Cut;
            }
            Settled::CutAfter(_) | Settled::Void => {
                self.ahead.workers.unused(item.id);
                return Ok(None);
            }
        }
        self.is_checked = self.strategy.guide(item, &self.cache).scope() == Scope::Audit;
        self.ahead.workers.used(item.id, trace.steps.len() as u32, &ending);
        let old = self.runner.take_over(trace, ending, over);
        self.ahead.workers.give_back(Paper(old));
        self.runner.attribute(&mut end, &Scope::All);
        Ok(Some((end, notes)))
    }

    /// What somebody else has run, or is about to have run.
    fn fetch(&mut self, id: u64) -> Option<Ran> {
        self.ahead.collect(false);
        while self.ahead.out.contains(&id) {
            let stops = self.options.limit.is_over();
            if self.ahead.workers.recall(id) || stops || !self.ahead.workers.holds(id) {
                // Running it here says why to stop.
                self.ahead.out.remove(&id);
                return None;
            }
            self.ahead.collect(true);
        }
        self.ahead.take(id)
    }
}
