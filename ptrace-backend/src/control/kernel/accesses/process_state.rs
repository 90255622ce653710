//! State of a process in the kernel beside memory and files: all of its threads share it, and come upon changes of others.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use checker::account::{Unwatched, UnwatchedKind};
use checker::names::Obj;
use smallvec::SmallVec;

use super::messages;
use super::touched::{Touched, is_libc_internal_syscall};
use crate::control::state::account::Account;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::os::calls::descriptors::{self, Numbers};
use crate::os::calls::{self, ProcessState};
use crate::os::{fd, file_locks, memory};

/// The name of all of it.
pub(super) const OBJECT: &str = "the process's state in the kernel";

/// The access to this state by the call at which a thread stands; `None`: the call does not touch it.
pub(super) fn touched(
    tracee: &Tracee,
    scheduling: &Scheduling,
    account: &mut Account,
    index: ThreadIndex,
) -> Option<Touched> {
    let regs = &tracee.tasks[index].regs;
    let call = regs.orig_rax as i64;
    let mut enter = |function: &str| {
        if scheduling.has_company() {
            account.enter_unwatched(Unwatched::call(UnwatchedKind::SystemCall, function));
        }
    };
    let writes = match calls::process_state(regs) {
        ProcessState::Apart if !ends_lock(tracee, index) => return None,
        ProcessState::Apart => true,
        ProcessState::Changes => {
            if calls::sets_identity(call) || calls::limits_memory(regs) {
                enter(&calls::name(call));
            }
            true
        }
        ProcessState::Unknown => {
            enter(&calls::name(call));
            true
        }
        ProcessState::Looks => match told_by_kernel(tracee, index) {
            None => false,
            // The name of a thread, which the thread itself asks for.
            Some(path) if path.ends_with("comm") => true,
            Some(path) => {
                // The C library reads some for itself, and lists none.
                if call == libc::SYS_getdents64 || !is_libc_internal_syscall(tracee, index) {
                    enter(&words(&path));
                }
                false
            }
        },
    };
    Some(Touched::ProcessState { writes })
}

/// All of it, as an object.
pub(in crate::control::kernel) fn object(tracee: &Tracee) -> Obj {
    tracee.knowledge.named(OBJECT.to_owned())
}

/// Whether a call takes a descriptor away through which a file is locked: the lock ends with the last descriptor.
fn ends_lock(tracee: &Tracee, index: ThreadIndex) -> bool {
    match descriptors::numbers(&tracee.tasks[index].regs) {
        Numbers::Ends(number) | Numbers::Replaces(_, number) => {
            file_locks::is_held_through(tracee.leader, number)
        }
        Numbers::Keeps | Numbers::Makes(_) => false,
    }
}

/// The file by which the kernel tells of this process or its threads (below `/proc/self`), if the call is about one. Some of them
/// say the same whatever threads do.
fn told_by_kernel(tracee: &Tracee, index: ThreadIndex) -> Option<PathBuf> {
    let regs = &tracee.tasks[index].regs;
    if let Some((path, _)) = calls::path_argument(regs.orig_rax as i64) {
        let path = PathBuf::from(memory::string(tracee.leader, calls::argument(regs, path)));
        return is_telling(&path).then_some(path);
    }
    if descriptors::numbers(regs) != Numbers::Keeps {
        return None;
    }
    let used = descriptors::used(regs, |at, len| tracee.number(at, len)).into_iter();
    let links = used
        .filter(|number| *number > 2)
        .filter_map(|number| fs::read_link(format!("/proc/{}/fd/{number}", tracee.leader)).ok());
    links.into_iter().find(|path| is_telling(path))
}

/// Whether the kernel tells something of a process or its threads, in the file of this path, that may change.
pub(in crate::control) fn is_telling(path: &Path) -> bool {
    const CONSTANT: &[&str] = &["exe", "cmdline", "environ", "auxv", "cgroup", "mounts", "mountinfo"];
    let of = path.strip_prefix("/proc").ok().and_then(|rest| rest.components().next()?.as_os_str().to_str());
    let is_process =
        |of: &str| of == "self" || of == "thread-self" || of.bytes().all(|byte| byte.is_ascii_digit());
    let is_constant = |name: &OsStr| CONSTANT.iter().any(|constant| name == *constant);
    of.is_some_and(is_process) && !path.file_name().is_some_and(is_constant)
}

/// The words for such a file.
pub(in crate::control) fn words(path: &Path) -> String {
    format!("/proc/…/{}", path.file_name().unwrap_or_default().to_string_lossy())
}

/// The numbers of descriptors that a call uses (`all`, and those that its arguments tell), makes and ends. The number that a
/// file gets depends on all that are in use. Files that may block are operations of their own.
pub(super) fn descriptors(
    tracee: &Tracee,
    scheduling: &Scheduling,
    account: &mut Account,
    index: ThreadIndex,
    mut all: SmallVec<[(i32, bool); 2]>,
) -> SmallVec<[Touched; 3]> {
    let regs = &tracee.tasks[index].regs;
    let used = descriptors::used(regs, |at, len| tracee.number(at, len));
    all.extend(used.into_iter().map(|number| (number, false)));
    let known = descriptors::numbers(regs);
    if let Numbers::Ends(number) | Numbers::Replaces(_, number) = known {
        all.push((number, true));
    }
    let made = match known {
        Numbers::Makes(count) => count,
        _ => messages::most_descriptors(tracee, index),
    };
    if made > 0 && scheduling.has_company() {
        all.extend(fd::next(tracee.leader, made).map(|number| (number, true)));
    }
    let is_standard = |number: i32| (0..3).contains(&number);
    if scheduling.has_company() && all.iter().any(|&(number, writes)| writes && is_standard(number)) {
        let name = calls::name(regs.orig_rax as i64);
        account.enter_unwatched(Unwatched::call(UnwatchedKind::File, &name));
    }
    // An operation on such files depends on the ends of all of them.
    let is_operation = descriptors::is_operation(regs);
    all.retain(|&mut (number, writes)| {
        number >= 0
            && !is_standard(number)
            && (writes || !is_operation || !fd::may_block(tracee.leader, number))
    });
    let table = made > 0 || known != Numbers::Keeps;
    let mut seen: SmallVec<[(i32, bool); 2]> = SmallVec::new();
    all.into_iter().for_each(|access| {
        if !seen.contains(&access) {
            seen.push(access);
        }
    });
    let numbers = seen.into_iter().map(|(number, writes)| Touched::Descriptor { number, writes });
    table.then_some(Touched::Descriptors).into_iter().chain(numbers).collect()
}
