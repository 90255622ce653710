//! One program in the hands of several workers: what an execution depends on goes out, what it teaches comes back.
//!
//! Each worker has a copy of the program with knowledge of its own, which it takes over from the search before every
//! execution and forgets after it. What the execution teaches is kept with the event after which it was taught, and learnt
//! by the search if, and as far as, the execution counts: then the search knows what it would know had it run it itself.

use std::sync::Arc;

use checker::byte_set::ByteSet;
use checker::names::ObjName;
use checker::program::Epoch;
use rustc_hash::{FxHashMap, FxHashSet};

use super::unobserved::{self, Touch};
use super::{Shared, State, Status};

/// What an execution depends on beside its choices.
#[derive(Debug, Clone)]
pub struct Known(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    candidates: Vec<Status>,
    memory: ByteSet,
    ordered: FxHashSet<usize>,
    epoch: u32,
    allocator: bool,
}

/// What an execution has taught, beside key points.
#[derive(Debug, Default)]
pub struct Learnt(Vec<(u64, Lesson)>);

#[derive(Debug)]
enum Lesson {
    /// This instruction has touched memory; whether others share it.
    Private(usize, Vec<Touch>, bool),
    /// A place on a stack lies in the frame of a function.
    Local(Local),
}

/// What was seen of a place on a stack that another thread uses.
#[derive(Debug, Clone)]
pub(crate) struct Local {
    pub(crate) place: (ObjName, u32),
    /// Where the code of the function begins in whose frame it is.
    pub(crate) function: u64,
    /// Which variable it is there.
    pub(crate) words: Option<String>,
    /// Of no interest where anything is known of the place.
    pub(crate) if_new: bool,
}

/// The state of a copy that works for a search elsewhere.
#[derive(Debug, Default)]
pub(super) struct Apart {
    known: Option<Known>,
    /// Something was disarmed in the last execution, which is not known elsewhere.
    disarmed: bool,
    /// It has shown something about instructions that touch shared memory: what it would have been with what is known by
    /// the time when it counts cannot be told.
    unsure: bool,
    touches: FxHashMap<usize, u32>,
    words: FxHashMap<((ObjName, u32), u64), Option<String>>,
    places: FxHashSet<(ObjName, u32)>,
    learnt: Learnt,
}

impl Apart {
    /// Whether an execution of this copy has taught anything about a place on a stack. Looking for it takes time, and the
    /// executions that are reported on look for themselves.
    pub(super) fn knows(&self, place: (ObjName, u32)) -> bool {
        self.places.contains(&place)
    }
}

impl State {
    /// More is known of an instruction that touches shared memory, under the same key points.
    pub(super) fn know_more(&mut self) {
        self.known = None;
        if let Some(apart) = &mut self.apart {
            apart.unsure = true;
        }
    }

    /// What is watched has changed.
    pub(super) fn changed(&mut self) {
        self.arming = None;
        self.arming_of_all = None;
        self.known = None;
    }

    pub(super) fn learn_local(&mut self, local: Local) {
        let known = self.locals.get(&local.place).map(|(function, _)| *function);
        if known == Some(local.function) || known.is_some() && local.if_new {
            return;
        }
        let words = if known.is_none() { local.words } else { None };
        self.locals.insert(local.place, (local.function, words));
    }
}

impl Shared {
    /// What the next execution depends on.
    pub(crate) fn known(&self) -> Known {
        let mut state = self.state();
        if let Some(known) = &state.known {
            return known.clone();
        }
        let uncounted = |status: &Status| match *status {
            Status::Watched(_) => Status::Watched(0),
            other => other,
        };
        let known = Known(Arc::new(Parts {
            candidates: state.candidates.iter().map(uncounted).collect(),
            memory: state.memory.clone(),
            ordered: state.ordered.clone(),
            epoch: state.epoch,
            allocator: state.allocator,
        }));
        state.known = Some(known.clone());
        known
    }

    /// Makes the next execution one that would be the same where this is known. From now on this is knowledge of a copy.
    pub(crate) fn adopt(&self, known: &Known) {
        let mut state = self.state();
        state.locals.clear();
        let mut apart = state.apart.take().unwrap_or_default();
        apart.touches.clear();
        apart.learnt.0.clear();
        let is_current = apart.known.as_ref().is_some_and(|current| Arc::ptr_eq(&current.0, &known.0));
        if !is_current || apart.disarmed || apart.unsure {
            let Parts { candidates, memory, ordered, epoch, allocator } = &*known.0;
            state.candidates.clone_from(candidates);
            state.memory.clone_from(memory);
            state.ordered.clone_from(ordered);
            (state.epoch, state.allocator) = (*epoch, *allocator);
            state.changed();
            apart.known = Some(known.clone());
            (apart.disarmed, apart.unsure) = (false, false);
        }
        state.apart = Some(apart);
    }

    /// What the last execution of a copy has taught; `None` if it cannot stand for one of the search's.
    pub(crate) fn learnt(&self) -> Option<Learnt> {
        let mut state = self.state();
        let apart = state.apart.as_mut()?;
        (!apart.unsure).then(|| std::mem::take(&mut apart.learnt))
    }

    /// Takes in what the first events of an execution elsewhere have taught.
    pub(crate) fn learn(&self, learnt: Learnt, events: u32) {
        for (_, lesson) in learnt.0.into_iter().filter(|(after, _)| *after <= u64::from(events)) {
            match lesson {
                Lesson::Private(candidate, touches, is_shared) => {
                    self.touched_privately(candidate, &touches, is_shared, 0);
                }
                Lesson::Local(local) => self.state().learn_local(local),
            }
        }
    }

    /// An instruction has touched private memory in a copy. `true`: it need not be watched for the rest of the execution.
    pub(super) fn note_private(
        state: &mut State,
        candidate: usize,
        touches: &[Touch],
        is_shared: bool,
        after: u64,
    ) -> Option<bool> {
        let apart = state.apart.as_mut()?;
        apart.learnt.0.push((after, Lesson::Private(candidate, touches.to_vec(), is_shared)));
        let parts = apart.touches.entry(candidate).or_default();
        *parts += unobserved::parts(is_shared);
        // The search may have seen it before: it would give it up here at the latest.
        let enough = unobserved::is_enough(*parts);
        if enough {
            apart.disarmed = true;
            state.candidates[candidate] = Status::Disarmed;
            state.changed();
        }
        Some(enough)
    }

    /// The same for a place on a stack; `words` are looked for once.
    pub(super) fn note_local(
        state: &mut State,
        local: &Local,
        after: u64,
        words: impl FnOnce() -> Option<String>,
    ) -> Option<String> {
        let Some(apart) = state.apart.as_mut() else { return words() };
        apart.places.insert(local.place);
        let words = apart.words.entry((local.place, local.function)).or_insert_with(words).clone();
        let local = Local { words: words.clone(), ..local.clone() };
        apart.learnt.0.push((after, Lesson::Local(local)));
        words
    }
}

impl Known {
    /// The set of key points.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        Epoch(self.0.epoch)
    }
}
