//! Networks of executions: namespaces in which ports are free at the beginning, and the loopback interface is all there is.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::{Tid, check, fd};

/// The network that a process is started in.
#[derive(Debug)]
pub(crate) enum Network {
    /// The machine's network.
    Shared,
    /// A new one, of its own.
    New(Identity),
    /// The network of another process.
    Of(Namespaces),
}

/// A user as the kernel is to map it in a namespace of users, where only that permits a network.
#[derive(Debug)]
pub(crate) struct Identity {
    user: CString,
    group: CString,
}

/// The namespaces of a process that has a network of its own.
#[derive(Debug)]
pub(crate) struct Namespaces {
    user: File,
    network: File,
}

impl Network {
    /// A new one for this user.
    pub(crate) fn new() -> Self {
        // SAFETY: the calls have no preconditions.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        let map = |id: u32| CString::new(format!("{id} {id} 1")).unwrap_or_default();
        Self::New(Identity { user: map(user), group: map(group) })
    }

    /// The network of a process.
    pub(crate) fn of(pid: Tid) -> io::Result<Self> {
        let open = |name: &str| File::open(format!("/proc/{pid}/ns/{name}"));
        Ok(Self::Of(Namespaces { user: open("user")?, network: open("net")? }))
    }
}

/// Takes the calling process into a network; `false` where that is not permitted.
///
/// # Safety
/// Only in a process with one thread.
pub(super) unsafe fn enter(network: &Network) -> bool {
    // SAFETY: async-signal-safe calls on descriptors that are open, and on strings that live as long as the calls.
    unsafe {
        match network {
            Network::Shared => true,
            Network::New(identity) => {
                let alone = libc::unshare(libc::CLONE_NEWNET) == 0
                    || libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) == 0 && map(identity);
                alone && raise_loopback()
            }
            Network::Of(Namespaces { user, network }) => {
                // It fails where the process has no users of its own, and then is not needed.
                libc::setns(user.as_raw_fd(), libc::CLONE_NEWUSER);
                libc::setns(network.as_raw_fd(), libc::CLONE_NEWNET) == 0
            }
        }
    }
}

/// # Safety
/// Only in a process with one thread.
unsafe fn map(identity: &Identity) -> bool {
    // SAFETY: writes strings that are borrowed.
    unsafe {
        write_file(c"/proc/self/setgroups", c"deny")
            && write_file(c"/proc/self/uid_map", &identity.user)
            && write_file(c"/proc/self/gid_map", &identity.group)
    }
}

/// # Safety
/// None but that of any system call: the strings are borrowed.
unsafe fn write_file(path: &std::ffi::CStr, text: &std::ffi::CStr) -> bool {
    // SAFETY: plain calls on valid strings and a descriptor that is closed here.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        let len = text.count_bytes();
        let written = file >= 0 && libc::write(file, text.as_ptr().cast(), len) == len as isize;
        libc::close(file);
        written
    }
}

/// # Safety
/// None but that of any system call.
unsafe fn raise_loopback() -> bool {
    // SAFETY: an all-zero request is valid; the kernel reads it; the descriptor is closed here.
    unsafe {
        let socket: RawFd = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
        let raised = libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw mut request) == 0;
        libc::close(socket);
        raised
    }
}

/// Has the kernel send at once what is written to a connection: how it would gather small pieces is a matter of real time.
pub(crate) fn send_at_once(pid: Tid, descriptor: i32) {
    switch_on(pid, descriptor, (libc::IPPROTO_TCP, libc::TCP_NODELAY));
}

/// Lets a socket have a port that the kernel still holds for the connections of an earlier execution.
pub(crate) fn take_port_again(pid: Tid, descriptor: i32) {
    switch_on(pid, descriptor, (libc::SOL_SOCKET, libc::SO_REUSEADDR));
}

/// Sets an option of a socket of a process, where it has that.
fn switch_on(pid: Tid, descriptor: i32, (level, option): (i32, i32)) {
    let Some(socket) = fd::borrow(pid, descriptor) else { return };
    let yes = 1_i32;
    let size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: a descriptor that is owned; the kernel reads one number.
    unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const yes).cast(), size);
    }
}

/// The longest time, in nanoseconds, that calls wait for these events at a socket of a process (`SO_RCVTIMEO`, `SO_SNDTIMEO`);
/// `None` where there is no limit, or no socket.
pub(crate) fn time_limit(pid: Tid, descriptor: i32, events: i16) -> Option<u64> {
    if !fd::link(pid, descriptor).starts_with("socket:") {
        return None;
    }
    let socket = fd::borrow(pid, descriptor)?;
    let option = if events & libc::POLLOUT == 0 { libc::SO_RCVTIMEO } else { libc::SO_SNDTIMEO };
    let mut limit = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let mut size = size_of_val(&limit) as libc::socklen_t;
    // SAFETY: a descriptor that is owned, and room for one structure, whose size is given.
    unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, (&raw mut limit).cast(), &raw mut size)
    };
    let nanos =
        (limit.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(limit.tv_usec as u64 * 1000);
    Some(nanos).filter(|nanos| *nanos > 0)
}

/// True for a descriptor of a process that is a socket whose messages have no bounds.
pub(crate) fn is_stream(pid: Tid, descriptor: i32) -> bool {
    let socket = fd::borrow(pid, descriptor);
    socket.is_some_and(|socket| fd::socket_option(&socket, libc::SO_TYPE) == libc::SOCK_STREAM)
}

/// Whether a listening socket of a process has as many connections waiting as it may: a further one would be tried again in
/// real time.
pub(crate) fn is_full(pid: Tid, descriptor: i32) -> bool {
    let Some(socket) = fd::borrow(pid, descriptor) else { return false };
    // SAFETY: an all-zero structure is valid, the descriptor is owned, and the kernel writes at most the size that is given.
    unsafe {
        let mut info: libc::tcp_info = std::mem::zeroed();
        let mut size = size_of::<libc::tcp_info>() as libc::socklen_t;
        let result = libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut size,
        );
        const LISTENS: u8 = 10;
        check(result.into()).is_ok() && info.tcpi_state == LISTENS && info.tcpi_unacked > info.tcpi_sacked
    }
}

/// The port that a socket of a process is bound to.
pub(crate) fn port(pid: Tid, descriptor: i32) -> Option<u16> {
    /// The place of the port in both kinds of addresses.
    const PORT: usize = 2;
    let socket = fd::borrow(pid, descriptor)?;
    let mut address = [0_u8; 128];
    let mut size = address.len() as libc::socklen_t;
    // SAFETY: a descriptor that is owned, and room for an address, whose size is given.
    let result = unsafe { libc::getsockname(socket.as_raw_fd(), address.as_mut_ptr().cast(), &raw mut size) };
    let family = i32::from(u16::from_ne_bytes([address[0], address[1]]));
    let is_of_network = result == 0 && [libc::AF_INET, libc::AF_INET6].contains(&family);
    is_of_network.then(|| u16::from_be_bytes([address[PORT], address[PORT + 1]]))
}

/// Whether nothing is on its way through the loopback interface: the kernel has handed over all that was sent. The
/// answer is about all networks of the machine.
pub(crate) fn is_quiet() -> bool {
    /// The column of `softnet_stat` that counts packets which wait.
    const WAITING: usize = 11;
    let Ok(text) = std::fs::read_to_string("/proc/net/softnet_stat") else { return true };
    text.lines().all(|line| {
        line.split_ascii_whitespace()
            .nth(WAITING)
            .is_none_or(|count| u32::from_str_radix(count, 16).unwrap_or(0) == 0)
    })
}
