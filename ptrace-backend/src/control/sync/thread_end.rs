//! The end of a thread: letting go of robust mutexes is an event ([`robust_mutexes`]), and so is the end itself in a program that asks
//! for it without waiting (`pthread_tryjoin_np`), or may be cancelled while it does.

use checker::names::{EventId, Obj, Site};
use checker::operation::{Access, Op, OpKind};
use checker::program::OpOutcome;

use crate::control::state::memory::MemoryState;
use crate::control::state::pending::{Action, Continuation, Pending, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::sync::robust_mutexes;
use crate::control::tracee::{Tracee, stacks};

/// The object that the end of a thread changes, and that a call which asks for it reads.
pub(crate) fn object(tracee: &Tracee, scheduling: &Scheduling, index: ThreadIndex) -> Obj {
    tracee.knowledge.named(format!("the end of {}", scheduling.threads[index].name))
}

/// A thread stands where it ends. `true`: something of that is an event, which comes first.
pub(crate) fn rests(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    memory: &MemoryState,
    index: ThreadIndex,
) -> bool {
    let mut mutexes = robust_mutexes::held_at_end(tracee, scheduling, objects, index);
    if !tracee.is_scheduled(index) {
        for at in mutexes.drain(..) {
            robust_mutexes::leave(tracee, scheduling, objects, memory, at, OpOutcome::Only, None);
        }
        return false;
    }
    // The last in the list is the first to be left.
    mutexes.reverse();
    let site = stacks::user_site(tracee, index);
    let Some(pending) = next(tracee, scheduling, memory, index, mutexes, site) else { return false };
    scheduling.threads[index].pending = Some(pending);
    true
}

/// The next operation of a thread that ends: it lets go of the last one of these mutexes. Where there is none left, its end is an event
/// if the program may ask for it.
fn next(
    tracee: &Tracee,
    scheduling: &Scheduling,
    memory: &MemoryState,
    index: ThreadIndex,
    mutexes: Vec<u64>,
    site: Site,
) -> Option<Pending> {
    let op = match mutexes.last() {
        Some(&at) => Op::new(OpKind::Unlock, [Access::write(memory.object(at, 1))]),
        // The main thread is held where it ends.
        None if tracee.layout.asks_for_ends && !index.is_main() => {
            Op::new(OpKind::ThreadEnd, [Access::write(object(tracee, scheduling, index))])
        }
        None => return None,
    };
    Some(Pending {
        op,
        site,
        condition: WaitCondition::Nothing,
        action: Action::End(mutexes),
        deadline: None,
    })
}

/// Carries out the event of a thread that ends.
pub(crate) fn carry_out(
    tracee: &Tracee,
    scheduling: &mut Scheduling,
    objects: &mut Objects,
    memory: &MemoryState,
    (index, mutexes): (ThreadIndex, &[u64]),
    site: Site,
    (outcome, id): (OpOutcome, EventId),
) -> Continuation {
    let mut mutexes = mutexes.to_vec();
    let Some(at) = mutexes.pop() else { return Continuation::End };
    robust_mutexes::leave(tracee, scheduling, objects, memory, at, outcome, Some(id));
    let next = next(tracee, scheduling, memory, index, mutexes, site);
    next.map_or(Continuation::End, |pending| Continuation::Stay(Box::new(pending)))
}
