//! The point of no return: the first event after which the failure can no longer be helped.
//!
//! Anything that holds after an event holds after every later one, so the point is found by halving. All continuations are run,
//! up to order, to decide whether each of them fails; where there are too many, the share of random ones that fail has to do.

use delegate::delegate;

use super::experiment::{Experimenter, Halt};
use crate::cache::{Cache, SubsumptionRule};
use crate::event::agent::{AgentView, Choice};
use crate::event::failure::Failure;
use crate::event::names::{Obj, Site, ThreadName};
use crate::event::object_description::ObjectDescription;
use crate::event::position::Position;
use crate::event::step::{Event, OpKey};
use crate::execution::RunOutcome;
use crate::program::{
    Batch, Epoch, Execution, ExecutionError, ExecutionSummary, Program, Scope, StartError, Stop, Until,
};
use crate::strategy::{Frontier, Next, Random, Sample, SeededRng, Strategy, Unbounded};
use crate::trace::Trace;

/// The number of continuations of one event that are run to decide on it, and of the random ones among them, which come first:
/// one that ends well is soon met where there are many.
const CONTINUATIONS: u64 = 2_000;
const FIRST: u64 = 20;

/// The number of random ones that make a share, and the share (in hundred) from which on all but fail.
const RANDOM: u64 = 200;
const MOST: f64 = 95.0;

/// The event after which a failing execution could no longer be saved.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PointOfNoReturn {
    /// The position of the event.
    pub event: Position,
    /// After it every continuation fails, and one from before it ends well; else random ones had to do, at least 95 of 100
    /// of which fail.
    pub exhaustive: bool,
    /// Of random continuations from before the event, the share that fails.
    pub before: f64,
    /// The same from behind it.
    pub after: f64,
}

/// Looks for the point of no return of a schedule that fails after so many events. There is none where the program fails
/// whatever the schedule.
pub(super) fn point_of_no_return<P: Program>(
    experimenter: &mut Experimenter<'_, P>,
    program: &P,
    schedule: &[(Choice, OpKey)],
    seed: u64,
) -> Result<Option<PointOfNoReturn>, Halt> {
    let mut continuations = Continuations { experimenter, program, schedule, seed };
    let (event, exhaustive) = match continuations.first(Continuations::all_fail) {
        Err(Halt::Spent) => (continuations.first(Continuations::all_but_fail)?, false),
        event => (event?, true),
    };
    let Some(event) = event else { return Ok(None) };
    let before = continuations.failing_share(event)?;
    let after = if exhaustive { 1.0 } else { continuations.failing_share(event + 1)? };
    Ok(Some(PointOfNoReturn { event: Position::after(event), exhaustive, before, after }))
}

struct Continuations<'f, 'a, P> {
    experimenter: &'f mut Experimenter<'a, P>,
    program: &'f P,
    schedule: &'f [(Choice, OpKey)],
    seed: u64,
}

impl<'f, P: Program> Continuations<'f, '_, P> {
    /// The first event after which all is lost, if it is not from the beginning.
    fn first(
        &mut self,
        mut is_lost: impl FnMut(&mut Self, usize) -> Result<bool, Halt>,
    ) -> Result<Option<usize>, Halt> {
        if self.schedule.is_empty() || is_lost(self, 0)? {
            return Ok(None);
        }
        // After `open` events it is not, after `lost` ones it is.
        let (mut open, mut lost) = (0, self.schedule.len());
        while open + 1 < lost {
            let middle = usize::midpoint(open, lost);
            if is_lost(self, middle)? { lost = middle } else { open = middle }
        }
        Ok(Some(open))
    }

    fn after(&self, events: usize) -> After<'f, P> {
        After { program: self.program, steps: &self.schedule[..events] }
    }

    /// Whether every continuation after so many events fails.
    fn all_fail(&mut self, events: usize) -> Result<bool, Halt> {
        let (after, seed) = (self.after(events), self.seed);
        self.experimenter.within(&after, CONTINUATIONS, |experimenter| {
            for number in 0..FIRST {
                if experimenter.run(&[], &mut *Random.guide(SeededRng::new(seed, number)))?.passes {
                    return Ok(false);
                }
            }
            none_passes(experimenter)
        })
    }

    fn all_but_fail(&mut self, events: usize) -> Result<bool, Halt> {
        Ok(self.failing_share(events)? * 100.0 >= MOST)
    }

    fn failing_share(&mut self, events: usize) -> Result<f64, Halt> {
        let (after, seed) = (self.after(events), self.seed);
        self.experimenter.within(&after, RANDOM, |experimenter| {
            let mut failing = 0;
            for number in 0..RANDOM {
                let experiment = experimenter.run(&[], &mut *Random.guide(SeededRng::new(seed, number)))?;
                failing += u32::from(!experiment.passes);
            }
            Ok(f64::from(failing) / RANDOM as f64)
        })
    }
}

/// Whether no execution ends well.
fn none_passes<P: Program>(experimenter: &mut Experimenter<'_, P>) -> Result<bool, Halt> {
    let mut strategy = Frontier::new(Unbounded);
    let cache = Cache::new(Some(SubsumptionRule::Preemptions));
    let mut left_out = false;
    while let Next::Work(item) = strategy.next(&cache) {
        let mut guide = strategy.guide(&item, &cache);
        let end = experimenter.drive(&item.prefix, &mut *guide)?;
        let notes = guide.notes();
        left_out |= experimenter.left_out() || experimenter.trace().holds_back();
        match &end {
            RunOutcome::Completed(failures) if failures.is_empty() => return Ok(false),
            RunOutcome::Completed(_) => {
                cache.end(experimenter.trace().hb.state());
            }
            // The events that would come next are unknown.
            RunOutcome::LimitExceeded(..) => return Err(Halt::Spent),
            RunOutcome::Pruned | RunOutcome::Promoted(_) | RunOutcome::Stopped(_) => {}
        }
        strategy.learn(&item, experimenter.trace(), notes, &cache);
    }
    // The future of a thread that had to let others go is unknown as well.
    if left_out { Err(Halt::Spent) } else { Ok(true) }
}

/// A program whose executions begin after the first events of a schedule.
struct After<'a, P> {
    program: &'a P,
    steps: &'a [(Choice, OpKey)],
}

/// An execution of it; events are numbered from where it begins.
struct AfterRun<R> {
    run: R,
    ran: Vec<(ThreadName, u32)>,
}

impl<P: Program> Program for After<'_, P> {
    type Run = AfterRun<P::Run>;

    fn start(&self, scope: &Scope) -> Result<Self::Run, StartError> {
        let mut run = self.program.start(scope)?;
        let mut ran: Vec<(ThreadName, u32)> = Vec::new();
        if !self.steps.is_empty() {
            let batch = match run.replay(self.steps) {
                Ok(batch) => batch,
                Err(error) => {
                    run.finish();
                    return Err(error.into());
                }
            };
            for id in batch.steps.iter().map(|step| step.event.id) {
                match ran.iter_mut().find(|(thread, _)| *thread == id.thread) {
                    Some((_, count)) => *count = id.index + 1,
                    None => ran.push((id.thread, id.index + 1)),
                }
            }
        }
        Ok(AfterRun { run, ran })
    }

    delegate! {
        to self.program {
            fn epoch(&self) -> Epoch;
            fn describe(&self, obj: Obj) -> Option<ObjectDescription>;
            fn is_reference_count(&self, obj: Obj) -> bool;
            fn needs_audit(&self, trace: &Trace) -> bool;
        }
    }

    /// Nothing: the trace lacks the first events, so it cannot be run again, and only whether something fails is asked.
    fn attribute(&self, _failure: &mut Failure, _trace: &Trace, _ending: &ExecutionSummary) -> u64 {
        0
    }
}

impl<R: Execution> AfterRun<R> {
    fn renumber(&self, mut batch: Batch) -> Batch {
        let ran = |thread| self.ran.iter().find(|(known, _)| *known == thread).map_or(0, |(_, count)| *count);
        for Event { id, woken_by, .. } in batch.steps.iter_mut().map(|step| &mut step.event) {
            id.index -= ran(id.thread);
            *woken_by = woken_by.and_then(|mut by| {
                by.index = by.index.checked_sub(ran(by.thread))?;
                Some(by)
            });
        }
        batch
    }
}

impl<R: Execution> Execution for AfterRun<R> {
    delegate! {
        to self.run {
            fn agents(&self) -> &[AgentView];
            fn stack(&mut self, thread: ThreadName) -> Vec<Site>;
            fn finish(self) -> ExecutionSummary;
        }
    }

    fn run(&mut self, choice: Choice, until: &Until) -> Result<Batch, ExecutionError> {
        self.run.run(choice, until).map(|batch| self.renumber(batch))
    }

    fn replay(&mut self, steps: &[(Choice, OpKey)]) -> Result<Batch, ExecutionError> {
        if steps.is_empty() {
            return Ok(Batch { steps: Vec::new(), stop: Stop::Quantum });
        }
        self.run.replay(steps).map(|batch| self.renumber(batch))
    }
}
