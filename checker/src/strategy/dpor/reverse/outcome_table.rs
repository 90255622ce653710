//! The knowledge that executions have given and that their events alone do not tell: first values of semaphores, outcomes of
//! compare-and-swaps.

use std::cell::RefCell;
use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::event::agent::Status;
use crate::event::names::{Obj, ThreadName};
use crate::event::operation::{Access, Effect, Mode, OpKind};
use crate::event::position::Position;
use crate::event::recorded::TraceEvent;
use crate::hb::hash::HbHash;
use crate::strategy::dpor::locks::Units;
use crate::strategy::dpor::races::Races;
use crate::strategy::dpor::successor::Successor;

/// This many outcomes are kept.
const OUTCOMES: usize = 1 << 16;

/// The values and outcomes that were seen so far.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct OutcomeTable {
    semaphores: FxHashMap<Semaphore, ValueRange>,
    swaps: FxHashMap<CompareExchangeContext, bool>,
}

/// A semaphore, since it was initialised by the event with this hash.
type Semaphore = (Obj, Option<HbHash>);

/// A compare-and-swap after its thread's event before it and the last write of its object: these decide what it does.
type CompareExchangeContext = (ThreadName, Option<HbHash>, Option<HbHash>);

/// A question that can be asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Question {
    /// Does it succeed?
    Swap(CompareExchangeContext),
    /// Is it above 0 after such a change of its first value?
    Semaphore(Semaphore, i64),
}

/// The range of a semaphore's first value.
#[derive(Clone, Copy, PartialEq, Debug)]
struct ValueRange {
    least: i64,
    most: i64,
}

impl ValueRange {
    fn and(self, other: Self) -> Self {
        Self { least: self.least.max(other.least), most: self.most.min(other.most) }
    }
}

impl Default for ValueRange {
    fn default() -> Self {
        Self { least: 0, most: i64::MAX }
    }
}

impl OutcomeTable {
    /// The knowledge that an execution has given.
    pub(super) fn of(races: &Races<'_>) -> Self {
        let mut known = Self::default();
        known.look_at(races);
        known
    }

    /// Takes in what another execution has shown.
    pub(super) fn take_in(&mut self, more: &Self) {
        for (&semaphore, &bounds) in &more.semaphores {
            let here = self.semaphores.entry(semaphore).or_default();
            *here = here.and(bounds);
        }
        if self.swaps.len() + more.swaps.len() > OUTCOMES {
            self.swaps.clear();
        }
        self.swaps.extend(&more.swaps);
    }

    fn look_at(&mut self, races: &Races<'_>) {
        let run = races.run;
        for (at, step) in run.steps.enumerate().filter(|(_, step)| step.is_own()) {
            match step.event.op.kind {
                OpKind::SemWait => {
                    self.note_wait(races, &races.event(at), at);
                    self.note(races, &races.event(at), at, true);
                }
                OpKind::SemTryWait => self.note(races, &races.event(at), at, wrote(&step.event)),
                OpKind::CompareExchange => {
                    let event = races.event(at);
                    let swap = swap(races, &event, |earlier| earlier < at);
                    self.swaps.insert(swap, wrote(&step.event));
                }
                _ => {}
            }
        }
        for pending_at_end in run.pending_at_end.iter().filter(|pending_at_end| !pending_at_end.closed) {
            if let Some(wait) =
                races.pending_at_end(pending_at_end).filter(|later| later.key.kind == OpKind::SemWait)
            {
                self.note_wait(races, &wait, run.steps.end());
                self.note(races, &wait, run.steps.end(), pending_at_end.view.status == Status::Enabled);
            }
        }
    }

    /// Takes in whether a wait could have gone on before each event that touched its semaphore, up to a position.
    fn note_wait(&mut self, races: &Races<'_>, wait: &Successor<'_>, to: Position) {
        let Some(obj) = wait.effect.accesses.first().map(|access| access.obj) else { return };
        let touched = races.touched(obj);
        let from = touched.partition_point(|&at| at < arrived(races, wait));
        for at in touched[from..].iter().copied().take_while(|&at| at < to) {
            let could = races.run.choices(at).iter().any(|choice| choice.agent == wait.agent);
            self.note(races, wait, at, could);
        }
    }

    fn note(&mut self, races: &Races<'_>, wait: &Successor<'_>, before: Position, had: bool) {
        let is_before = |at| at < before.min(wait.before);
        let Some((semaphore, change)) = semaphore(races, wait.effect, is_before) else { return };
        let bounds = self.semaphores.entry(semaphore).or_default();
        if had {
            bounds.least = bounds.least.max(1 - change);
        } else {
            bounds.most = bounds.most.min(-change);
        }
    }
}

/// Known outcomes where children of an execution are made: those of all others so far, and of this one.
pub(super) struct KnownOutcomes<'k> {
    others: &'k RwLock<OutcomeTable>,
    own: &'k OutcomeTable,
    /// The questions that were asked, with their answers. While others learn, an answer remains what it was.
    asked: RefCell<FxHashMap<Question, Option<bool>>>,
}

impl<'k> KnownOutcomes<'k> {
    pub(super) fn new(others: &'k RwLock<OutcomeTable>, own: &'k OutcomeTable) -> Self {
        Self { others, own, asked: RefCell::default() }
    }

    /// Whether one can be had of a semaphore after the events that `holds` is true of, if that is known.
    pub(super) fn can_be_had(
        &self,
        races: &Races<'_>,
        effect: &Effect,
        holds: impl Fn(Position) -> bool,
    ) -> Option<bool> {
        let (semaphore, change) = semaphore(races, effect, holds)?;
        self.answer(Question::Semaphore(semaphore, change))
    }

    /// Whether a compare-and-swap succeeds after the events that `holds` is true of, if that is known.
    pub(super) fn succeeds(
        &self,
        races: &Races<'_>,
        later: &Successor<'_>,
        holds: impl Fn(Position) -> bool,
    ) -> Option<bool> {
        self.answer(Question::Swap(swap(races, later, holds)))
    }

    /// The answer, if it is known.
    pub(super) fn answer(&self, question: Question) -> Option<bool> {
        *self.asked.borrow_mut().entry(question).or_insert_with(|| self.find(question))
    }

    fn find(&self, question: Question) -> Option<bool> {
        let others = self.others.read().unwrap_or_else(PoisonError::into_inner);
        match question {
            Question::Swap(swap) => self.own.swaps.get(&swap).or_else(|| others.swaps.get(&swap)).copied(),
            Question::Semaphore(semaphore, change) => {
                let of = |known: &OutcomeTable| known.semaphores.get(&semaphore).copied().unwrap_or_default();
                let bounds = of(self.own).and(of(&others));
                if bounds.least.saturating_add(change) > 0 {
                    return Some(true);
                }
                (bounds.most.saturating_add(change) <= 0).then_some(false)
            }
        }
    }

    /// All that was asked, with the answers.
    pub(super) fn asked(self) -> Vec<(Question, Option<bool>)> {
        self.asked.into_inner().into_iter().collect()
    }
}

fn wrote(event: &TraceEvent) -> bool {
    event.did.accesses.iter().any(|access| access.mode == Mode::Write)
}

/// The point at which its thread stood at an operation.
fn arrived(races: &Races<'_>, later: &Successor<'_>) -> Position {
    let before = later.after.or_else(|| races.created.get(&later.agent.thread()).copied());
    before.map_or(Position::START, Position::next)
}

fn swap(
    races: &Races<'_>,
    later: &Successor<'_>,
    holds: impl Fn(Position) -> bool,
) -> CompareExchangeContext {
    let thread = later.agent.thread();
    let hash = |at: Position| races.run.hb.hash(at);
    let before = later.after.or_else(|| races.created.get(&thread).copied());
    let last = races.last_conflicting(&reading(later.effect), holds).max();
    (thread, before.map(hash), last.map(hash))
}

/// The effect of only reading what an effect touches.
pub(super) fn reading(effect: &Effect) -> Effect {
    Effect::on(effect.accesses.iter().map(|access| Access::read(access.obj)))
}

/// The semaphore, and the amount by which the events that `holds` is true of have changed its first value.
fn semaphore(
    races: &Races<'_>,
    effect: &Effect,
    holds: impl Fn(Position) -> bool,
) -> Option<(Semaphore, i64)> {
    let Access { obj, .. } = effect.accesses.first()?;
    let Units { init, change } = races.lock_state_after(effect, holds).units;
    Some(((*obj, init.map(|at| races.run.hb.hash(at))), change))
}
