//! System calls on files that may block: operations that wait until the files are ready, or do not wait, and find out.
//!
//! A descriptor shows the effects of operations through another one: the other end of a pipe or a pair of sockets, or a
//! duplicate. No name that is the same in every schedule says which descriptors belong together, so all such files count as one
//! object, beside the descriptors, by which users know them.

use checker::names::Obj;
use checker::operation::{Access, OpKind};
use checker::program::ExecutionError;
use smallvec::SmallVec;

use crate::control::kernel::{accesses, own_numbers, signals};
use crate::control::state::flow::Flow;
use crate::control::state::pending::{Action, AwaitedSignal, FileEvents, WaitCondition};
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::control::{enabled, operations};
use crate::os::{Regs, Tid, fd, file_locks, memory, network};
use crate::virtual_syscalls::read_timespec;

/// The name of all files that may block.
pub(crate) const ALL: &str = "files that may block";

/// Files that a call waits for, and for how long at most by its arguments, in nanoseconds.
pub(crate) struct FileWait {
    pub(crate) files: Vec<FileEvents>,
    limit: Option<u64>,
    /// It leaves the files as they are.
    looks: bool,
    /// For all of them, not for one.
    all: bool,
}

impl FileWait {
    fn for_one(descriptor: u64, events: i16) -> Self {
        Self { files: vec![(descriptor as i32, events)], limit: None, looks: false, all: false }
    }

    /// A call that does not wait for these.
    fn without_waiting(files: Vec<FileEvents>) -> Self {
        Self { files, limit: Some(0), looks: false, all: false }
    }

    /// The time after which the wait ends, in nanoseconds; where the call of this process says none, that of its sockets.
    pub(crate) fn time_limit(&self, pid: Tid) -> Option<u64> {
        let of_socket = |&(descriptor, events): &FileEvents| network::time_limit(pid, descriptor, events);
        let of_sockets = || self.files.iter().filter(|_| !self.looks).filter_map(of_socket).min();
        self.limit.or_else(of_sockets)
    }
}

const MILLISECOND: u64 = 1_000_000;

/// More descriptors than this are not looked at in one call.
const MOST: u64 = 1024;

/// Calls that wait for as long as the socket says.
const WAITS_BY_SOCKET: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_splice,
    libc::SYS_sendfile,
];

/// A call on files that may block is a key point, be it one that waits or one that finds out whether it would.
/// `accesses`: what else the call touches.
pub(crate) fn input_output(
    tracee: &mut Tracee,
    scheduling: &mut Scheduling,
    objects: &Objects,
    accesses: SmallVec<[Access; 2]>,
    index: ThreadIndex,
) -> Result<Flow, ExecutionError> {
    if own_numbers::asks_for_owner(&tracee.tasks[index].regs) {
        if !accesses.is_empty() {
            let op = accesses::operation(OpKind::Io, accesses);
            return Ok(operations::pend(
                tracee,
                scheduling,
                index,
                op,
                WaitCondition::Nothing,
                Action::TellOwner,
                None,
            ));
        }
        tracee.answer(index, own_numbers::owner_of_file(tracee, scheduling, index))?;
        return Ok(Flow::Resume(0));
    }
    if let Some(flow) = signals::waits::wait_for_signal(tracee, scheduling, index, &accesses) {
        return Ok(flow);
    }
    if let Some(wanted) = file_locks::wanted(tracee.leader, &tracee.tasks[index].regs) {
        let condition = WaitCondition::FileLock(wanted);
        return Ok(
            if enabled::holds(tracee, scheduling, objects, index, &condition) && accesses.is_empty() {
                Flow::Resume(0)
            } else {
                let state = Access::write(accesses::process_state::object(tracee));
                let accesses = accesses.into_iter().filter(|access| *access != state).chain([state]);
                let op = accesses::operation(OpKind::Io, accesses);
                operations::pend(tracee, scheduling, index, op, condition, Action::Kernel, None)
            },
        );
    }
    let regs = &tracee.tasks[index].regs;
    let Some(mut wait) = waits_for(tracee.leader, regs, scheduling.threads[index].virtual_system.now) else {
        return Ok(accesses::pass_or_pend(tracee, scheduling, index, accesses));
    };
    let pid = tracee.leader;
    wait.files.retain(|(descriptor, _)| fd::may_block(pid, *descriptor));
    let FileWait { ref files, limit, looks, all } = wait;
    let mask = signals::waits::mask_in_wait(tracee, index);
    let of_signals = mask.map(|_| signals::waits::own_signals(tracee, scheduling, index));
    let accesses: SmallVec<[Access; 2]> =
        accesses.into_iter().chain(of_signals.into_iter().flatten()).collect();
    if files.is_empty() && limit.is_none_or(|limit| limit == 0) {
        return Ok(accesses::pass_or_pend(tracee, scheduling, index, accesses));
    }
    let mut condition =
        if all { WaitCondition::AllReady(files.clone()) } else { WaitCondition::Ready(files.clone()) };
    let is_ready = limit != Some(0) && enabled::holds(tracee, scheduling, objects, index, &condition);
    if limit != Some(0) && !is_ready && fails_at_once(pid, &tracee.tasks[index].regs) {
        return Ok(accesses::pass_or_pend(tracee, scheduling, index, accesses));
    }
    // A signal that is there, and that the thread has blocked up to here, ends the wait.
    if let Some(let_in) = mask.map(AwaitedSignal::Unblocked)
        && limit != Some(0)
        && !is_ready
        && signals::state::has_arrived(tracee, index, let_in)
    {
        condition = WaitCondition::Arrival(let_in);
    }
    let access = if looks && limit == Some(0) { Access::read } else { Access::write };
    let together = (!files.is_empty()).then(|| tracee.knowledge.named(ALL.to_owned()));
    let each = files.iter().map(|(descriptor, _)| file_object(tracee, *descriptor));
    // Searches ask about the first object of a wait, so this has to be the one that decides how long the wait takes.
    let mut touched: Vec<Access> = together.into_iter().chain(each).map(access).chain(accesses).collect();
    touched.extend(signals::files::signals_read(tracee, scheduling, index, files));
    let op = accesses::operation(OpKind::Io, touched);
    if limit == Some(0) {
        if !tracee.is_scheduled(index) {
            return Ok(Flow::Resume(0));
        }
        operations::pend(
            tracee,
            scheduling,
            index,
            op,
            WaitCondition::Nothing,
            Action::Try(wait.files),
            None,
        );
        return Ok(Flow::Look);
    }
    if is_ready && !tracee.is_scheduled(index) {
        return Ok(Flow::Resume(0));
    }
    let limit = wait.time_limit(pid);
    let deadline = limit.map(|limit| scheduling.threads[index].virtual_system.now.saturating_add(limit));
    Ok(operations::pend(tracee, scheduling, index, op, condition, Action::Kernel, deadline))
}

/// The file of which a thread waits for a lock.
pub(crate) fn locked_file(tracee: &Tracee, wanted: &file_locks::FileLockRequest) -> Obj {
    tracee.knowledge.named(fd::link(tracee.leader, wanted.descriptor))
}

/// A file that may block, by its descriptor.
fn file_object(tracee: &Tracee, descriptor: i32) -> Obj {
    tracee.knowledge.named(words_for(descriptor))
}

/// The name of such a file. The number of the descriptor is an object of its own, which operations on the file need not touch.
pub(crate) fn words_for(descriptor: i32) -> String {
    format!("file behind descriptor {descriptor}")
}

/// The files that the call at which a thread of this process stands waits for, or changes for others; `now` is the thread's time.
pub(crate) fn waits_for(pid: Tid, regs: &Regs, now: u64) -> Option<FileWait> {
    let one = |events, flags: u64| {
        let wait = FileWait::for_one(regs.rdi, events);
        let waits = flags as i32 & libc::MSG_DONTWAIT == 0 && !fd::is_non_blocking(pid, regs.rdi as i32);
        Some(if waits { wait } else { FileWait::without_waiting(wait.files) })
    };
    let looks = |files, limit| Some(FileWait { files, limit, looks: true, all: false });
    let queue = |events| {
        let wait = one(events, 0)?;
        let until = timespec(pid, regs.r8);
        let limit = wait.limit.or_else(|| until.map(|time| time.saturating_sub(now)));
        Some(FileWait { limit, ..wait })
    };
    // From one file to another: it takes what there is, and as much room.
    let moved = |from: u64, to: u64, flags: u64| {
        let files = vec![(from as i32, libc::POLLIN), (to as i32, libc::POLLOUT)];
        let is_non_blocking = |(file, _): &FileEvents| fd::is_non_blocking(pid, *file);
        let waits = spliced(flags) == 0 && !files.iter().any(is_non_blocking);
        Some(FileWait { limit: (!waits).then_some(0), looks: false, all: true, files })
    };
    let changed = |descriptor: u64| Some(FileWait::without_waiting(vec![(descriptor as i32, 0)]));
    match regs.orig_rax as i64 {
        libc::SYS_read | libc::SYS_readv | libc::SYS_accept | libc::SYS_accept4 => one(libc::POLLIN, 0),
        libc::SYS_recvfrom => one(libc::POLLIN, regs.r10),
        libc::SYS_recvmsg => one(libc::POLLIN, regs.rdx),
        libc::SYS_recvmmsg => one(libc::POLLIN, regs.r10),
        libc::SYS_write | libc::SYS_writev => one(libc::POLLOUT, 0),
        libc::SYS_sendto => one(libc::POLLOUT, regs.r10),
        libc::SYS_sendmsg => one(libc::POLLOUT, regs.rdx),
        libc::SYS_sendmmsg => one(libc::POLLOUT, regs.r10),
        libc::SYS_mq_timedsend => queue(libc::POLLOUT),
        libc::SYS_mq_timedreceive => queue(libc::POLLIN),
        libc::SYS_splice => moved(regs.rdi, regs.rdx, regs.r9),
        libc::SYS_tee => moved(regs.rdi, regs.rsi, regs.r10),
        libc::SYS_sendfile => moved(regs.rsi, regs.rdi, 0),
        libc::SYS_copy_file_range => moved(regs.rdi, regs.rdx, 0),
        libc::SYS_vmsplice => {
            let is_read = fd::is_for(pid, regs.rdi as i32, libc::O_RDONLY);
            one(if is_read { libc::POLLIN } else { libc::POLLOUT }, spliced(regs.r10))
        }
        // Other threads find out: an end is gone, a connection is to be accepted, there is more to wait for.
        libc::SYS_close | libc::SYS_shutdown | libc::SYS_connect | libc::SYS_epoll_ctl => changed(regs.rdi),
        libc::SYS_bind | libc::SYS_listen => changed(regs.rdi),
        // The length of the input that is there, and the state of a connection.
        libc::SYS_ioctl if regs.rsi == libc::FIONREAD => changed(regs.rdi),
        libc::SYS_getsockopt if (regs.rsi, regs.rdx) == (libc::SOL_SOCKET as u64, libc::SO_ERROR as u64) => {
            changed(regs.rdi)
        }
        libc::SYS_dup2 | libc::SYS_dup3 => changed(regs.rsi),
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => {
            let files = vec![(regs.rdi as i32, libc::POLLIN)];
            Some(FileWait { files, limit: milliseconds(regs.r10), looks: false, all: false })
        }
        libc::SYS_epoll_pwait2 => {
            let files = vec![(regs.rdi as i32, libc::POLLIN)];
            Some(FileWait { files, limit: timespec(pid, regs.r10), looks: false, all: false })
        }
        libc::SYS_poll => looks(polled(pid, regs), milliseconds(regs.rdx)),
        libc::SYS_ppoll => looks(polled(pid, regs), timespec(pid, regs.rdx)),
        libc::SYS_select => {
            let micros = timeval(pid, regs.r8);
            looks(selected(pid, regs), micros.map(|m| m.saturating_mul(1000)))
        }
        libc::SYS_pselect6 => looks(selected(pid, regs), timespec(pid, regs.r8)),
        _ => None,
    }
}

/// Whether a read or a write of this process has an outcome whatever the file holds: the descriptor is not there for that, the kind of
/// file asks for more room, or nothing is to be read.
fn fails_at_once(pid: Tid, regs: &Regs) -> bool {
    /// A counter, and a `struct signalfd_siginfo`.
    const COUNTER: u64 = 8;
    const SIGNAL: u64 = 128;
    let (descriptor, at, len) = (regs.rdi as i32, regs.rsi, regs.rdx);
    let link = fd::link(pid, descriptor);
    let is = |kind: &str| link.starts_with(&format!("anon_inode:[{kind}]"));
    match regs.orig_rax as i64 {
        libc::SYS_read if is("eventfd") || is("timerfd") => len < COUNTER,
        libc::SYS_read if is("signalfd") => len < SIGNAL,
        libc::SYS_write if is("eventfd") => len < COUNTER || number(pid, at, COUNTER as usize) == u64::MAX,
        libc::SYS_read => len == 0 || fd::is_for(pid, descriptor, libc::O_WRONLY),
        libc::SYS_readv => fd::is_for(pid, descriptor, libc::O_WRONLY),
        libc::SYS_write | libc::SYS_writev => fd::is_for(pid, descriptor, libc::O_RDONLY),
        _ => false,
    }
}

/// The flags of `splice` and its kin as those of a message.
const fn spliced(flags: u64) -> u64 {
    if flags as u32 & libc::SPLICE_F_NONBLOCK != 0 { libc::MSG_DONTWAIT as u64 } else { 0 }
}

fn timespec(pid: Tid, at: u64) -> Option<u64> {
    if at == 0 { None } else { read_timespec(pid, at) }
}

fn number(pid: Tid, at: u64, len: usize) -> u64 {
    memory::number(pid, at, len).unwrap_or(0)
}

/// A `struct timeval`, in microseconds.
fn timeval(pid: Tid, at: u64) -> Option<u64> {
    (at != 0).then(|| number(pid, at, 8).saturating_mul(1_000_000).saturating_add(number(pid, at + 8, 8)))
}

/// The descriptors of a `poll`.
fn polled(pid: Tid, regs: &Regs) -> Vec<FileEvents> {
    const SIZE: u64 = 8;
    (0..regs.rsi.min(MOST))
        .map(|i| {
            let at = regs.rdi + i * SIZE;
            (number(pid, at, 4) as i32, number(pid, at + 4, 2) as i16)
        })
        .filter(|(descriptor, _)| *descriptor >= 0)
        .collect()
}

/// The descriptors of a `select`.
fn selected(pid: Tid, regs: &Regs) -> Vec<FileEvents> {
    let sets = [(regs.rsi, libc::POLLIN), (regs.rdx, libc::POLLOUT)];
    let all = sets.iter().filter(|(set, _)| *set != 0).flat_map(|&(set, events)| {
        let member = move |i: &u64| number(pid, set + i / 8, 1) >> (i % 8) & 1 == 1;
        (0..regs.rdi.min(MOST)).filter(member).map(move |i| (i as i32, events))
    });
    all.collect()
}

/// A wait of this process for files or signals has run out of time: the call is made, and is not to wait. Where the limit is that of
/// a socket, no argument says so, and the result of the call is made up.
pub(crate) fn expire_call(pid: Tid, regs: &mut Regs) -> Option<i64> {
    let nothing = regs.rsp.saturating_sub(256) & !15;
    let zero = memory::write(pid, nothing, &[0; 16]);
    match regs.orig_rax as i64 {
        libc::SYS_poll => regs.rdx = 0,
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => regs.r10 = 0,
        libc::SYS_epoll_pwait2 | libc::SYS_semtimedop if zero => regs.r10 = nothing,
        libc::SYS_mq_timedsend | libc::SYS_mq_timedreceive if zero => regs.r8 = nothing,
        libc::SYS_ppoll | libc::SYS_rt_sigtimedwait if zero => regs.rdx = nothing,
        libc::SYS_select | libc::SYS_pselect6 if zero => regs.r8 = nothing,
        call if WAITS_BY_SOCKET.contains(&call) => return Some(-i64::from(libc::EAGAIN)),
        _ => {}
    }
    None
}

/// A time limit in milliseconds, where a negative one is none.
fn milliseconds(limit: u64) -> Option<u64> {
    u64::try_from(limit as i32).ok().map(|limit| limit * MILLISECOND)
}
