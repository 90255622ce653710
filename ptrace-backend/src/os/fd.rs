//! Files in memory for the target's standard streams.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, FileTypeExt};

use super::{Tid, check};

/// An anonymous file. Copies of its descriptor share one position.
pub(crate) fn memory_file(name: &std::ffi::CStr) -> io::Result<File> {
    // SAFETY: the name is a valid C string; the kernel returns a descriptor that has no other owner.
    unsafe {
        let fd = check(libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC).into())?;
        Ok(File::from(OwnedFd::from_raw_fd(fd as i32)))
    }
}

/// Makes every write go to the end, so that truncating is all it takes to start afresh.
pub(crate) fn append_only(file: &File) -> io::Result<()> {
    // SAFETY: sets a status flag on a descriptor that `file` owns.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_APPEND) };
    check(result.into()).map(drop)
}

/// Whether two descriptors of a process are copies of one another: they stand for one open file.
pub(crate) fn is_copy(process: Tid, one: i32, other: i32) -> bool {
    const KCMP_FILE: libc::c_int = 0;
    // SAFETY: compares what two numbers stand for, and touches no memory.
    one == other || unsafe { libc::syscall(libc::SYS_kcmp, process, process, KCMP_FILE, one, other) } == 0
}

/// At most `limit` bytes from the start of a file, and whether there are more.
pub(crate) fn head(file: &File, limit: usize) -> (Vec<u8>, bool) {
    let size = file.metadata().map_or(0, |m| m.len() as usize);
    let mut bytes = vec![0; size.min(limit)];
    let complete = file.read_exact_at(&mut bytes, 0).is_ok();
    (bytes, size > limit || !complete)
}

/// The CPUs that this thread may run on, the one on which it runs first: the kernel starts a thread where little else runs.
pub(crate) fn cpus() -> Vec<usize> {
    // SAFETY: an all-zero CPU set is a valid empty set, and the call only writes that set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let size = std::mem::size_of_val(&set);
        if check(libc::sched_getaffinity(0, size, &raw mut set).into()).is_err() {
            return Vec::new();
        }
        let mut cpus: Vec<usize> =
            (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect();
        let here = libc::sched_getcpu();
        let first = cpus.iter().position(|&cpu| here == cpu as i32).unwrap_or(0);
        cpus.rotate_left(first);
        cpus
    }
}

/// Number of CPUs of the machine, whatever this thread is bound to; at least 1.
pub(crate) fn online_cpus() -> u32 {
    // SAFETY: the call has no preconditions.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    u32::try_from(count).unwrap_or(1).max(1)
}

/// Binds this thread, and the processes that it starts, to one CPU.
pub(crate) fn pin_to(cpu: usize) -> io::Result<()> {
    // SAFETY: an all-zero CPU set is a valid empty set, and the call only reads that set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        check(libc::sched_setaffinity(0, std::mem::size_of_val(&set), &raw const set).into()).map(drop)
    }
}

/// A descriptor of another process, duplicated here.
pub(super) fn borrow(pid: super::Tid, descriptor: i32) -> Option<OwnedFd> {
    // SAFETY: plain numbers; each call returns a descriptor that has no other owner, or -1.
    unsafe {
        let process = check(libc::syscall(libc::SYS_pidfd_open, pid, 0)).ok()?;
        let process = OwnedFd::from_raw_fd(process as i32);
        let file = libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), descriptor, 0);
        check(file).ok().map(|file| OwnedFd::from_raw_fd(file as i32))
    }
}

/// The facts by which a descriptor of another process is ready or not.
pub(crate) enum Readiness {
    /// The kernel has said it; also of one that is not open at all.
    Known(bool),
    /// One of these signals is there for the thread that asks.
    Signals(u64),
    /// A set in which such descriptors are: one of its members is ready for these events.
    Members(Vec<(i32, i16)>),
}

/// The readiness of a descriptor of another process for these events now.
pub(crate) fn readiness(pid: super::Tid, descriptor: i32, events: i16) -> Readiness {
    match link(pid, descriptor).as_str() {
        SIGNALS => Readiness::Signals(signal_mask(pid, descriptor)),
        SET if tells_of_signals(pid, descriptor) => Readiness::Members(members(pid, descriptor)),
        _ => Readiness::Known(borrow(pid, descriptor).is_none_or(|file| is_ready_here(&file, events))),
    }
}

/// Whether a descriptor of another process is a file of its signals, or a set with such a one.
pub(crate) fn tells_of_signals(pid: super::Tid, descriptor: i32) -> bool {
    match link(pid, descriptor).as_str() {
        SIGNALS => true,
        SET => members(pid, descriptor).into_iter().any(|(member, _)| tells_of_signals(pid, member)),
        _ => false,
    }
}

/// The kernel's names of counters, of timers, of files of signals, and of sets of descriptors.
const COUNTER: &str = "anon_inode:[eventfd]";
const TIMER: &str = "anon_inode:[timerfd]";
const SIGNALS: &str = "anon_inode:[signalfd]";
const SET: &str = "anon_inode:[eventpoll]";

/// The signals that a file of signals is about.
fn signal_mask(pid: super::Tid, descriptor: i32) -> u64 {
    let about = about(pid, descriptor);
    let mask = about.lines().find_map(|line| line.strip_prefix("sigmask:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// The kernel's description of a descriptor.
fn about(pid: super::Tid, descriptor: i32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).unwrap_or_default()
}

/// Whether a descriptor of this process is ready for these events now.
pub(super) fn is_ready_here(file: &impl AsRawFd, events: i16) -> bool {
    let mut poll = libc::pollfd { fd: file.as_raw_fd(), events, revents: 0 };
    // SAFETY: one structure, borrowed mutably; returns at once.
    unsafe { libc::poll(&raw mut poll, 1, 0) > 0 }
}

/// Whether a process has this descriptor.
pub(crate) fn is_open(pid: super::Tid, descriptor: i32) -> bool {
    borrow(pid, descriptor).is_some()
}

/// Whether what a descriptor of another process waits for can come from outside of that process: a terminal, a socket that
/// listens or gets datagrams of the network, or a set of descriptors with such a one.
pub(crate) fn comes_from_outside(pid: super::Tid, descriptor: i32) -> bool {
    let link = link(pid, descriptor);
    if link == SET {
        // A set may hold sets, but none that holds itself.
        return members(pid, descriptor).into_iter().any(|(member, _)| comes_from_outside(pid, member));
    }
    if ["/dev/tty", "/dev/pts/"].iter().any(|kind| link.starts_with(kind)) {
        return !types_itself(pid);
    }
    if !link.starts_with("socket:") {
        return false;
    }
    let Some(socket) = borrow(pid, descriptor) else { return false };
    let is_of_network = [libc::AF_INET, libc::AF_INET6].contains(&socket_option(&socket, libc::SO_DOMAIN));
    socket_option(&socket, libc::SO_ACCEPTCONN) == 1
        || is_of_network && socket_option(&socket, libc::SO_TYPE) == libc::SOCK_DGRAM
}

/// Whether nothing but system calls of a process that stop for the tracer make a descriptor of it ready, or not ready again: a counter, a timer, a
/// file of signals, a pipe or a connection whose ends all are its own, or a set of such. `has_network`: what its sockets lead to makes such
/// calls as well. Calls on standard streams do not stop.
pub(crate) fn is_own(pid: super::Tid, descriptor: i32, has_network: bool) -> bool {
    let link = link(pid, descriptor);
    let is_known = match link.as_str() {
        SET => {
            let members = members(pid, descriptor);
            return members.into_iter().all(|(member, _)| is_own(pid, member, has_network));
        }
        SIGNALS | COUNTER | TIMER => true,
        pipe if pipe.starts_with("pipe:") => {
            open(pid).into_iter().filter(|&other| self::link(pid, other) == link).count() > 1
        }
        socket if socket.starts_with("socket:") => has_network || peer(pid, descriptor) == Some(pid),
        _ => false,
    };
    let is_apart = |stream| {
        let of_stream = self::link(pid, stream);
        of_stream != link && ["socket:", "anon_inode:"].iter().all(|kind| !of_stream.starts_with(kind))
    };
    is_known && (0..=libc::STDERR_FILENO).all(is_apart)
}

/// The process at the other end of a local connection, as of its beginning; none of a socket that listens.
fn peer(pid: super::Tid, descriptor: i32) -> Option<super::Tid> {
    let socket = borrow(pid, descriptor)?;
    if socket_option(&socket, libc::SO_ACCEPTCONN) == 1 {
        return None;
    }
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut len = size_of_val(&peer) as libc::socklen_t;
    let place = (&raw mut peer).cast();
    // SAFETY: the structure has the size that is told, and both are borrowed mutably.
    let result = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, place, &raw mut len)
    };
    (result == 0 && peer.pid != 0).then_some(peer.pid)
}

/// Whether a process holds the other end of a terminal: it types itself what it reads there.
fn types_itself(pid: super::Tid) -> bool {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd"));
    let mut links =
        descriptors.into_iter().flatten().flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
    links.any(|link| link.ends_with("ptmx"))
}

/// The descriptors in a set that `epoll` waits for, and for which of the events that `poll` knows.
fn members(pid: super::Tid, descriptor: i32) -> Vec<(i32, i16)> {
    let about = about(pid, descriptor);
    let members = about.lines().filter_map(|line| {
        let mut words = line.strip_prefix("tfd:")?.split_whitespace();
        let member = words.next()?.parse().ok()?;
        let events = words.nth(1).and_then(|events| u32::from_str_radix(events, 16).ok()).unwrap_or(u32::MAX);
        Some((member, events as i16))
    });
    members.collect()
}

/// A number that the kernel says of a socket, -1 where it says none.
pub(super) fn socket_option(socket: &OwnedFd, option: i32) -> i32 {
    let mut value = -1_i32;
    let mut size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: a descriptor that is owned, and room for one number, whose size is given.
    unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, (&raw mut value).cast(), &raw mut size)
    };
    value
}

/// Whether calls on a descriptor of another process never wait.
pub(crate) fn is_non_blocking(pid: super::Tid, descriptor: i32) -> bool {
    let Some(file) = borrow(pid, descriptor) else { return false };
    // SAFETY: reads the flags of a descriptor that `file` owns.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    flags >= 0 && flags & libc::O_NONBLOCK != 0
}

/// An open file of another process, calls on which do not wait until this is dropped.
pub(crate) struct WithoutWaiting {
    file: OwnedFd,
    flags: i32,
}

/// Has calls on a descriptor of another process, which may wait, not do so for now.
pub(crate) fn without_waiting(pid: super::Tid, descriptor: i32) -> Option<WithoutWaiting> {
    let file = borrow(pid, descriptor)?;
    // SAFETY: reads and sets the flags of what `file` owns.
    let flags = unsafe {
        let flags = libc::fcntl(file.as_raw_fd(), libc::F_GETFL);
        let is_set =
            flags >= 0 && libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) == 0;
        is_set.then_some(flags)?
    };
    Some(WithoutWaiting { file, flags })
}

impl Drop for WithoutWaiting {
    fn drop(&mut self) {
        // SAFETY: sets the flags of what is owned to what they were.
        unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_SETFL, self.flags) };
    }
}

/// Whether a descriptor of another process is a pipe's.
pub(crate) fn is_pipe(pid: super::Tid, descriptor: i32) -> bool {
    link(pid, descriptor).starts_with("pipe:") || is_named_pipe(pid, descriptor)
}

/// To which process or thread signals about a file go, 0 for none; `None`: there is no such file.
pub(crate) fn owner(pid: super::Tid, descriptor: i32) -> Option<super::Tid> {
    let file = borrow(pid, descriptor)?;
    // SAFETY: reads what belongs to a descriptor that `file` owns.
    let owner = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETOWN) };
    (owner >= 0).then_some(owner)
}

/// Whether a descriptor of another process is there for this alone: to be read (`O_RDONLY`), or written (`O_WRONLY`).
pub(crate) fn is_for(pid: super::Tid, descriptor: i32, mode: i32) -> bool {
    let Some(file) = borrow(pid, descriptor) else { return false };
    // SAFETY: reads the flags of a descriptor that `file` owns.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    flags >= 0 && flags & libc::O_ACCMODE == mode
}

/// Waits a moment for one of these descriptors of another process to be ready for its events.
pub(crate) fn wait_for(pid: super::Tid, files: &[(i32, i16)]) {
    const MOMENT: i32 = 1; // in milliseconds
    let borrowed: Vec<(OwnedFd, i16)> =
        files.iter().filter_map(|&(file, events)| Some((borrow(pid, file)?, events))).collect();
    let entry =
        |(file, events): &(OwnedFd, i16)| libc::pollfd { fd: file.as_raw_fd(), events: *events, revents: 0 };
    let mut polls: Vec<libc::pollfd> = borrowed.iter().map(entry).collect();
    // SAFETY: so many structures, borrowed mutably.
    unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, MOMENT) };
}

/// The file that a descriptor stands for, as the kernel names it.
pub(crate) fn link(pid: super::Tid, descriptor: i32) -> String {
    let link = std::fs::read_link(format!("/proc/{pid}/fd/{descriptor}"));
    link.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The descriptors of a process.
pub(crate) fn open(pid: super::Tid) -> Vec<i32> {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The least numbers that no descriptor of a process has: those that it is given next.
pub(crate) fn next(pid: super::Tid, count: usize) -> impl Iterator<Item = i32> {
    let open = open(pid);
    (0..).filter(move |number| !open.contains(number)).take(count)
}

/// Whether reading or writing a descriptor can block: pipes, sockets, terminals, events, message queues.
pub(crate) fn may_block(pid: super::Tid, descriptor: i32) -> bool {
    let link = link(pid, descriptor);
    let may = |kind: &&str| link.starts_with(kind);
    ["pipe:", "socket:", "anon_inode:", "/dev/tty", "/dev/pts/"].iter().any(may)
        || is_message_queue(pid, descriptor, &link)
        || is_named_pipe(pid, descriptor)
}

/// A queue of messages is a file of its own file system, in which there are no folders.
fn is_message_queue(pid: super::Tid, descriptor: i32, link: &str) -> bool {
    const QUEUES: libc::c_long = 0x1980_0202;
    let is_name = link.strip_prefix('/').is_some_and(|name| !name.contains('/'));
    is_name && file_system(&format!("/proc/{pid}/fd/{descriptor}")) == Some(QUEUES)
}

fn is_named_pipe(pid: super::Tid, descriptor: i32) -> bool {
    let metadata = std::fs::metadata(format!("/proc/{pid}/fd/{descriptor}"));
    metadata.is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// The kind of the file system that a file is on, as a magic number.
pub(super) fn file_system(path: &str) -> Option<libc::c_long> {
    let path = CString::new(path).ok()?;
    // SAFETY: the path is a valid C string, and the kernel writes the one structure, for which all zeros are valid.
    unsafe {
        let mut about: libc::statfs = std::mem::zeroed();
        check(libc::statfs(path.as_ptr(), &raw mut about).into()).ok()?;
        Some(about.f_type)
    }
}
