//! Memory, and files that stand for sockets, as structures of messages and lists of buffers name them.

use super::touched::Touched;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;

/// More buffers than this are not looked at in one call, as more cannot be given to one.
const MOST_BUFFERS: u64 = 1024;

/// The size of a structure `mmsghdr`, in bytes.
const SIZE_OF_MESSAGE: u64 = 64;

/// `count` structures `iovec`, and the buffers that they name.
pub(super) fn buffers(
    tracee: &Tracee,
    at: u64,
    count: u64,
    writes: bool,
) -> impl Iterator<Item = Touched> + '_ {
    const SIZE: u64 = 16;
    let count = count.min(MOST_BUFFERS);
    let own = Touched::Memory { bytes: at..at.saturating_add(count * SIZE), writes: false };
    let named = (0..count).map(move |i| {
        let (start, len) = (tracee.number(at + i * SIZE, 8), tracee.number(at + i * SIZE + 8, 8));
        Touched::Memory { bytes: start..start.saturating_add(len), writes }
    });
    [own].into_iter().chain(named)
}

/// The names of files, if the address of a socket, given by where it is and its length, is one of them.
pub(super) fn socket_name(tracee: &Tracee, (at, len): (u64, u64), writes: bool) -> Option<Touched> {
    names_file(tracee, at, len).then_some(Touched::Names { writes })
}

/// A structure `msghdr`, with the address and the buffers that it names.
pub(super) fn message(tracee: &Tracee, at: u64, writes: bool) -> impl Iterator<Item = Touched> + '_ {
    const SIZE: u64 = 56;
    const NAME_LENGTH: u64 = 8;
    const BUFFERS: u64 = 16;
    const COUNT: u64 = 24;
    let own = Touched::Memory { bytes: at..at.saturating_add(SIZE), writes };
    let (name, length) = (tracee.number(at, 8), tracee.number(at + NAME_LENGTH, 4));
    let file = socket_name(tracee, (name, length), false).filter(|_| !writes);
    let name = (name != 0).then(|| Touched::Memory { bytes: name..name.saturating_add(length), writes });
    let all = buffers(tracee, tracee.number(at + BUFFERS, 8), tracee.number(at + COUNT, 8), writes);
    [own].into_iter().chain(name).chain(file).chain(all)
}

/// `count` structures `mmsghdr`, with their messages.
pub(super) fn messages(
    tracee: &Tracee,
    at: u64,
    count: u64,
    writes: bool,
) -> impl Iterator<Item = Touched> + '_ {
    let all =
        (0..count.min(MOST_BUFFERS)).flat_map(move |i| message(tracee, at + i * SIZE_OF_MESSAGE, writes));
    // The lengths that were sent or received.
    all.chain([Touched::Memory {
        bytes: at..at.saturating_add(count.min(MOST_BUFFERS) * SIZE_OF_MESSAGE),
        writes: true,
    }])
}

/// The largest number of descriptors that the messages which a call receives may bring along, by their room for such.
pub(super) fn most_descriptors(tracee: &Tracee, index: ThreadIndex) -> usize {
    /// The number of descriptors that one message can carry.
    const MOST: u64 = 253;
    /// The place of the length of that room in a structure `msghdr`, the size of the header of its content, and of a descriptor.
    const ROOM: u64 = 40;
    const HEADER: u64 = 16;
    const DESCRIPTOR: u64 = 4;
    let regs = &tracee.tasks[index].regs;
    let count = match regs.orig_rax as i64 {
        libc::SYS_recvmsg => 1,
        libc::SYS_recvmmsg => regs.rdx.min(MOST_BUFFERS),
        _ => 0,
    };
    let rooms = (0..count).map(|nth| tracee.number(regs.rsi + nth * SIZE_OF_MESSAGE + ROOM, 8));
    rooms.map(|room| (room.saturating_sub(HEADER) / DESCRIPTOR).min(MOST) as usize).sum()
}

/// Whether the address of a socket is a name in the file system.
fn names_file(tracee: &Tracee, address: u64, len: u64) -> bool {
    const FAMILY: u64 = 2;
    // An abstract name begins with a zero.
    let names = |at: u64| tracee.number(at, 1) != 0;
    len > FAMILY && tracee.number(address, FAMILY as usize) == libc::AF_UNIX as u64 && names(address + FAMILY)
}
