//! Workers: threads that run executions ahead of their turn, each with a copy of the program of its own.
//!
//! The search stays on the thread that began it ([`checker::search`]); the jobs that it hands out wait on a stack, which
//! the workers empty, each one job after another. They begin once a search has gone on for a while, so that a short one
//! does not pay for workers that it has no use for, and end with it. A worker that cannot start, or dies, leaves its jobs
//! undone, and the search does them.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, Scope};
use std::time::Duration;

use checker::limit::Limit;
use checker::model::Model;
use checker::program::{ExecutionSummary, Program};
use checker::search::{Job, JobOutcome, StopRequest, TraceBuffer, WorkerContext, Workers};
use ptrace_backend::attention::Attention;
use rustc_hash::{FxHashMap, FxHashSet};

/// A program that can be had again, for another thread.
pub trait Replicable: Sync {
    /// It, again.
    type Copy: Program;
    /// Knowledge that an execution depends on beside its choices.
    type Known: Send;
    /// Knowledge that an execution has added, beside its events.
    type Learnt: Send;

    /// Number of executions after which it is worth while for a search to start a copy.
    const WORTH_WHILE: u32;

    /// So many jobs wait for each worker, so that none has to wait for one. More would be handed out before it is known what
    /// the executions under way show.
    const AT_HAND: usize = 4;

    /// Starts it again, for the calling thread, which is the `nth` worker from 1. `limit` ends its executions. `None` where
    /// that cannot be done, or would not be the same program.
    fn again(&self, nth: usize, limit: &Limit) -> Option<Self::Copy>;

    /// Number of executions that can run at once, each on a CPU of its own.
    fn at_once(&self) -> usize;

    /// Whether executions at the same time could meet outside of their memory, as far as those up to now have shown.
    fn has_external_effects(&self) -> bool;

    /// The same of those of a copy.
    fn copy_has_external_effects(copy: &Self::Copy) -> bool;

    /// The knowledge so far.
    fn known(&self) -> Self::Known;

    /// Whether another copy is needed, since this one lacks a part that executions have come to meanwhile.
    fn has_outgrown(&self, copy: &Self::Copy) -> bool;

    /// Makes the next execution of a copy one that would be the same here. `false`: it cannot be.
    fn adopt(copy: &Self::Copy, known: &Self::Known) -> bool;

    /// Knowledge that the last execution of a copy has added; `None` if it cannot stand for an execution here.
    fn learnt(copy: &Self::Copy) -> Option<Self::Learnt>;

    /// Takes in what the first `events` events of an execution elsewhere taught.
    fn learn(&self, learnt: Self::Learnt, events: u32);
}

/// A model is the same everywhere.
impl Replicable for Model {
    type Copy = Self;
    type Known = ();
    type Learnt = ();

    const WORTH_WHILE: u32 = 0;

    /// A job takes less time than it takes to wake a worker, and an execution shows nothing that another one depends on.
    const AT_HAND: usize = 32;

    fn again(&self, _nth: usize, _limit: &Limit) -> Option<Self> {
        Some(self.clone())
    }

    fn at_once(&self) -> usize {
        thread::available_parallelism().map_or(1, NonZeroUsize::get)
    }

    fn has_external_effects(&self) -> bool {
        false
    }

    fn copy_has_external_effects(_copy: &Self) -> bool {
        false
    }

    fn known(&self) {}

    fn has_outgrown(&self, _copy: &Self) -> bool {
        false
    }

    fn adopt(_copy: &Self, _known: &()) -> bool {
        true
    }

    fn learnt(_copy: &Self) -> Option<()> {
        Some(())
    }

    fn learn(&self, _learnt: (), _events: u32) {}
}

/// So many events can be recorded on the paper that is kept for further jobs: about 2 MB.
const ROOM: usize = 20_000;

/// Time for which the search waits for a result before it looks whether it should stop.
const MOMENT: Duration = Duration::from_millis(50);

/// Number of workers beside the thread that runs the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parallelism {
    /// So many, whatever the program does.
    Exactly(usize),
    /// So many, as long as executions cannot meet outside of their memory.
    WhileApart(usize),
}

impl Parallelism {
    /// As a user asked for, or else as many as there are CPUs.
    #[must_use]
    pub fn of<P: Replicable>(wanted: Option<NonZeroUsize>, program: &P) -> Self {
        match wanted {
            Some(workers) => Self::Exactly(workers.get() - 1),
            None => Self::WhileApart(program.at_once().saturating_sub(1)),
        }
    }

    /// The largest number of workers.
    #[must_use]
    pub fn most(self) -> usize {
        match self {
            Self::Exactly(count) | Self::WhileApart(count) => count,
        }
    }

    /// Whether they end where executions could meet.
    fn minds_meeting(self) -> bool {
        matches!(self, Self::WhileApart(_))
    }
}

/// Threads that work for one search.
pub struct WorkerPool<'scope, 'env, P: Replicable> {
    scope: &'scope Scope<'scope, 'env>,
    program: &'env P,
    queue: Arc<Queue<P>>,
    parallelism: Parallelism,
    /// Number of times that the search has asked; `None` once the threads are there.
    patience: Option<u32>,
    learnt: FxHashMap<u64, P::Learnt>,
    taken_in: &'env (dyn Fn(&ExecutionSummary) + Sync),
}

/// State that the threads share.
struct Queue<P: Replicable> {
    state: Mutex<QueueState<P>>,
    /// There is a job, or it is all over.
    jobs: Condvar,
    /// There is a result, or one less that might have one.
    results: Condvar,
    stop: Arc<AtomicBool>,
    /// The limit of the search; for workers it is over as well when they are to stop.
    limit: Limit,
}

struct QueueState<P: Replicable> {
    /// The last one is begun first. The job that was handed out last has its turn late, so that the search, which comes to
    /// each in its turn and runs those that no worker has begun, does not come to one that is under way, and wait.
    waiting: Vec<(Job, P::Known)>,
    under_way: FxHashSet<u64>,
    done: VecDeque<(JobOutcome, Option<P::Learnt>)>,
    /// For further jobs.
    papers: Vec<TraceBuffer>,
    /// Number of workers that wait for a job.
    idle: usize,
    /// Whether the search waits for a result.
    awaited: bool,
    /// Number of workers that there are or will be.
    alive: usize,
}

impl<P: Replicable> Queue<P> {
    fn state(&self) -> MutexGuard<'_, QueueState<P>> {
        // A worker that panicked had no job of another one in hand.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_job(&self) -> Option<(Job, P::Known, TraceBuffer)> {
        let mut state = self.state();
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            if let Some((job, known)) = state.waiting.pop() {
                state.under_way.insert(job.id());
                let paper = state.papers.pop().unwrap_or_default();
                return Some((job, known, paper));
            }
            state.idle += 1;
            state = self.jobs.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    fn hand_in(&self, done: JobOutcome, learnt: Option<P::Learnt>) {
        let mut state = self.state();
        state.under_way.remove(&done.id());
        state.done.push_back((done, learnt));
        let awaited = state.awaited;
        // A thread woken before that would only wait for the lock.
        drop(state);
        if awaited {
            self.results.notify_one();
        }
    }

    /// Runs a worker: one job after the other.
    fn work(&self, nth: usize, program: &P, parallelism: Parallelism) {
        let _attention = Attention::pay();
        while let Some(copy) = program.again(nth, &self.limit) {
            if !self.work_with(&copy, program, parallelism) {
                return;
            }
        }
    }

    /// The same with one copy of the program. `true`: another one is needed.
    fn work_with(&self, copy: &P::Copy, program: &P, parallelism: Parallelism) -> bool {
        let mut desk = WorkerContext::new(copy);
        while let Some((job, known, paper)) = self.next_job() {
            let is_outgrown = program.has_outgrown(copy);
            if is_outgrown || !P::adopt(copy, &known) {
                self.leave(&job);
                if is_outgrown {
                    return true;
                }
                continue;
            }
            let done = job.run(&mut desk, paper, &self.limit);
            let meets = parallelism.minds_meeting() && P::copy_has_external_effects(copy);
            let learnt = P::learnt(copy).filter(|_| !meets);
            self.hand_in(if learnt.is_some() { done } else { done.void() }, learnt);
            if meets {
                self.dismiss();
            }
        }
        false
    }

    /// Leaves a job to the search.
    fn leave(&self, job: &Job) {
        self.state().under_way.remove(&job.id());
        self.results.notify_one();
    }

    /// Lets no worker begin anything any more; executions under way are broken off.
    fn dismiss(&self) {
        // Under the lock: no worker is between having looked and going to sleep.
        let mut state = self.state();
        self.stop.store(true, Ordering::Relaxed);
        state.waiting.clear();
        self.jobs.notify_all();
    }
}

/// Counts a worker out: the search does not wait for what it had under way.
struct WorkerGuard<'b, P: Replicable>(&'b Queue<P>);

impl<P: Replicable> Drop for WorkerGuard<'_, P> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.alive -= 1;
        // The job that it had is not known; the others' will be handed in, and are not needed then.
        state.under_way.clear();
        self.0.results.notify_one();
    }
}

impl<'scope, 'env, P: Replicable> WorkerPool<'scope, 'env, P> {
    /// Workers beside the calling thread, for a search with this limit. `taken_in` hears of every execution of theirs that counts.
    pub fn new(
        scope: &'scope Scope<'scope, 'env>,
        program: &'env P,
        parallelism: Parallelism,
        (limit, taken_in): (&Limit, &'env (dyn Fn(&ExecutionSummary) + Sync)),
    ) -> Self {
        let state = QueueState {
            waiting: Vec::new(),
            under_way: FxHashSet::default(),
            done: VecDeque::new(),
            papers: Vec::new(),
            idle: 0,
            awaited: false,
            alive: 0,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let (stops, limit) = (Arc::clone(&stop), limit.clone());
        let queue = Queue {
            state: Mutex::new(state),
            jobs: Condvar::new(),
            results: Condvar::new(),
            stop,
            limit: Limit::new(move || {
                if stops.load(Ordering::Relaxed) { StopRequest::Cancelled } else { limit.look() }
            }),
        };
        let queue = Arc::new(queue);
        Self { scope, program, queue, parallelism, patience: Some(0), learnt: FxHashMap::default(), taken_in }
    }

    /// Starts the threads, if it is time to.
    fn start(&mut self) {
        let Some(patience) = &mut self.patience else { return };
        *patience += 1;
        if *patience <= P::WORTH_WHILE {
            return;
        }
        self.patience = None;
        let parallelism = self.parallelism;
        for nth in 1..=parallelism.most() {
            let (queue, program) = (Arc::clone(&self.queue), self.program);
            self.queue.state().alive += 1;
            let work = move || {
                let _guard = WorkerGuard(&queue);
                // The message of its panic has been printed; the search goes on without it.
                let _ = catch_unwind(AssertUnwindSafe(|| queue.work(nth, program, parallelism)));
            };
            if Builder::new().name(format!("worker {nth}")).spawn_scoped(self.scope, work).is_err() {
                self.queue.state().alive -= 1;
            }
        }
    }
}

impl<P: Replicable> Workers for WorkerPool<'_, '_, P> {
    fn count(&self) -> usize {
        self.parallelism.most()
    }

    fn room(&mut self) -> usize {
        if self.parallelism.minds_meeting() && self.program.has_external_effects() {
            self.patience = None;
            if !self.queue.stop.load(Ordering::Relaxed) {
                self.queue.dismiss();
            }
            return 0;
        }
        self.start();
        let state = self.queue.state();
        (P::AT_HAND * state.alive).saturating_sub(state.waiting.len())
    }

    fn hand_out(&mut self, job: Job) {
        let known = self.program.known();
        let mut state = self.queue.state();
        state.waiting.push((job, known));
        let idle = state.idle > 0;
        drop(state);
        if idle {
            self.queue.jobs.notify_one();
        }
    }

    fn recall(&mut self, id: u64) -> bool {
        let mut state = self.queue.state();
        let at = state.waiting.iter().position(|(job, _)| job.id() == id);
        let job = at.map(|at| state.waiting.remove(at));
        drop(state);
        job.is_some()
    }

    fn collect(&mut self, wait: bool) -> Option<JobOutcome> {
        let mut state = self.queue.state();
        if state.done.is_empty() && wait {
            state.awaited = true;
            state = self.queue.results.wait_timeout(state, MOMENT).unwrap_or_else(PoisonError::into_inner).0;
            state.awaited = false;
        }
        let (done, learnt) = state.done.pop_front()?;
        if let Some(learnt) = learnt {
            self.learnt.insert(done.id(), learnt);
        }
        Some(done)
    }

    fn holds(&self, id: u64) -> bool {
        let state = self.queue.state();
        state.under_way.contains(&id)
            || state.waiting.iter().any(|(job, _)| job.id() == id)
            || state.done.iter().any(|(done, _)| done.id() == id)
    }

    fn used(&mut self, id: u64, events: u32, summary: &ExecutionSummary) {
        if let Some(learnt) = self.learnt.remove(&id) {
            self.program.learn(learnt, events);
        }
        (self.taken_in)(summary);
    }

    fn unused(&mut self, id: u64) {
        self.learnt.remove(&id);
    }

    fn give_back(&mut self, paper: TraceBuffer) {
        let mut state = self.queue.state();
        let kept: usize = state.papers.iter().map(TraceBuffer::room).sum();
        if kept + paper.room() <= ROOM {
            state.papers.push(paper);
        }
    }
}

impl<P: Replicable> Drop for WorkerPool<'_, '_, P> {
    fn drop(&mut self) {
        self.queue.dismiss();
    }
}
