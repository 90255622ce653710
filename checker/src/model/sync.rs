//! The variables and synchronisation objects of a model program, and the effects of operations on them.

use smallvec::{SmallVec, smallvec};

use super::code::Operation;
use super::names::object;
use crate::event::failure::FailureKind;
use crate::event::names::ThreadName;
use crate::event::operation::{Access, Effect};
use crate::event::wait::BlockedOn;

/// A variable, mutex, condition variable, semaphore, read-write lock or barrier: what it is depends on its use.
#[derive(Clone, Debug, Default)]
pub(super) struct Object {
    pub(super) value: i64,
    /// The thread that holds it, for a mutex or for writing.
    pub(super) owner: Option<usize>,
    readers: SmallVec<[usize; 4]>,
    waiters: SmallVec<[usize; 4]>,
    arrived: u32,
    pub(super) generation: u32,
}

/// The outcome of an operation.
#[derive(Debug, Default)]
pub(super) struct OperationOutcome {
    pub(super) did: Option<Effect>,
    pub(super) result: Option<i64>,
    /// The operation has a second half, in this generation.
    pub(super) first_half: Option<u32>,
    pub(super) woken: SmallVec<[usize; 4]>,
    pub(super) failure: Option<(FailureKind, String)>,
}

impl Object {
    pub(super) fn with(value: i64) -> Self {
        Self { value, ..Self::default() }
    }

    fn is_free(&self) -> bool {
        self.owner.is_none() && self.readers.is_empty()
    }

    pub(super) fn has_waiter(&self, thread: usize) -> bool {
        self.waiters.contains(&thread)
    }

    pub(super) fn waiters(&self) -> &[usize] {
        &self.waiters
    }

    pub(super) fn forget_waiter(&mut self, thread: usize) {
        self.waiters.retain(|waiter| *waiter != thread);
    }
}

/// The cause for which the pending operation of a thread cannot run, if it cannot: what it waits for.
pub(super) fn blocked(
    operation: &Operation,
    second: Option<u32>,
    thread: usize,
    seen: i64,
    objects: &[Object],
    name: impl Fn(usize) -> ThreadName,
) -> Option<BlockedOn> {
    let mutex =
        |at: usize| objects[at].owner.map(|by| BlockedOn::Mutex { obj: object(at), owner: Some(name(by)) });
    match operation {
        Operation::Lock(m) | Operation::TimedLock(m) => mutex(*m),
        Operation::Wait { cond, mutex: m, .. } if second.is_some() => {
            if objects[*cond].has_waiter(thread) {
                Some(BlockedOn::Cond(object(*cond)))
            } else {
                mutex(*m)
            }
        }
        Operation::Down(s) => (objects[*s].value <= 0).then(|| BlockedOn::Sem(object(*s))),
        Operation::ReadLock(l) => objects[*l].owner.map(|_| BlockedOn::Read(object(*l))),
        Operation::WriteLock(l) => (!objects[*l].is_free()).then(|| BlockedOn::Write(object(*l))),
        Operation::Barrier { barrier, .. } => second
            .filter(|&round| objects[*barrier].generation == round)
            .map(|generation| BlockedOn::Barrier { obj: object(*barrier), generation }),
        Operation::Await(x) => (objects[*x].value == seen).then(|| BlockedOn::Await(vec![object(*x)])),
        _ => None,
    }
}

/// Runs an operation that is not blocked. `signalled` is the waiter that was picked.
pub(super) fn execute(
    operation: &Operation,
    second: Option<u32>,
    thread: usize,
    registers: &[i64],
    signalled: Option<usize>,
    objects: &mut [Object],
) -> OperationOutcome {
    use Operation as O;
    let mut done = OperationOutcome::default();
    match operation {
        O::Read(x) | O::Await(x) => done.result = Some(objects[*x].value),
        O::Write(x, value) => objects[*x].value = value.value(registers),
        O::Add(x, value) => {
            done.result = Some(objects[*x].value);
            objects[*x].value = objects[*x].value.wrapping_add(value.value(registers));
        }
        O::CompareExchange(x, old, new) => {
            let swapped = objects[*x].value == old.value(registers);
            if swapped {
                objects[*x].value = new.value(registers);
            }
            done = attempt(swapped, *x);
        }
        O::Lock(m) | O::TimedLock(m) => {
            objects[*m].owner = Some(thread);
            done.result = Some(1);
        }
        O::TryLock(m) => {
            let free = objects[*m].owner.is_none();
            objects[*m].owner.get_or_insert(thread);
            done = attempt(free, *m);
        }
        O::Unlock(m) => release(&mut objects[*m], thread, &mut done),
        O::Wait { mutex, .. } if second.is_some() => objects[*mutex].owner = Some(thread),
        O::Wait { cond, mutex, .. } => {
            release(&mut objects[*mutex], thread, &mut done);
            if done.failure.is_none() {
                objects[*cond].waiters.push(thread);
                done.first_half = Some(0);
                done.result = Some(1);
            }
        }
        O::Signal(c) => {
            if let Some(waiter) = signalled {
                objects[*c].forget_waiter(waiter);
                done.woken = smallvec![waiter];
            }
        }
        O::Broadcast(c) => done.woken = std::mem::take(&mut objects[*c].waiters),
        O::Down(s) => objects[*s].value -= 1,
        O::TryDown(s) => {
            let had = objects[*s].value > 0;
            objects[*s].value -= i64::from(had);
            done = attempt(had, *s);
        }
        O::Up(s) => objects[*s].value += 1,
        O::ReadLock(l) => objects[*l].readers.push(thread),
        O::TryReadLock(l) => {
            let had = objects[*l].owner.is_none();
            if had {
                objects[*l].readers.push(thread);
            }
            done.did = (!had).then(|| Effect::on([Access::read(object(*l))]));
            done.result = Some(i64::from(had));
        }
        O::WriteLock(l) => objects[*l].owner = Some(thread),
        O::TryWriteLock(l) => {
            let free = objects[*l].is_free();
            if free {
                objects[*l].owner = Some(thread);
            }
            done = attempt(free, *l);
        }
        O::ReadUnlock(l) => match objects[*l].readers.iter().position(|&reader| reader == thread) {
            Some(at) => drop(objects[*l].readers.remove(at)),
            None => done.failure = Some(not_held()),
        },
        O::WriteUnlock(l) => release(&mut objects[*l], thread, &mut done),
        O::Barrier { barrier, count } if second.is_none() => {
            let barrier = &mut objects[*barrier];
            done.first_half = Some(barrier.generation);
            barrier.arrived += 1;
            if barrier.arrived == *count {
                barrier.arrived = 0;
                barrier.generation += 1;
            }
        }
        O::Barrier { .. } | O::Create(_) | O::Join(_) | O::Yield | O::Sleep | O::Exit => {}
    }
    done
}

/// Something tried for: a write where it worked, else a read.
fn attempt(worked: bool, at: usize) -> OperationOutcome {
    let access = if worked { Access::write(object(at)) } else { Access::read(object(at)) };
    OperationOutcome {
        did: Some(Effect::on([access])),
        result: Some(i64::from(worked)),
        ..OperationOutcome::default()
    }
}

fn release(mutex: &mut Object, thread: usize, done: &mut OperationOutcome) {
    if mutex.owner == Some(thread) {
        mutex.owner = None;
    } else {
        done.failure = Some(not_held());
    }
}

fn not_held() -> (FailureKind, String) {
    (FailureKind::UnlockNotHeld, "the lock is released by a thread that does not hold it".to_owned())
}
