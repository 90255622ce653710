//! What system calls do to memory, to files and to mappings: where threads share these, a call is an operation on them.
//!
//! A buffer that the kernel fills or empties is read or written by the calling thread. A mapping that is removed, moved or
//! protected is written. The content of a regular file, with what is said about it (its length, its mode), is one object, by its name
//! (`file_names`), whatever descriptor it is used through. So are the names of files taken together, the number of each
//! descriptor, and whatever else the kernel keeps of a process ([`crate::os::calls`]). Standard streams are left out: nobody in the program reads back what it has
//! written there.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use checker::account::{Unwatched, UnwatchedKind};
use checker::names::Obj;
use checker::operation::{Access, Op, OpKind};
use smallvec::SmallVec;

use crate::control::memory::sharing::How;
use crate::control::process::{Flow, Process};
use crate::control::sync::objects::Index;
use crate::control::thread::{Act, Need};
use crate::layout::digest;
use crate::os::calls::{self, Descriptors, ProcessState};
use crate::os::{Regs, fd, memory, outside};

/// Files and names have addresses of their own in the record of shared memory: above all that a program can map.
const NOT_MEMORY: u64 = 0xffff_8000_0000_0000;

/// More buffers than this are not looked at in one call, as more cannot be given to one.
const MOST_BUFFERS: u64 = 1024;

/// Bytes of a file that are mapped.
#[derive(Debug, Clone)]
pub(crate) struct FileMapping {
    file: String,
    bytes: Range<u64>,
    /// By this mapping the file is written.
    is_written: bool,
}

impl FileMapping {
    /// Whether what is written by one of them shows in the other one.
    fn meets(&self, other: &Self) -> bool {
        (self.is_written || other.is_written)
            && self.file == other.file
            && self.bytes.start < other.bytes.end
            && other.bytes.start < self.bytes.end
    }
}

/// Something that a system call reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Touched {
    Memory {
        bytes: Range<u64>,
        writes: bool,
    },
    File {
        descriptor: i32,
        writes: bool,
    },
    /// The file at a path, if it is a regular one.
    Path {
        path: PathBuf,
        writes: bool,
    },
    Names {
        writes: bool,
    },
    /// The number of a descriptor, as what stands for a file: it is written where it begins to, or ends.
    Descriptor {
        number: i32,
        writes: bool,
    },
    /// Which numbers are in use is changed.
    Descriptors,
    /// What the kernel keeps of the process beside all these.
    ProcessState {
        writes: bool,
    },
}

impl Process {
    /// The accesses of the system call at which a thread stands to what threads share; takes note of all of them.
    pub(crate) fn kernel_accesses(&mut self, index: Index) -> SmallVec<[Access; 2]> {
        let mut shared = SmallVec::new();
        if !self.is_scheduled(index) {
            return shared;
        }
        let mut touched = self.touched_by_kernel(index);
        touched.extend(self.process_state(index));
        let files = touched.iter().filter_map(|touched| match touched {
            Touched::File { descriptor, .. } => Some((*descriptor, false)),
            _ => None,
        });
        touched.extend(self.descriptors(index, files.collect()));
        // What the C library does with buffers of its own is its own affair.
        let is_own = !touched.is_empty() && self.is_called_by_libc(index);
        for touched in touched {
            let (place, object, writes) = match touched {
                Touched::Memory { .. } if is_own => continue,
                Touched::Memory { bytes, writes } if !bytes.is_empty() => {
                    let object = self.stretch(bytes.start, bytes.end - bytes.start);
                    (bytes, object, writes)
                }
                Touched::Memory { .. } => continue,
                Touched::File { descriptor, writes } => match self.regular_file(index, descriptor) {
                    Some(name) => self.content(name, writes),
                    None => continue,
                },
                Touched::Path { path, writes } => {
                    self.content(format!("file `{}`", path.to_string_lossy()), writes)
                }
                Touched::Names { writes } => self.no_memory("names of files".to_owned(), writes),
                Touched::Descriptor { number, writes } => {
                    self.no_memory(format!("file descriptor {number}"), writes)
                }
                Touched::Descriptors => self.no_memory("numbers of file descriptors".to_owned(), true),
                Touched::ProcessState { writes } => {
                    self.no_memory("the process's state in the kernel".to_owned(), writes)
                }
            };
            let how = if writes { How::Writes } else { How::Reads };
            let conflict = self.sharing.touch_in(index, None, place.clone(), how);
            if self.threads[index].regs.orig_rax as i64 == libc::SYS_munmap {
                self.sharing.forget(&place);
            }
            if !conflict.bytes.is_empty() {
                let memory: Vec<Obj> = match object.name.is_allocated()
                    || conflict.bytes[0].start < NOT_MEMORY
                {
                    true => conflict.bytes.iter().map(|b| self.stretch(b.start, b.end - b.start)).collect(),
                    false => vec![object],
                };
                self.promoted |= self.shared.promote(&conflict.candidates, None, &memory);
            }
            if self.shared.is_shared(object) {
                shared.push(if writes { Access::write(object) } else { Access::read(object) });
            }
        }
        shared
    }

    /// Makes the call at which a thread stands an operation if it touches what threads share; otherwise lets it through.
    pub(crate) fn pass_to_kernel(&mut self, index: Index) -> Flow {
        let accesses = self.kernel_accesses(index);
        self.pass_or_pend(index, accesses)
    }

    /// The same, of a call that makes these accesses to what threads share.
    pub(crate) fn pass_or_pend(&mut self, index: Index, accesses: SmallVec<[Access; 2]>) -> Flow {
        if accesses.is_empty() {
            return Flow::Resume(0);
        }
        self.pend(index, Op::new(OpKind::Io, accesses), Need::Nothing, Act::Kernel, None)
    }

    fn no_memory(&self, name: String, writes: bool) -> (Range<u64>, Obj, bool) {
        const SPAN: u64 = 8;
        let at = NOT_MEMORY + (digest(&name) >> 20) * SPAN;
        (at..at + SPAN, self.shared.named(name), writes)
    }

    /// The content of a file. Where that is mapped as well, memory is another way to it.
    fn content(&mut self, name: String, writes: bool) -> (Range<u64>, Obj, bool) {
        let is_mapped = |mapping: &FileMapping| (writes || mapping.is_written) && name == mapping.file;
        if self.file_mappings.iter().any(is_mapped) {
            self.enter_unwatched(Unwatched::of(UnwatchedKind::SharedMapping));
        }
        self.no_memory(name, writes)
    }

    /// How the call is about what the kernel keeps of the process beside memory, files and names.
    fn process_state(&mut self, index: Index) -> Option<Touched> {
        let regs = self.threads[index].regs;
        let writes = match calls::process_state(&regs) {
            ProcessState::Apart => return None,
            ProcessState::Looks => match self.told_by_kernel(index) {
                None => false,
                // The name of a thread, which the thread itself asks for.
                Some(path) if path.file_name().is_some_and(|name| name == "comm") => true,
                Some(path) => {
                    let of_kernel =
                        path.components().next_back().map(|name| name.as_os_str().to_string_lossy());
                    let name = of_kernel.map(|name| format!("/proc/…/{name}")).unwrap_or_default();
                    // The C library reads some for itself, and lists none.
                    let lists = regs.orig_rax as i64 == libc::SYS_getdents64;
                    if self.has_company() && (lists || !self.is_called_by_libc(index)) {
                        self.enter_unwatched(Unwatched::call(UnwatchedKind::SystemCall, &name));
                    }
                    false
                }
            },
            ProcessState::Changes => true,
            ProcessState::Unknown => {
                if self.has_company() {
                    let name = calls::name(regs.orig_rax as i64);
                    self.enter_unwatched(Unwatched::call(UnwatchedKind::SystemCall, &name));
                }
                true
            }
        };
        Some(Touched::ProcessState { writes })
    }

    /// The file by which the kernel tells of this process or its threads (below `/proc/self`), if the call is about one. Some of them
    /// say the same whatever threads do.
    fn told_by_kernel(&self, index: Index) -> Option<PathBuf> {
        const CONSTANT: &[&str] =
            &["exe", "cmdline", "environ", "auxv", "cgroup", "mounts", "mountinfo", "maps"];
        let regs = &self.threads[index].regs;
        let path = match calls::path_argument(regs.orig_rax as i64) {
            Some((path, _)) => PathBuf::from(memory::string(self.leader, calls::argument(regs, path))),
            None => match calls::descriptors(regs) {
                Descriptors::Uses(number) if number > 2 => {
                    fs::read_link(format!("/proc/{}/fd/{number}", self.leader)).ok()?
                }
                _ => return None,
            },
        };
        let mut parts = path.strip_prefix("/proc").ok()?.components().map(|part| part.as_os_str().to_str());
        let of = parts.next()??;
        let is_own = of == "self" || of == "thread-self" || of.bytes().all(|byte| byte.is_ascii_digit());
        let is_constant = CONSTANT.contains(&path.file_name()?.to_str()?);
        (is_own && !is_constant).then_some(path)
    }

    /// The numbers of descriptors that a call uses (`all`, and what its arguments tell), makes and ends. Which number a file gets
    /// depends on all that are in use. Files that may block are operations of their own.
    fn descriptors(&mut self, index: Index, mut all: SmallVec<[(i32, bool); 2]>) -> SmallVec<[Touched; 3]> {
        let regs = self.threads[index].regs;
        let known = calls::descriptors(&regs);
        match known {
            Descriptors::None => {}
            Descriptors::Uses(number) => all.push((number, false)),
            Descriptors::Ends(number) => all.push((number, true)),
            Descriptors::Replaces(from, to) => all.extend([(from, false), (to, true)]),
            Descriptors::Makes(count) if self.has_company() => {
                all.extend(fd::next(self.leader, count).map(|number| (number, true)));
            }
            Descriptors::Makes(_) => {}
        }
        let is_standard = |number: i32| (0..3).contains(&number);
        if self.has_company() && all.iter().any(|&(number, writes)| writes && is_standard(number)) {
            let name = calls::name(regs.orig_rax as i64);
            self.enter_unwatched(Unwatched::call(UnwatchedKind::File, &name));
        }
        all.retain(|(number, _)| !is_standard(*number) && !fd::may_block(self.leader, *number));
        let table = !matches!(known, Descriptors::None | Descriptors::Uses(_));
        let numbers = all.into_iter().map(|(number, writes)| Touched::Descriptor { number, writes });
        table.then_some(Touched::Descriptors).into_iter().chain(numbers).collect()
    }

    /// Whether the system call at which a thread stands is one that the C library makes on its own behalf: its wrapper is
    /// called from there.
    fn is_called_by_libc(&self, index: Index) -> bool {
        const WRAPPER: usize = 2;
        let frames = self.raw_frames(index, WRAPPER);
        let [call, caller] = frames.as_slice() else { return false };
        self.layout.is_call_of_libc(call.pc) && self.layout.in_libc(caller.pc)
    }

    fn touched_by_kernel(&self, index: Index) -> SmallVec<[Touched; 3]> {
        let regs = &self.threads[index].regs;
        let (first, second, third) = (regs.rdi, regs.rsi, regs.rdx);
        let memory =
            |at: u64, len: u64, writes| Touched::Memory { bytes: at..at.saturating_add(len), writes };
        let file = |writes| Touched::File { descriptor: first as i32, writes };
        match regs.orig_rax as i64 {
            libc::SYS_read | libc::SYS_pread64 => {
                [memory(second, third, true), file(false)].into_iter().collect()
            }
            libc::SYS_write | libc::SYS_pwrite64 => {
                [memory(second, third, false), file(true)].into_iter().collect()
            }
            libc::SYS_recvfrom => [memory(second, third, true)].into_iter().collect(),
            libc::SYS_sendto => [memory(second, third, false)].into_iter().collect(),
            libc::SYS_readv | libc::SYS_preadv | libc::SYS_preadv2 => {
                self.buffers(second, third, true).chain([file(false)]).collect()
            }
            libc::SYS_writev | libc::SYS_pwritev | libc::SYS_pwritev2 => {
                self.buffers(second, third, false).chain([file(true)]).collect()
            }
            libc::SYS_recvmsg => self.message_buffers(second, true).collect(),
            libc::SYS_sendmsg => self.message_buffers(second, false).collect(),
            // The position in a file is a part of it.
            libc::SYS_lseek | libc::SYS_ftruncate | libc::SYS_fallocate => [file(true)].into_iter().collect(),
            libc::SYS_munmap | libc::SYS_mprotect | libc::SYS_pkey_mprotect | libc::SYS_mremap => {
                [memory(first, second, true)].into_iter().collect()
            }
            libc::SYS_madvise if discards(third as i32) => {
                [memory(first, second, true)].into_iter().collect()
            }
            libc::SYS_mmap if regs.r10 as i32 & libc::MAP_FIXED != 0 => {
                [memory(first, second, true)].into_iter().collect()
            }
            libc::SYS_open => self.opened(index, second as i32),
            libc::SYS_openat => self.opened(index, third as i32),
            libc::SYS_creat => self.opened(index, libc::O_CREAT | libc::O_TRUNC),
            libc::SYS_stat | libc::SYS_lstat | libc::SYS_fstat => {
                self.asked(index, [memory(second, size_of::<libc::stat>() as u64, true)])
            }
            libc::SYS_newfstatat => self.asked(index, [memory(third, size_of::<libc::stat>() as u64, true)]),
            libc::SYS_statx => self.asked(index, [memory(regs.r8, size_of::<libc::statx>() as u64, true)]),
            libc::SYS_access
            | libc::SYS_faccessat
            | libc::SYS_faccessat2
            | libc::SYS_getxattr
            | libc::SYS_lgetxattr => self.asked(index, []),
            libc::SYS_fgetxattr => [file(false)].into_iter().collect(),
            libc::SYS_getdents | libc::SYS_getdents64 | libc::SYS_readlink => {
                [Touched::Names { writes: false }, memory(second, third, true)].into_iter().collect()
            }
            libc::SYS_readlinkat => {
                [Touched::Names { writes: false }, memory(third, regs.r10, true)].into_iter().collect()
            }
            libc::SYS_getcwd => [memory(first, second, true)].into_iter().collect(),
            libc::SYS_fchmod | libc::SYS_fchown | libc::SYS_fsetxattr | libc::SYS_fremovexattr => {
                [file(true)].into_iter().collect()
            }
            libc::SYS_truncate
            | libc::SYS_chmod
            | libc::SYS_fchmodat
            | libc::SYS_chown
            | libc::SYS_lchown
            | libc::SYS_fchownat
            | libc::SYS_utime
            | libc::SYS_utimes
            | libc::SYS_utimensat
            | libc::SYS_setxattr
            | libc::SYS_lsetxattr
            | libc::SYS_removexattr
            | libc::SYS_lremovexattr => {
                let names = Touched::Names { writes: false };
                [Some(names), self.named_file(index, true)].into_iter().flatten().collect()
            }
            call if outside::NAMES.contains(&call) => [Touched::Names { writes: true }].into_iter().collect(),
            _ => SmallVec::new(),
        }
    }

    /// A file is opened, which may empty it.
    fn opened(&self, index: Index, flags: i32) -> SmallVec<[Touched; 3]> {
        let names = Touched::Names { writes: creates(flags) };
        let emptied = (flags & libc::O_TRUNC != 0).then(|| self.named_file(index, true)).flatten();
        [Some(names), emptied].into_iter().flatten().collect()
    }

    /// Somebody asks about a file by its name or descriptor: for its length, say.
    fn asked<const N: usize>(&self, index: Index, answer: [Touched; N]) -> SmallVec<[Touched; 3]> {
        let names = Touched::Names { writes: false };
        [Some(names), self.named_file(index, false)].into_iter().flatten().chain(answer).collect()
    }

    /// The regular file whose path, or else whose descriptor, a call is given.
    fn named_file(&self, index: Index, writes: bool) -> Option<Touched> {
        let regs = &self.threads[index].regs;
        let Some((path, folder)) = calls::path_argument(regs.orig_rax as i64) else {
            return Some(Touched::File { descriptor: regs.rdi as i32, writes });
        };
        let path = memory::string(self.leader, calls::argument(regs, path));
        let folder = folder.map_or(libc::AT_FDCWD, |folder| calls::argument(regs, folder) as i32);
        if path.is_empty() {
            return Some(Touched::File { descriptor: folder, writes });
        }
        let folder = match folder {
            libc::AT_FDCWD => format!("/proc/{}/cwd", self.leader),
            descriptor => format!("/proc/{}/fd/{descriptor}", self.leader),
        };
        let path = fs::canonicalize(Path::new(&folder).join(path)).ok().filter(|path| path.is_file())?;
        Some(Touched::Path { path, writes })
    }

    /// The buffers that `count` structures `iovec` name.
    fn buffers(&self, at: u64, count: u64, writes: bool) -> impl Iterator<Item = Touched> + '_ {
        const SIZE: u64 = 16;
        (0..count.min(MOST_BUFFERS)).map(move |i| {
            let (start, len) = (self.number(at + i * SIZE, 8), self.number(at + i * SIZE + 8, 8));
            Touched::Memory { bytes: start..start.saturating_add(len), writes }
        })
    }

    /// The buffers of a structure `msghdr`.
    fn message_buffers(&self, at: u64, writes: bool) -> impl Iterator<Item = Touched> + '_ {
        const BUFFERS: u64 = 16;
        const COUNT: u64 = 24;
        self.buffers(self.number(at + BUFFERS, 8), self.number(at + COUNT, 8), writes)
    }

    /// Memory is mapped: code that is loaded or made, and pages that are mapped twice, are not watched.
    pub(crate) fn note_mapping(&mut self, index: Index) {
        let Regs { rsi: len, rdx: protection, r10: flags, r8: descriptor, r9: offset, .. } =
            self.threads[index].regs;
        let (protection, flags, descriptor) = (protection as i32, flags as i32, descriptor as i32);
        let is_file = flags & libc::MAP_ANONYMOUS == 0;
        if protection & libc::PROT_EXEC != 0 {
            self.note_code(is_file.then_some(descriptor));
        }
        if !is_file {
            return;
        }
        let Some(file) = self.regular_file(index, descriptor) else { return };
        let is_written = flags & libc::MAP_SHARED != 0 && protection & libc::PROT_WRITE != 0;
        let mapping = FileMapping { file, bytes: offset..offset.saturating_add(len), is_written };
        if self.file_mappings.iter().any(|other| other.meets(&mapping)) {
            self.enter_unwatched(Unwatched::of(UnwatchedKind::SharedMapping));
        }
        self.file_mappings.push(mapping);
    }

    /// Memory becomes executable: code of a file, or code that the program makes.
    pub(crate) fn note_code(&mut self, descriptor: Option<i32>) {
        let path = descriptor.and_then(|fd| fs::read_link(format!("/proc/{}/fd/{fd}", self.leader)).ok());
        let module = path.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        // The C library loads it to unwind the stack of a thread that ends.
        if module.as_deref().is_some_and(|name| name.starts_with("libgcc_s.so")) {
            return;
        }
        let kind = if module.is_some() { UnwatchedKind::LoadedCode } else { UnwatchedKind::GeneratedCode };
        self.enter_unwatched(Unwatched { kind, module, function: None });
    }
}

/// Whether advice about memory throws its content away.
const fn discards(advice: i32) -> bool {
    matches!(advice, libc::MADV_DONTNEED | libc::MADV_FREE | libc::MADV_REMOVE)
}

/// Whether a file is opened in a way that may make a name, or change what is behind it.
const fn creates(flags: i32) -> bool {
    flags & (libc::O_CREAT | libc::O_TRUNC) != 0
}
