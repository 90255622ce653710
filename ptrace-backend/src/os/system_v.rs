//! Semaphores, message queues and shared memory of System V, which the kernel knows by number and keeps until they are removed,
//! whether or not the process that made them is there yet.

use std::io;

use super::{Regs, Tid, check, memory};

/// The kind of such an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IpcKind {
    Semaphores,
    Messages,
    Memory,
}

/// The wait of a call on such an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IpcWait {
    pub(crate) id: i32,
    pub(crate) condition: IpcCondition,
    /// The call fails where the condition does not hold, instead of waiting for it.
    fails: bool,
}

/// The condition under which a call goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IpcCondition {
    /// All of these operations can be carried out on the semaphores, or one fails at once.
    Operations(Vec<Operation>),
    /// A message of this type, as `msgrcv` counts types; of any other one with `except`.
    Message { of_type: i64, except: bool },
    /// Room for a message of this type and of so many bytes.
    Room { of_type: i64, size: u64 },
}

/// A `struct sembuf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operation {
    place: u16,
    change: i16,
    waits: bool,
}

/// The most operations that the kernel takes in one call.
const MOST: u64 = 500;

/// The wait of the call at which a thread of a process stands.
pub(crate) fn wait_of(pid: Tid, regs: &Regs) -> Option<IpcWait> {
    let number = |at| memory::number(pid, at, 8).unwrap_or(0).cast_signed();
    let (condition, flags) = match regs.orig_rax as i64 {
        // Their flags are those of each operation.
        libc::SYS_semop | libc::SYS_semtimedop => {
            (IpcCondition::Operations(operations(pid, regs.rsi, regs.rdx)), 0)
        }
        libc::SYS_msgrcv => {
            let except = regs.r8 as i32 & libc::MSG_EXCEPT != 0;
            (IpcCondition::Message { of_type: regs.r10.cast_signed(), except }, regs.r8)
        }
        libc::SYS_msgsnd => (IpcCondition::Room { of_type: number(regs.rsi), size: regs.rdx }, regs.r10),
        _ => return None,
    };
    Some(IpcWait { id: regs.rdi as i32, condition, fails: flags as i32 & libc::IPC_NOWAIT != 0 })
}

fn operations(pid: Tid, at: u64, count: u64) -> Vec<Operation> {
    const SIZE: usize = 6;
    let mut bytes = vec![0; count.min(MOST) as usize * SIZE];
    if !memory::read(pid, at, &mut bytes) {
        return Vec::new();
    }
    let half = |bytes: &[u8], at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let operation = |bytes: &[u8]| Operation {
        place: half(bytes, 0),
        change: half(bytes, 2).cast_signed(),
        waits: i32::from(half(bytes, 4).cast_signed()) & libc::IPC_NOWAIT == 0,
    };
    bytes.chunks_exact(SIZE).map(operation).collect()
}

/// The kernel carries out all or none: the first operation that cannot be decides whether the call waits.
fn can_be_carried_out(operations: &[Operation], value: impl Fn(u16) -> Option<i64>) -> bool {
    let mut changed: Vec<(u16, i64)> = Vec::new();
    for operation in operations {
        let known = changed.iter().find(|(place, _)| *place == operation.place).map(|(_, value)| *value);
        let Some(before) = known.or_else(|| value(operation.place)) else { return true };
        let after = before + i64::from(operation.change);
        if after < 0 || operation.change == 0 && before != 0 {
            return !operation.waits;
        }
        changed.retain(|(place, _)| *place != operation.place);
        changed.push((operation.place, after));
    }
    true
}

/// The value of a semaphore.
fn semaphore(id: i32, place: u16) -> io::Result<i64> {
    // SAFETY: the command only returns a number.
    check(unsafe { libc::semctl(id, place.into(), libc::GETVAL) }.into())
}

/// The kernel's data about a message queue.
fn queue(id: i32) -> io::Result<libc::msqid_ds> {
    // SAFETY: the kernel writes the one structure, for which all zeros are valid.
    unsafe {
        let mut queue: libc::msqid_ds = std::mem::zeroed();
        check(libc::msgctl(id, libc::IPC_STAT, &raw mut queue).into())?;
        Ok(queue)
    }
}

/// The objects that a program has made in one execution. They are removed with this, as memory and files of a process end with
/// it: the kernel would keep them, and has room for some thousands.
#[derive(Debug, Default)]
pub(crate) struct IpcObjects {
    objects: Vec<(IpcKind, i32)>,
    /// The memory that is, or was, in the program's address space.
    attached: Vec<i32>,
    /// The queue and the type of each message that was sent and not received, in this order.
    messages: Vec<(i32, i64)>,
}

impl IpcObjects {
    /// Makes, or finds, the object for which a thread asks, in its place: its number, or an error as a negative one.
    pub(crate) fn get(&mut self, kind: IpcKind, regs: &Regs) -> i64 {
        let (key, size) = (regs.rdi as i32, regs.rsi);
        let flags = if kind == IpcKind::Messages { regs.rsi } else { regs.rdx } as i32;
        let error = |error: io::Error| -i64::from(error.raw_os_error().unwrap_or(libc::EINVAL));
        let is_private = key == libc::IPC_PRIVATE;
        if is_private || flags & libc::IPC_CREAT != 0 {
            // Only so the kernel says whether the object of a key is new: an object of another program must not be removed.
            match get(kind, key, size, flags | libc::IPC_EXCL) {
                Ok(id) => {
                    self.objects.push((kind, id));
                    return id.into();
                }
                Err(refused) if is_private || flags & libc::IPC_EXCL != 0 => return error(refused),
                Err(refused) if refused.raw_os_error() != Some(libc::EEXIST) => return error(refused),
                Err(_) => {}
            }
        }
        get(kind, key, size, flags & !libc::IPC_CREAT).map_or_else(error, i64::from)
    }

    /// Whether a call can go on at once, be it that it fails.
    pub(crate) fn is_there(&self, wait: &IpcWait) -> bool {
        wait.fails
            || match &wait.condition {
                IpcCondition::Operations(operations) => {
                    can_be_carried_out(operations, |place| semaphore(wait.id, place).ok())
                }
                IpcCondition::Message { of_type, except } => {
                    queue(wait.id).map_or(true, |queue| match self.in_queue(wait.id).count() as u64 {
                        known if known == queue.msg_qnum => self.next(wait.id, *of_type, *except).is_some(),
                        // Another process has sent or received some, of types that the kernel does not tell.
                        _ => queue.msg_qnum > 0,
                    })
                }
                IpcCondition::Room { size, .. } => queue(wait.id).map_or(true, |queue| {
                    let bytes = queue.__msg_cbytes.saturating_add(*size);
                    bytes <= queue.msg_qbytes && queue.msg_qnum < queue.msg_qbytes
                }),
            }
    }

    /// The kernel carries out a call that can go on.
    pub(crate) fn carry_out(&mut self, wait: &IpcWait) {
        let is_sent = || self.is_there(&IpcWait { fails: false, ..wait.clone() });
        match wait.condition {
            IpcCondition::Room { of_type, .. } if is_sent() => self.messages.push((wait.id, of_type)),
            IpcCondition::Message { of_type, except } => {
                if let Some(place) = self.next(wait.id, of_type, except) {
                    self.messages.remove(place);
                }
            }
            _ => {}
        }
    }

    /// The messages of a queue, with their places among all.
    fn in_queue(&self, id: i32) -> impl Iterator<Item = (usize, i64)> {
        let all = self.messages.iter().enumerate();
        all.filter(move |(_, (queue, _))| *queue == id).map(|(place, (_, of_type))| (place, *of_type))
    }

    /// The place of the message that a call for this type receives.
    fn next(&self, id: i32, of_type: i64, except: bool) -> Option<usize> {
        let mut all = self.in_queue(id);
        let found = match of_type {
            0 => all.next(),
            1.. => all.find(|(_, own)| (*own == of_type) != except),
            _ => all.filter(|(_, own)| *own <= of_type.saturating_neg()).min_by_key(|(_, own)| *own),
        };
        found.map(|(place, _)| place)
    }

    /// Memory is about to be attached. `false`: it belongs to no other process, and is at no other address.
    pub(crate) fn attach(&mut self, id: i32) -> bool {
        let is_elsewhere = self.place(id).is_none() || self.attached.contains(&id);
        self.attached.push(id);
        is_elsewhere
    }

    /// Number of objects that were made before one; `None` if it was there before the program.
    pub(crate) fn place(&self, id: i32) -> Option<usize> {
        self.objects.iter().position(|(_, own)| *own == id)
    }
}

impl Drop for IpcObjects {
    fn drop(&mut self) {
        for (kind, id) in &self.objects {
            remove(*kind, *id);
        }
    }
}

/// `semget`, `msgget` or `shmget`.
fn get(kind: IpcKind, key: i32, size: u64, flags: i32) -> io::Result<i32> {
    // SAFETY: the calls take numbers alone, and make what does not touch the memory of this process.
    let result = unsafe {
        match kind {
            IpcKind::Semaphores => libc::semget(key, size as i32, flags),
            IpcKind::Messages => libc::msgget(key, flags),
            IpcKind::Memory => libc::shmget(key, size as usize, flags),
        }
    };
    check(result.into()).map(|id| id as i32)
}

/// Removes an object, unless the program has.
fn remove(kind: IpcKind, id: i32) {
    // SAFETY: the command takes numbers alone. Memory goes once no process has it attached any more.
    unsafe {
        match kind {
            IpcKind::Semaphores => libc::semctl(id, 0, libc::IPC_RMID),
            IpcKind::Messages => libc::msgctl(id, libc::IPC_RMID, std::ptr::null_mut()),
            IpcKind::Memory => libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(place: u16, change: i16, waits: bool) -> Operation {
        Operation { place, change, waits }
    }

    #[test]
    fn all_operations_of_a_call_are_carried_out_or_none() {
        let goes = |operations: &[Operation]| {
            can_be_carried_out(operations, |place| [1, 0].get(usize::from(place)).copied())
        };
        assert!(goes(&[operation(0, -1, true)]));
        assert!(!goes(&[operation(1, -1, true)]) && goes(&[operation(1, -1, false)]));
        assert!(goes(&[operation(1, 0, true)]) && !goes(&[operation(0, 0, true)]));
        assert!(goes(&[operation(1, 2, true), operation(1, -2, true)]));
        assert!(!goes(&[operation(0, -1, true), operation(0, -1, true)]));
        assert!(goes(&[operation(9, -1, true)]), "there is none: the call fails");
    }

    #[test]
    fn messages_are_received_as_the_kernel_hands_them_out() {
        let mut objects = IpcObjects::default();
        objects.messages.extend([(1, 5), (2, 1), (1, 3), (1, 3)]);
        assert_eq!(
            [objects.next(1, 0, false), objects.next(1, 3, false), objects.next(1, 5, true)],
            [Some(0), Some(2), Some(2)]
        );
        assert_eq!(
            [objects.next(1, -4, false), objects.next(1, -2, false), objects.next(3, 0, false)],
            [Some(2), None, None]
        );
        let wait =
            IpcWait { id: 1, condition: IpcCondition::Message { of_type: 3, except: false }, fails: false };
        objects.carry_out(&wait);
        assert_eq!(objects.messages, [(1, 5), (2, 1), (1, 3)]);
    }

    /// The registers of a thread that asks for one semaphore.
    fn asking_for(key: i32, flags: i32) -> Regs {
        // SAFETY: plain numbers, for which all zeros are valid.
        let mut regs: Regs = unsafe { std::mem::zeroed() };
        (regs.rdi, regs.rsi, regs.rdx) = (key as u64, 1, (flags | 0o600) as u64);
        regs
    }

    #[test]
    fn what_was_made_is_removed() {
        let mut objects = IpcObjects::default();
        let id = objects.get(IpcKind::Semaphores, &asking_for(libc::IPC_PRIVATE, 0)) as i32;
        assert_eq!((semaphore(id, 0).ok(), objects.place(id)), (Some(0), Some(0)));
        drop(objects);
        assert!(semaphore(id, 0).is_err());
    }

    #[test]
    fn what_was_there_stays() {
        let key = 0x1e57_0000 | std::process::id() as i32;
        let (mut owner, mut other) = (IpcObjects::default(), IpcObjects::default());
        let id = owner.get(IpcKind::Semaphores, &asking_for(key, libc::IPC_CREAT)) as i32;
        assert_eq!(other.get(IpcKind::Semaphores, &asking_for(key, libc::IPC_CREAT)), id.into());
        let new = other.get(IpcKind::Semaphores, &asking_for(key, libc::IPC_CREAT | libc::IPC_EXCL));
        assert_eq!((new, other.place(id)), (-i64::from(libc::EEXIST), None));
        drop(other);
        assert!(semaphore(id, 0).is_ok());
        drop(owner);
        assert!(semaphore(id, 0).is_err());
    }
}
