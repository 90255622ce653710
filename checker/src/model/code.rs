//! The code that a model thread is compiled to.

use smallvec::SmallVec;

use super::expr::Expr;
use super::names::object;
use crate::event::operation::{Access, Mode, Op, OpKind};

/// The code of one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub(super) registers: usize,
    pub(super) instructions: Vec<Instruction>,
    /// Started by another thread, not with the program.
    pub(super) created: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// A key point. Its result goes to the register, if it has one.
    Do(Operation, usize),
    Set(usize, Expr),
    JumpUnless(Expr, usize),
    Jump(usize),
    Assert(Expr),
    Crash,
}

/// An operation on objects by number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Read(usize),
    Write(usize, Expr),
    Add(usize, Expr),
    CompareExchange(usize, Expr, Expr),
    Await(usize),
    Lock(usize),
    TimedLock(usize),
    TryLock(usize),
    Unlock(usize),
    Wait { cond: usize, mutex: usize, timed: bool },
    Signal(usize),
    Broadcast(usize),
    Down(usize),
    TryDown(usize),
    Up(usize),
    ReadLock(usize),
    WriteLock(usize),
    TryReadLock(usize),
    TryWriteLock(usize),
    ReadUnlock(usize),
    WriteUnlock(usize),
    Barrier { barrier: usize, count: u32 },
    Create(usize),
    Join(usize),
    Yield,
    Sleep,
    Exit,
}

impl Operation {
    /// The pending operation; `second` says that the first half of a wait is over, in this generation of a barrier.
    pub(super) fn pending(&self, second: Option<u32>, generation: u32) -> Op {
        use OpKind as K;
        let read = |kind, on: &usize| Op::new(kind, [Access::read(object(*on))]);
        let share = |kind, on: &usize| Op::new(kind, [Access::share(object(*on))]);
        let write = |kind, on: &usize| Op::new(kind, [Access::write(object(*on))]);
        let mode = |kind, on: &usize, mode| Op::new(kind, [Access { obj: object(*on), mode }]);
        match self {
            Self::Read(x) => read(K::Read, x),
            Self::Await(x) => read(K::Await, x),
            Self::Write(x, _) => write(K::Write, x),
            Self::Add(x, _) => write(K::Update, x),
            Self::CompareExchange(x, ..) => write(K::CompareExchange, x),
            Self::Lock(m) | Self::TimedLock(m) => write(K::Lock, m),
            Self::TryLock(m) => write(K::TryLock, m),
            Self::Unlock(m) => write(K::Unlock, m),
            Self::Wait { mutex, .. } if second.is_some() => write(K::Reacquire, mutex),
            Self::Wait { cond, mutex, .. } => {
                Op::new(K::CondWait, [Access::write(object(*mutex)), Access::read(object(*cond))])
            }
            Self::Signal(c) => write(K::Signal, c),
            Self::Broadcast(c) => write(K::Broadcast, c),
            Self::Down(s) => write(K::SemWait, s),
            Self::TryDown(s) => write(K::SemTryWait, s),
            Self::Up(s) => write(K::SemPost, s),
            Self::ReadLock(l) => share(K::ReadLock, l),
            Self::WriteLock(l) => write(K::WriteLock, l),
            Self::TryReadLock(l) => share(K::TryReadLock, l),
            Self::TryWriteLock(l) => write(K::TryWriteLock, l),
            Self::ReadUnlock(l) => share(K::ReadUnlock, l),
            Self::WriteUnlock(l) => write(K::WriteUnlock, l),
            Self::Barrier { barrier, .. } => match second {
                Some(round) => mode(K::BarrierLeave, barrier, Mode::Leave(round)),
                None => mode(K::BarrierArrive, barrier, Mode::Arrive(generation)),
            },
            Self::Create(_) => Op::new(K::Create, []),
            Self::Join(_) => Op::new(K::Join, []),
            Self::Yield => Op::new(K::Yield, []),
            Self::Sleep => Op::new(K::Sleep, []),
            Self::Exit => Op::new(K::Exit, []),
        }
    }

    /// The operation that a timed wait's running out of time is; `None` where time does not matter.
    pub(super) fn timeout(&self) -> Option<Op> {
        let access: SmallVec<[Access; 1]> = match self {
            Self::Wait { cond, timed: true, .. } => [Access::write(object(*cond))].into(),
            // Like a failed trylock, it only sees that the mutex is held.
            Self::TimedLock(mutex) => [Access::read(object(*mutex))].into(),
            _ => return None,
        };
        Some(Op::new(OpKind::Timeout, access))
    }
}
