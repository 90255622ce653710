//! A thread stands at an instruction that touches memory.

use std::ops::Range;

use checker::account::{Unwatched, UnwatchedKind};
use checker::names::{Obj, ObjName};
use checker::operation::{Access, Mode, Op, OpKind};
use checker::program::{ExecutionError, Scope};
use smallvec::SmallVec;

use crate::control::knowledge::Status;
use crate::control::knowledge::snapshot::Local;
use crate::control::knowledge::unobserved::Touch;
use crate::control::memory::naming::{Owner, STACK_DEPTH};
use crate::control::process::{Flow, Process, system};
use crate::control::sync::objects::Index;
use crate::control::thread::{Act, Need, Pending};
use crate::debuginfo;
use crate::instructions::{Accesses, Candidate, Kind, MemoryAccess};
use crate::layout::{RustMutex, What};
use crate::os::memory;

impl Process {
    /// Either makes the access the thread's pending operation, or lets the thread through at once.
    pub(crate) fn access(&mut self, index: Index, candidate: usize) -> Result<Flow, ExecutionError> {
        if self.in_harness(index) {
            self.pass_trap(index)?;
            return Ok(Flow::Resume(0));
        }
        let layout = std::sync::Arc::clone(&self.layout);
        let instruction = &layout.candidates[candidate];
        let accesses = instruction.accesses(&self.state(index));
        self.take_note(index, candidate, &accesses);
        let status = self.shared.status(candidate);
        if status == Status::Promoted {
            let shared = self.shared_among(&accesses);
            if !shared.is_empty() {
                if !self.passes_over(index, instruction, &shared) {
                    return self.rest_at(index, instruction, &shared);
                }
                if self.fails_unseen(index, &shared)
                    || self.spins_here(index, instruction, &accesses, true)?
                {
                    return Ok(Flow::Rest);
                }
                self.pass_trap(index)?;
                return Ok(Flow::Resume(0));
            }
        }
        if status != Status::Disarmed && self.spins_here(index, instruction, &accesses, false)? {
            // Nobody else has touched what it waits for yet, but somebody will have to.
            let memory: Vec<Obj> = accesses.iter().map(|a| self.stretch(a.addr, a.len)).collect();
            self.promoted |= self.shared.promote(&[candidate], Some(candidate), &memory);
            return Ok(Flow::Rest);
        }
        let is_shared = !self.shared_among(&accesses).is_empty();
        if is_shared {
            self.shared.passed_shared(candidate);
        }
        let is_enough = match status {
            // Those with whom it shares that may not have been watched.
            _ if is_shared && self.narrow.is_some() => false,
            Status::Disarmed | Status::Watched(_) if self.scope == Scope::Audit => {
                let is_locked = matches!(instruction.kind, Kind::LockedUpdate | Kind::CompareExchange);
                self.threads[index].drained |= is_locked;
                return self.pass_checked(index, candidate);
            }
            Status::Disarmed => true,
            _ => {
                let touches = self.touches(index, &accesses);
                self.shared.touched_privately(candidate, &touches, is_shared, self.events)
            }
        };
        if is_enough {
            self.lift(index)?;
        } else {
            self.pass_trap(index)?;
        }
        Ok(Flow::Resume(0))
    }

    /// The accesses by the names of their memory.
    fn touches(&self, index: Index, accesses: &[MemoryAccess]) -> SmallVec<[Touch; 2]> {
        let thread = self.threads[index].name;
        let touch = |access: &MemoryAccess| {
            let obj = self.object(access.addr, access.len);
            Touch { thread, obj, writes: access.write }
        };
        accesses.iter().map(touch).collect()
    }

    /// An instruction has touched private memory where everything is watched. A loop may run millions of times: what a thread
    /// does at one instruction is watched up to a bound, and what comes after is entered as not watched.
    fn pass_checked(&mut self, index: Index, candidate: usize) -> Result<Flow, ExecutionError> {
        const ENOUGH: u32 = 1_024;
        const ENOUGH_IN_ALL: u32 = 30_000;
        if self.sharing.is_after_all(index) {
            // Nobody can be in its way, and threads that are yet to come are ordered after it.
            self.lifted_alone.push(candidate);
            self.lift(index)?;
            return Ok(Flow::Resume(0));
        }
        self.checked.1 += 1;
        let times = self.checked.0.entry((index, candidate)).or_default();
        *times += 1;
        if *times < ENOUGH && self.checked.1 < ENOUGH_IN_ALL {
            self.pass_trap(index)?;
            return Ok(Flow::Resume(0));
        }
        self.enter_unwatched(Unwatched::of(UnwatchedKind::LiftedTraps));
        self.lifted.push((index, candidate));
        self.lifted_for = index;
        self.lift(index)?;
        Ok(Flow::Resume(0))
    }

    /// A thread that was alone has created another one.
    pub(crate) fn plant_for_company(&mut self) -> Result<(), ExecutionError> {
        for candidate in std::mem::take(&mut self.lifted_alone) {
            let at = self.layout.candidates[candidate].addr;
            memory::poke_byte(self.leader, at, 0xcc).map_err(system("plant a trap"))?;
        }
        Ok(())
    }

    /// Another thread goes on: what was lifted for others is watched again, and what was lifted for it is not.
    pub(crate) fn plant_for(&mut self, index: Index) -> Result<(), ExecutionError> {
        if self.lifted.is_empty() || self.lifted_for == index {
            return Ok(());
        }
        self.lifted_for = index;
        for &(_, candidate) in &self.lifted {
            let at = self.layout.candidates[candidate].addr;
            let byte =
                if self.lifted.contains(&(index, candidate)) { self.layout.traps[&at].byte } else { 0xcc };
            memory::poke_byte(self.leader, at, byte).map_err(system("plant a trap"))?;
        }
        Ok(())
    }

    /// The accesses that touch shared memory. What the others touch is nobody else's.
    fn shared_among(&self, accesses: &[MemoryAccess]) -> Accesses {
        let is_shared = |access: &&MemoryAccess| self.shared.is_shared(self.object(access.addr, access.len));
        accesses.iter().filter(is_shared).copied().collect()
    }

    /// The thread rests before an instruction, which is its pending operation.
    fn rest_at(
        &mut self,
        index: Index,
        instruction: &Candidate,
        accesses: &[MemoryAccess],
    ) -> Result<Flow, ExecutionError> {
        let pending = self.describe_access(instruction, accesses);
        if instruction.non_temporal {
            self.enter_unwatched(Unwatched::of(UnwatchedKind::StoreBuffering));
        }
        if let Some(what) = self.rust_mutex(index, instruction.kind) {
            self.threads[index].pending = Some(self.describe_rust_mutex(what, pending, accesses));
            return Ok(Flow::Rest);
        }
        self.threads[index].pending = Some(pending);
        if !self.watch_for_spinning(index, true)? {
            self.end_slice(index);
        }
        Ok(Flow::Rest)
    }

    /// Whether an access, at whose instruction the thread stands, is a key point.
    pub(crate) fn is_key_point(&self, index: Index, candidate: usize) -> bool {
        let accesses = || self.layout.candidates[candidate].accesses(&self.state(index));
        !self.in_harness(index)
            && self.shared.status(candidate) == Status::Promoted
            && !self.shared_among(&accesses()).is_empty()
    }

    /// Whether the thread spins at an access that is no key point; `shared`: what it touches is known to be shared. If so, it
    /// now waits for a change of it.
    fn spins_here(
        &mut self,
        index: Index,
        instruction: &Candidate,
        accesses: &[MemoryAccess],
        shared: bool,
    ) -> Result<bool, ExecutionError> {
        let pending = self.describe_access(instruction, accesses);
        self.threads[index].pending = Some(pending);
        let spins = self.watch_for_spinning(index, shared)?;
        let passed = self.threads[index].pending.take_if(|_| !spins);
        if let Some(Pending { op, .. }) = passed.filter(|_| shared) {
            self.threads[index].note_event(op.kind, &op.may);
        }
        Ok(spins)
    }

    /// Removes the trap at which a thread stands from this process.
    pub(crate) fn lift(&mut self, index: Index) -> Result<(), ExecutionError> {
        let thread = &self.threads[index];
        let at = thread.regs.rip;
        let byte = self.layout.traps[&at].byte;
        memory::poke_byte(thread.tid, at, byte).map_err(system("lift a trap"))?;
        self.write_registers(index)
    }

    /// Takes note of accesses, and of what follows for key points.
    fn take_note(&mut self, index: Index, candidate: usize, accesses: &[MemoryAccess]) {
        for access in accesses {
            let conflict = self.sharing.touch(index, candidate, *access);
            if !conflict.bytes.is_empty() {
                let stretch = |bytes: &Range<u64>| self.stretch(bytes.start, bytes.end - bytes.start);
                let mut memory: Vec<Obj> = conflict.bytes.iter().map(stretch).collect();
                memory.extend(self.release_at(access.addr).filter(|_| conflict.frees));
                self.promoted |= self.shared.promote(&conflict.candidates, Some(candidate), &memory);
            }
            self.expose_thread_locals(index, access.addr);
            match self.place(access.addr).owner {
                Owner::Heap | Owner::Unknown if !conflict.bytes.is_empty() => {
                    self.promoted |= self.shared.watch_allocator();
                }
                Owner::Stack(owner) if owner != index && self.threads[owner].is_live() => {
                    self.expose(owner, access.addr);
                }
                _ => {}
            }
        }
    }

    /// If an address is in the thread-local memory of another thread, the instructions that work on such memory are watched from
    /// now on.
    fn expose_thread_locals(&mut self, index: Index, addr: u64) {
        /// Variables lie below the control block of their thread.
        const MOST: u64 = 16 << 10;
        let is_in = |base: u64| (base.saturating_sub(MOST)..base).contains(&addr);
        let mut others =
            self.threads.iter().enumerate().filter(|(i, thread)| *i != index && thread.is_live());
        if self.exposed_thread_locals || !others.any(|(_, thread)| is_in(thread.regs.fs_base)) {
            return;
        }
        self.exposed_thread_locals = true;
        let layout = std::sync::Arc::clone(&self.layout);
        let all = layout.candidates.iter().enumerate().filter(|(_, candidate)| candidate.thread_local);
        if self.shared.expose(all.map(|(i, _)| i)) {
            self.promoted = true;
        }
    }

    /// The frame of `owner` that holds an address is touched by another thread: the instructions of its function that
    /// work on the frame are watched from now on.
    fn expose(&mut self, owner: Index, addr: u64) {
        if !self.exposed.insert(addr) {
            return;
        }
        let Some((function, inner)) = self.frame_functions(owner, addr) else { return };
        let Obj { name, offset, .. } = self.object(addr, 1);
        self.name_local((name, offset), function.start, false, (owner, addr));
        let layout = std::sync::Arc::clone(&self.layout);
        // An argument passed on the stack lies in the caller's frame, and the callee works on it.
        let is_inside =
            |at: u64| function.contains(&at) || inner.as_ref().is_some_and(|code| code.contains(&at));
        let inside = layout.candidates.iter().enumerate().filter(|(_, c)| is_inside(c.addr));
        if self.shared.expose(inside.map(|(i, _)| i)) {
            self.promoted = true;
        }
    }

    /// A synchronisation object on the stack of another thread is used: finds out which variable it is.
    pub(crate) fn name_synchronisation(&self, index: Index, addr: u64) {
        let owner = self.threads.iter().position(|t| t.is_live() && t.stack.contains(&addr));
        let Some(owner) = owner.filter(|&owner| owner != index) else { return };
        let Obj { name, offset, .. } = self.object(addr, 1);
        if !self.shared.is_local_known((name, offset))
            && let Some((function, _)) = self.frame_functions(owner, addr)
        {
            self.name_local((name, offset), function.start, true, (owner, addr));
        }
    }

    /// Remembers which variable is at a place on a stack, an address of which is given with its owner.
    fn name_local(&self, place: (ObjName, u32), function: u64, if_new: bool, (owner, addr): (Index, u64)) {
        let local = Local { place, function, words: None, if_new };
        self.shared.name_local(local, self.events, || self.local_at(owner, addr));
    }

    /// The code of the function in whose frame an address is, and of the one that it has called.
    fn frame_functions(&self, owner: Index, addr: u64) -> Option<(Range<u64>, Option<Range<u64>>)> {
        let frames = self.raw_frames(owner, STACK_DEPTH);
        let at = frames.iter().position(|frame: &debuginfo::Frame| addr < frame.cfa)?;
        // The innermost frame's place is no return address.
        let code = |at: usize| self.layout.function_code(frames[at].pc.wrapping_sub(u64::from(at > 0)));
        Some((code(at)?, at.checked_sub(1).and_then(code)))
    }

    fn describe_access(&self, instruction: &Candidate, accesses: &[MemoryAccess]) -> Pending {
        let named = accesses.iter().map(|access| {
            let obj = self.object(access.addr, access.len);
            if access.write { Access::write(obj) } else { Access::read(obj) }
        });
        let writes = accesses.iter().any(|access| access.write);
        let (kind, act) = match (instruction.kind, accesses) {
            (Kind::LockedUpdate, _) => (OpKind::Update, Act::Access),
            (Kind::CompareExchange, _) => (OpKind::CompareExchange, Act::Access),
            (Kind::SplitUpdate, &[access]) if access.read && access.write => {
                return self.describe_split(instruction, access);
            }
            (Kind::SplitUpdate, _) => (OpKind::Update, Act::Access),
            _ if writes => (OpKind::Write, Act::Access),
            _ => (OpKind::Read, Act::Access),
        };
        let site = self.layout.site(instruction.addr);
        let mut op = self.access_op(kind, instruction, named);
        op.in_steps = !instruction.is_one_step(accesses);
        Pending { op, site, need: Need::Nothing, act, deadline: None }
    }

    /// A function that reads a text has come to another end of it than when its thread arrived there: other threads have made
    /// the text longer. What it has read until then is an event by itself, and this is what it does from here on.
    pub(crate) fn reaches_further(&mut self, index: Index, pending: &Pending) -> Option<Pending> {
        let layout = std::sync::Arc::clone(&self.layout);
        let What::Access(candidate) = layout.traps.get(&self.threads[index].regs.rip)?.what else {
            return None;
        };
        let instruction = &layout.candidates[candidate];
        if !matches!(instruction.kind, Kind::Call(_)) {
            return None;
        }
        let accesses = instruction.accesses(&self.state(index));
        let again = self.describe_access(instruction, &self.shared_among(&accesses));
        let covers = |access: &Access, known: &Access| {
            known.obj.common(&access.obj) == Some(access.obj)
                && (known.mode == access.mode || known.mode == Mode::Write)
        };
        let is_known = |access: &Access| pending.op.may.accesses.iter().any(|known| covers(access, known));
        if again.op.may.accesses.iter().all(is_known) {
            return None;
        }
        self.take_note(index, candidate, &accesses);
        Some(again)
    }

    fn access_op(
        &self,
        kind: OpKind,
        instruction: &Candidate,
        accesses: impl IntoIterator<Item = Access>,
    ) -> Op {
        let mut op = Op::new(kind, accesses);
        op.atomicity = self.atomicity(instruction.addr, &op.may.accesses);
        op
    }

    /// What the indivisible instruction at which a thread stands does to a mutex of Rust's standard library, by itself or
    /// on behalf of its callers.
    pub(crate) fn rust_mutex(&self, index: Index, kind: Kind) -> Option<RustMutex> {
        const CALLERS: usize = 4;
        let what = match kind {
            _ if self.layout.rust_mutexes.is_empty() => return None,
            Kind::CompareExchange => RustMutex::Lock,
            Kind::LockedUpdate => RustMutex::Unlock,
            _ => return None,
        };
        let mut places = self.raw_frames(index, CALLERS).into_iter().map(|frame| frame.pc);
        let here = places.next().and_then(|pc| self.layout.rust_mutex(pc));
        here.or_else(|| places.find_map(|pc| self.layout.rust_mutex(pc - 1))).filter(|found| *found == what)
    }

    /// An access that takes or releases a mutex: a lock operation is enabled only while it can succeed.
    fn describe_rust_mutex(&self, what: RustMutex, access: Pending, touched: &[MemoryAccess]) -> Pending {
        let Some(&MemoryAccess { addr, len, .. }) = touched.first() else { return access };
        let (kind, need) = match what {
            RustMutex::Lock => (OpKind::Lock, Need::RustMutex(addr, len as usize)),
            RustMutex::Unlock => (OpKind::Unlock, Need::Nothing),
        };
        Pending { op: Op { kind, ..access.op }, need, act: Act::RustMutex { what, addr }, ..access }
    }

    /// The read of an instruction that reads and then writes.
    fn describe_split(&self, instruction: &Candidate, access: MemoryAccess) -> Pending {
        let obj = self.object(access.addr, access.len);
        let mut op = self.access_op(OpKind::Read, instruction, [Access::read(obj)]);
        op.in_steps = !instruction.is_one_step(&[access]);
        Pending {
            op,
            site: self.layout.site(instruction.addr),
            need: Need::Nothing,
            act: Act::SplitRead { addr: access.addr, len: access.len as usize },
            deadline: None,
        }
    }

    /// The candidate at a code address.
    pub(crate) fn candidate_at(&self, addr: u64) -> Option<&Candidate> {
        match self.layout.traps.get(&addr)?.what {
            What::Access(candidate) => self.layout.candidates.get(candidate),
            What::Function { .. }
            | What::Allocator(_)
            | What::Returned
            | What::Special(_)
            | What::Foreign(_) => None,
        }
    }

    /// The first thread is about to be created: from now on memory accesses are watched.
    pub(crate) fn begin_concurrency(&mut self) -> Result<(), ExecutionError> {
        if std::mem::replace(&mut self.concurrent, true) {
            return Ok(());
        }
        self.end_heap_survey();
        self.hide_probes()?;
        if !self.plant_hidden().map_err(system("plant traps"))? {
            let is_audit = self.scope == Scope::Audit;
            let all = self.shared.arming(&self.layout, self.pristine, is_audit);
            all.plant(self.leader).map_err(system("plant traps"))?;
            self.narrow_down(all);
        }
        self.show_probes()
    }
}
