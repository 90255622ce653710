//! The page that threads of a program have in common with the tracer, through which they hand themselves over
//! ([`crate::instructions::detour::hand_off`]).

mod reports;

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{Tid, check, fd, wait};
use reports::{HANDED_OVER, REPORTED, RUNS};

/// The size of the page, in bytes.
pub(crate) const PAGE_SIZE: u32 = 4096;

/// The offset of the copy of the innermost part of the thread's stack, and its length.
pub(crate) const FRAME: u32 = 256;
pub(crate) const FRAME_SIZE: u32 = 256;

/// The end of the stack on which the flags are saved, and the beginning of the words at which threads wait, as an offset.
pub(crate) const STACK_END: u32 = FRAME + FRAME_SIZE + 64;

/// So many threads can wait, each at a word of its own.
const MOST_THREADS: usize = (PAGE_SIZE - STACK_END) as usize / size_of::<u32>();

/// The time after which the tracer looks for a stop of the kernel's that it was not told of, in nanoseconds.
const PATIENCE: libc::c_long = 10_000_000;

/// A part of the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PageSlot {
    /// One of the states below, as 32 bits.
    State,
    /// Not 0, as 32 bits: the thread that handed itself over last has been let go.
    LetGo,
    /// The address to which threads go that hand themselves over.
    Entry,
    /// The address of the word at which the running thread waits.
    Go,
    /// The address behind its breakpoint; then where it goes on.
    Rip,
    Rax,
    Rbx,
    Rcx,
    Rdx,
    Rsi,
    Rdi,
    Rbp,
    Rsp,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
    Flags,
    FsBase,
    GsBase,
    /// The length of the copied part of the stack: up to the end of its page.
    FrameLen,
    /// The state of the log of detours ([`crate::instructions::detour`]): how many words of it are left to be written, as a negative
    /// number; two registers that detours save; the address that is looked up, with nothing behind it, so that a word one byte behind
    /// its beginning is the number of its chunk.
    LogCursor,
    LogRax,
    LogRcx,
    LogAddress,
}

impl PageSlot {
    /// Its offset in the page.
    pub(crate) const fn offset(self) -> u32 {
        8 * self as u32
    }
}

/// The reason for which the tracer was woken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Woken {
    /// The running thread has handed itself over.
    HandedOver,
    /// Something else: a tracee may have stopped.
    Other,
}

/// The page, as the tracer has it, and the log behind it ([`crate::instructions::detour`]).
pub(crate) struct SharedPage {
    at: NonNull<AtomicU64>,
    /// The length of both, in bytes.
    len: usize,
    file: File,
}

// SAFETY: the page is accessed by atomic operations alone.
unsafe impl Send for SharedPage {}
// SAFETY: the page is accessed by atomic operations alone.
unsafe impl Sync for SharedPage {}

impl SharedPage {
    /// A new page with a log of so many bytes, of zeros. There is none where programs cannot read the bases of segments by themselves,
    /// which is since Linux 5.9.
    pub(crate) fn new(log: u32) -> io::Result<Self> {
        /// Of `AT_HWCAP2`.
        const FSGSBASE: libc::c_ulong = 1 << 1;
        // SAFETY: asks for a number.
        if unsafe { libc::getauxval(libc::AT_HWCAP2) } & FSGSBASE == 0 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        reports::install();
        let file = fd::memory_file(c"hand-off")?;
        let len = (PAGE_SIZE + log) as usize;
        file.set_len(len as u64)?;
        // SAFETY: maps a file of that length at a place of the kernel's choice.
        let at = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        let at = NonNull::new(at.cast()).filter(|_| at != libc::MAP_FAILED);
        Ok(Self { at: at.ok_or_else(io::Error::last_os_error)?, len, file })
    }

    /// A path at which the program can open it.
    pub(crate) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    fn field(&self, field: PageSlot) -> &AtomicU64 {
        // SAFETY: fields are aligned, and within the page.
        unsafe { self.at.byte_add(field.offset() as usize).as_ref() }
    }

    fn word(&self, offset: u32) -> &AtomicU32 {
        // SAFETY: callers name offsets of words that are aligned, and within the page.
        unsafe { self.at.cast::<AtomicU32>().byte_add(offset as usize).as_ref() }
    }

    /// The length of the page and the log in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len as u64
    }

    /// The first words of the log: so many, or all of them.
    pub(crate) fn log(&self, words: usize) -> impl Iterator<Item = u64> {
        let behind = PAGE_SIZE as usize / size_of::<u64>();
        // SAFETY: words are aligned, and within the mapping.
        let word = move |nth| unsafe { self.at.add(behind + nth).as_ref() }.load(Ordering::Relaxed);
        (0..words.min(self.len / size_of::<u64>() - behind)).map(word)
    }

    /// No thread waits any more.
    pub(crate) fn end(&self) {
        reports::forget();
    }

    /// The value of a field.
    pub(crate) fn get(&self, field: PageSlot) -> u64 {
        self.field(field).load(Ordering::Relaxed)
    }

    /// Sets a field.
    pub(crate) fn put(&self, field: PageSlot, value: u64) {
        self.field(field).store(value, Ordering::Relaxed);
    }

    /// Reads the innermost part of the stack of the thread that handed itself over last, from this offset of it on.
    pub(crate) fn read_frame(&self, offset: u32, into: &mut [u8]) {
        for (byte, at) in into.iter_mut().zip(offset..FRAME_SIZE) {
            let place = FRAME + at;
            let word = self.word(place & !3).load(Ordering::Relaxed).to_le_bytes();
            *byte = word[place as usize % 4];
        }
    }

    /// The offset of the word of a thread of this number; `None`: there are too many.
    pub(crate) fn place_of(number: usize) -> Option<u32> {
        (number < MOST_THREADS).then(|| STACK_END + 4 * number as u32)
    }

    /// A thread is about to run: it has not handed itself over, and what it reports from now on ends [`SharedPage::wait`].
    pub(crate) fn begin(&self, thread: Tid) {
        let state = self.word(PageSlot::State.offset());
        state.store(RUNS, Ordering::Release);
        reports::expect(state, thread);
    }

    /// The running thread goes on after a stop: what it reports from now on ends [`SharedPage::wait`].
    pub(crate) fn go_on(&self, thread: Tid) {
        reports::expect(self.word(PageSlot::State.offset()), thread);
    }

    /// Whether the running thread has handed itself over.
    pub(crate) fn is_handed_over(&self) -> bool {
        self.word(PageSlot::State.offset()).load(Ordering::Acquire) == HANDED_OVER
    }

    /// Lets the thread go that waits at the word at this offset.
    pub(crate) fn let_go(&self, place: u32) -> io::Result<()> {
        self.put(PageSlot::LetGo, 1);
        let word = self.word(place);
        word.store(1, Ordering::Release);
        if futex(word, libc::FUTEX_WAKE, 1, ptr::null())? == 0 {
            // It does not wait yet, or the kernel has stopped it meanwhile, for a signal.
            let state = self.word(PageSlot::State.offset());
            let _ = state.compare_exchange(RUNS, REPORTED, Ordering::Relaxed, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Waits until the running thread hands itself over, a tracee stops, or an interrupt signal comes to this thread; for a moment at most.
    pub(crate) fn wait(&self) -> Woken {
        let state = self.word(PageSlot::State.offset());
        if state.load(Ordering::Acquire) == RUNS {
            let time = libc::timespec { tv_sec: 0, tv_nsec: PATIENCE };
            // The state tells of the reason for which the wait has ended.
            let _ = futex(state, libc::FUTEX_WAIT, RUNS, &raw const time);
        }
        if state.load(Ordering::Acquire) == HANDED_OVER {
            wait::count();
            return Woken::HandedOver;
        }
        let _ = state.compare_exchange(REPORTED, RUNS, Ordering::Relaxed, Ordering::Relaxed);
        Woken::Other
    }
}

impl Drop for SharedPage {
    fn drop(&mut self) {
        if reports::is_expected_at(self.word(PageSlot::State.offset())) {
            reports::forget();
        }
        // SAFETY: the mapping is this value's own, and nothing refers to it any more: its tracer does not wait.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.len) };
    }
}

fn futex(word: &AtomicU32, operation: i32, value: u32, time: *const libc::timespec) -> io::Result<i64> {
    // SAFETY: the word is valid for the call; the time is, or is null.
    check(unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, time, 0, 0) })
}
