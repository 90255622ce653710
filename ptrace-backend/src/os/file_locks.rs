//! Advisory locks of files as the kernel tells of them: of `flock`, which belong to open file descriptions, of `F_OFD_SETLK`, which
//! do as well but cover ranges, and of `F_SETLK`, which cover ranges and belong to processes. `/proc/locks` lists all that are
//! held, and `/proc/PID/fdinfo` those that are held through one description.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;

use super::fd::file_system;
use super::{Regs, Tid, memory};

/// A lock that a thread waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileLockRequest {
    pub(crate) descriptor: i32,
    owned_by: LockOwner,
    pub(crate) exclusive: bool,
    /// The first byte, and the first one after it; `u64::MAX` for the end of the file, however long it gets.
    bytes: (u64, u64),
}

/// The owner of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LockOwner {
    /// An open file description. Of `flock`: such locks and those of ranges do not see each other.
    Description {
        of_flock: bool,
    },
    Process,
}

/// A lock that is held, as `/proc` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HeldFileLock {
    of_flock: bool,
    of_process: bool,
    exclusive: bool,
    holder: Tid,
    /// Device and inode, in the kernel's words.
    file: String,
    bytes: (u64, u64),
}

impl HeldFileLock {
    /// A line of `/proc/locks`, or of a description: `1: FLOCK  ADVISORY  WRITE 71 08:01:392 0 EOF`. A second word `->`
    /// marks a lock that is waited for.
    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, kind, _, mode, holder, file, first, last] = words.as_slice() else { return None };
        let last = if *last == "EOF" { u64::MAX } else { last.parse::<u64>().ok()?.saturating_add(1) };
        Some(Self {
            of_flock: *kind == "FLOCK",
            of_process: *kind == "POSIX",
            exclusive: *mode == "WRITE",
            holder: holder.parse().ok()?,
            file: (*file).to_owned(),
            bytes: (first.parse().ok()?, last),
        })
    }
}

/// The lock that the call at which a thread of a process stands would wait for.
pub(crate) fn wanted(pid: Tid, regs: &Regs) -> Option<FileLockRequest> {
    let descriptor = regs.rdi as i32;
    match (regs.orig_rax as i64, regs.rsi as i32) {
        (libc::SYS_flock, operation) if operation & (libc::LOCK_NB | libc::LOCK_UN) == 0 => {
            Some(FileLockRequest {
                descriptor,
                owned_by: LockOwner::Description { of_flock: true },
                exclusive: operation & libc::LOCK_EX != 0,
                bytes: (0, u64::MAX),
            })
        }
        (libc::SYS_fcntl, command @ (libc::F_SETLKW | libc::F_OFD_SETLKW)) => {
            let of_process = command == libc::F_SETLKW;
            let owned_by =
                if of_process { LockOwner::Process } else { LockOwner::Description { of_flock: false } };
            in_range(pid, descriptor, owned_by, regs.rdx)
        }
        _ => None,
    }
}

/// The lock that a `struct flock` at this address describes; none where it unlocks, or makes no sense.
fn in_range(pid: Tid, descriptor: i32, owned_by: LockOwner, at: u64) -> Option<FileLockRequest> {
    let mut text = [0; 24];
    if !memory::read(pid, at, &mut text) {
        return None;
    }
    let short = |place: usize| i32::from(i16::from_le_bytes([text[place], text[place + 1]]));
    let long = |place: usize| text[place..place + 8].try_into().map_or(0, i64::from_le_bytes);
    let exclusive = match short(0) {
        mode if mode == i32::from(libc::F_WRLCK as i16) => true,
        mode if mode == i32::from(libc::F_RDLCK as i16) => false,
        _ => return None,
    };
    let origin = match short(2) {
        libc::SEEK_SET => 0,
        libc::SEEK_CUR => about(pid, descriptor).lines().find_map(position)?,
        libc::SEEK_END => i64::try_from(fs::metadata(path(pid, descriptor)).ok()?.len()).ok()?,
        _ => return None,
    };
    let (start, length) = (origin.checked_add(long(8))?, long(16));
    let bytes = match length {
        0 => (u64::try_from(start).ok()?, u64::MAX),
        1.. => (u64::try_from(start).ok()?, u64::try_from(start.checked_add(length)?).ok()?),
        _ => (u64::try_from(start.checked_add(length)?).ok()?, u64::try_from(start).ok()?),
    };
    Some(FileLockRequest { descriptor, owned_by, exclusive, bytes })
}

fn position(line: &str) -> Option<i64> {
    line.strip_prefix("pos:")?.trim().parse().ok()
}

/// Whether a process can have a lock at once, as far as `/proc` shows: of locks that processes of another namespace hold it does
/// not tell.
pub(crate) fn is_free(pid: Tid, wanted: &FileLockRequest) -> bool {
    let own = match wanted.owned_by {
        LockOwner::Process => Vec::new(),
        LockOwner::Description { .. } => held_through(pid, wanted.descriptor),
    };
    !is_in_the_way(pid, wanted, own)
}

/// Whether another process holds what is in the way of a lock.
pub(crate) fn is_held_outside(pid: Tid, wanted: &FileLockRequest) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let numbers = descriptors.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // A lock that duplicates of a descriptor share is listed with each, which makes no difference here.
    is_in_the_way(pid, wanted, numbers.flat_map(|number| held_through(pid, number)).collect())
}

/// Whether a lock that excludes this one is held, beside those that are passed over.
fn is_in_the_way(pid: Tid, wanted: &FileLockRequest, mut passed_over: Vec<HeldFileLock>) -> bool {
    let Some(file) = ListedFile::of(pid, wanted.descriptor) else { return false };
    file.held().into_iter().any(|held| {
        if let Some(place) = passed_over.iter().position(|known| *known == held) {
            passed_over.swap_remove(place);
            return false;
        }
        let is_own = wanted.owned_by == LockOwner::Process && held.of_process && held.holder == pid;
        let of_flock = wanted.owned_by == LockOwner::Description { of_flock: true };
        let overlaps = held.bytes.0 < wanted.bytes.1 && wanted.bytes.0 < held.bytes.1;
        !is_own && held.of_flock == of_flock && (held.exclusive || wanted.exclusive) && overlaps
    })
}

/// Whether a lock is held through this descriptor, so that its end may be that of the lock.
pub(crate) fn is_held_through(pid: Tid, descriptor: i32) -> bool {
    !held_through(pid, descriptor).is_empty()
}

fn held_through(pid: Tid, descriptor: i32) -> Vec<HeldFileLock> {
    let about = about(pid, descriptor);
    about.lines().filter_map(|line| HeldFileLock::parse(line.strip_prefix("lock:")?)).collect()
}

fn about(pid: Tid, descriptor: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).unwrap_or_default()
}

fn path(pid: Tid, descriptor: i32) -> String {
    format!("/proc/{pid}/fd/{descriptor}")
}

/// The kernel's list of locks, and whether all of it is of one moment: a single read tells it, of a page at most. What a further read
/// adds to a page that was not full has come later.
fn listing() -> io::Result<(String, bool)> {
    const PAGE: usize = 4096;
    const LONGEST_LINE: usize = 256;
    let mut list = File::open("/proc/locks")?;
    let mut text = vec![0; 1 << 16];
    let first = list.read(&mut text)?;
    text.truncate(first);
    let is_all = first + LONGEST_LINE < PAGE || list.read_to_end(&mut text)? == 0;
    Ok((String::from_utf8_lossy(&text).into_owned(), is_all))
}

/// A file by the numbers that locks are listed with.
struct ListedFile {
    device: Option<String>,
    inode: u64,
}

impl ListedFile {
    fn of(pid: Tid, descriptor: i32) -> Option<Self> {
        let metadata = fs::metadata(path(pid, descriptor)).ok()?;
        let (device, inode) = (metadata.dev(), metadata.ino());
        // On file systems that consist of others, what `stat` calls the device is none that a lock is listed with.
        let kind = file_system(&path(pid, descriptor))?;
        let is_own_device = kind != libc::OVERLAYFS_SUPER_MAGIC && kind != libc::BTRFS_SUPER_MAGIC;
        let device =
            is_own_device.then(|| format!("{:02x}:{:02x}", libc::major(device), libc::minor(device)));
        Some(Self { device, inode })
    }

    /// The locks that are held on it, all at one moment.
    ///
    /// The kernel lists the locks of the whole machine, and a read tells a page of them at most. Before the next read other
    /// processes lock and unlock their files, by which the list moves, so that a lock is told twice or not at all. One
    /// read that tells all is of one moment; of several reads, two readings count that tell the same of this file. Where others
    /// lock and unlock this very file all the time, the last reading does.
    fn held(&self) -> Vec<HeldFileLock> {
        const READINGS: usize = 100;
        let mut last = None;
        for _ in 0..READINGS {
            let Ok((text, is_of_one_moment)) = listing() else { return Vec::new() };
            let listed = text.lines().filter_map(HeldFileLock::parse).filter(|held| self.is(&held.file));
            let before = last.replace(listed.collect());
            if is_of_one_moment || before == last {
                break;
            }
        }
        last.unwrap_or_default()
    }

    /// Whether it is the one that is listed by these numbers.
    fn is(&self, listed: &str) -> bool {
        listed.rsplit_once(':').is_some_and(|(device, inode)| {
            self.device.as_deref().is_none_or(|own| own == device) && inode.parse() == Ok(self.inode)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn locks_are_read_as_the_kernel_lists_them() {
        let held = HeldFileLock::parse("1: OFDLCK ADVISORY  READ -1 08:01:392 5 9").unwrap();
        assert_eq!(
            held,
            HeldFileLock {
                of_flock: false,
                of_process: false,
                exclusive: false,
                holder: -1,
                file: "08:01:392".to_owned(),
                bytes: (5, 10)
            }
        );
        let whole = HeldFileLock::parse("\t7: FLOCK  ADVISORY  WRITE 71 00:2c:1 0 EOF").unwrap();
        assert!(whole.of_flock && whole.exclusive && whole.bytes == (0, u64::MAX));
        assert_eq!(HeldFileLock::parse("1: -> FLOCK  ADVISORY  WRITE 71 08:01:392 0 EOF"), None);
    }

    /// The kernel's list moves all the time: another thread locks and unlocks files.
    #[test]
    fn a_lock_is_told_once_whatever_else_is_locked_meanwhile() {
        let held = tempfile::tempfile().unwrap();
        held.lock().unwrap();
        let others: Vec<File> = (0..8).map(|_| tempfile::tempfile().unwrap()).collect();
        let pid = std::process::id() as Tid;
        let file = ListedFile::of(pid, held.as_raw_fd()).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    for (at, other) in others.iter().enumerate() {
                        other.lock().unwrap();
                        others[(at + 4) % 8].unlock().unwrap();
                    }
                }
            });
            let odd: Vec<_> = (0..2_000).map(|_| file.held()).filter(|locks| locks.len() != 1).collect();
            done.store(true, Ordering::Relaxed);
            assert_eq!(odd, Vec::<Vec<HeldFileLock>>::new());
        });
    }
}
