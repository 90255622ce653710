//! ptrace(2) requests on a stopped tracee.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;

use super::{Regs, Tid, check};

/// Stops that every tracee reports. With `EXITKILL`, the kernel ends all tracees when the tracer goes, however it goes.
const OPTIONS: libc::c_int = libc::PTRACE_O_EXITKILL
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACESECCOMP;

fn request(request: libc::c_uint, tid: Tid, addr: usize, data: usize) -> io::Result<()> {
    // SAFETY: the requests made through here take plain numbers; the kernel checks the tracee and its state.
    let result = unsafe { libc::ptrace(request, tid, addr as *mut c_void, data as *mut c_void) };
    check(result).map(drop)
}

/// Attaches to a process without stopping it.
pub(crate) fn seize(tid: Tid) -> io::Result<()> {
    request(libc::PTRACE_SEIZE, tid, 0, OPTIONS as usize)
}

/// Whether this stopped thread stops once more when it exits: how the end of a main thread is seen while others live.
/// Threads that it creates inherit that.
pub(crate) fn stop_at_exit(tid: Tid, stops: bool) -> io::Result<()> {
    let options = if stops { OPTIONS | libc::PTRACE_O_TRACEEXIT } else { OPTIONS };
    request(libc::PTRACE_SETOPTIONS, tid, 0, options as usize)
}

/// Lets a stopped thread run, delivering `signal` unless it is 0.
pub(crate) fn resume(tid: Tid, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_CONT, tid, 0, signal as usize)
}

/// Lets a stopped thread run one instruction, delivering `signal` unless it is 0; a handler of that comes first, and the thread stops
/// before its first instruction.
pub(crate) fn step(tid: Tid, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_SINGLESTEP, tid, 0, signal as usize)
}

/// Asks a running thread to stop.
pub(crate) fn interrupt(tid: Tid) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, tid, 0, 0)
}

/// The registers of a stopped thread.
pub(crate) fn registers(tid: Tid) -> io::Result<Regs> {
    let mut regs = MaybeUninit::<Regs>::uninit();
    // SAFETY: on success the kernel has filled the whole structure that `regs` points to.
    unsafe {
        check(libc::ptrace(libc::PTRACE_GETREGS, tid, ptr::null_mut::<c_void>(), regs.as_mut_ptr()))?;
        Ok(regs.assume_init())
    }
}

/// Registers that hold nothing: those of a thread that has not been looked at.
pub(crate) fn no_registers() -> Regs {
    // SAFETY: the structure holds plain numbers.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// The register set of what `xsave` saves.
const NT_X86_XSTATE: usize = 0x202;

/// The extended registers of a stopped thread (floating point, vectors, masks), as `xsave` lays them out.
pub(crate) fn extended_state(tid: Tid) -> io::Result<Vec<u8>> {
    // The largest so far, with tiles, has 11 KiB.
    let mut area = vec![0; 1 << 14];
    let mut vector = libc::iovec { iov_base: area.as_mut_ptr().cast(), iov_len: area.len() };
    // SAFETY: the kernel writes at most `iov_len` bytes to `area`, which `vector` describes, and how many to `vector`.
    let result =
        unsafe { libc::ptrace(libc::PTRACE_GETREGSET, tid, NT_X86_XSTATE, ptr::from_mut(&mut vector)) };
    check(result)?;
    area.truncate(vector.iov_len);
    Ok(area)
}

/// Sets the extended registers of a stopped thread to what [`extended_state`] has returned for it.
pub(crate) fn set_extended_state(tid: Tid, state: &[u8]) -> io::Result<()> {
    let mut vector = libc::iovec { iov_base: state.as_ptr().cast_mut().cast(), iov_len: state.len() };
    // SAFETY: the kernel reads `iov_len` bytes of `state`, which `vector` describes, and writes the length that it has used to `vector`.
    let result =
        unsafe { libc::ptrace(libc::PTRACE_SETREGSET, tid, NT_X86_XSTATE, ptr::from_mut(&mut vector)) };
    check(result).map(drop)
}

/// The vector registers xmm0 to xmm15 of a stopped thread, the first byte lowest.
pub(crate) fn vector_registers(tid: Tid) -> io::Result<[u128; 16]> {
    /// Their offset in the area of `xsave`.
    const START: usize = 160;
    let area = extended_state(tid)?;
    let (values, _) = area.get(START..).unwrap_or_default().as_chunks::<16>();
    Ok(std::array::from_fn(|i| values.get(i).map_or(0, |bytes| u128::from_le_bytes(*bytes))))
}

/// Sets the registers of a stopped thread.
pub(crate) fn set_registers(tid: Tid, regs: &Regs) -> io::Result<()> {
    // SAFETY: the kernel reads one structure from a valid reference.
    let result =
        unsafe { libc::ptrace(libc::PTRACE_SETREGS, tid, ptr::null_mut::<c_void>(), ptr::from_ref(regs)) };
    check(result).map(drop)
}

/// Sets the instruction pointer of a stopped thread, and nothing else: cheaper than all registers.
pub(crate) fn set_instruction_pointer(tid: Tid, address: u64) -> io::Result<()> {
    request(libc::PTRACE_POKEUSER, tid, std::mem::offset_of!(libc::user, regs.rip), address as usize)
}

/// The message of the event that a thread stopped for: the new thread's number, mostly.
pub(crate) fn event_message(tid: Tid) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the kernel writes one word to a valid reference.
    let result = unsafe {
        libc::ptrace(libc::PTRACE_GETEVENTMSG, tid, ptr::null_mut::<c_void>(), ptr::from_mut(&mut message))
    };
    check(result).map(|_| message)
}

/// The signal that a thread is stopped with.
pub(crate) fn signal_info(tid: Tid) -> io::Result<libc::siginfo_t> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: on success the kernel has filled the structure; all-zero is a valid value of it in any case.
    unsafe {
        check(libc::ptrace(libc::PTRACE_GETSIGINFO, tid, ptr::null_mut::<c_void>(), info.as_mut_ptr()))?;
        Ok(info.assume_init())
    }
}

/// Of the signal that a thread is stopped with, if the process `from` sent it: lets it come from `to`.
pub(crate) fn rename_sender(tid: Tid, from: Tid, to: Tid) -> io::Result<()> {
    /// Offset of the sender's number in `siginfo_t`.
    const SENDER: usize = 16;
    let mut info = signal_info(tid)?;
    if ![libc::SI_USER, libc::SI_TKILL, libc::SI_QUEUE].contains(&info.si_code) {
        return Ok(());
    }
    // SAFETY: a signal with one of these codes was sent by a process, and has its number there; the structure is longer.
    unsafe {
        if info.si_pid() != from {
            return Ok(());
        }
        ptr::from_mut(&mut info).byte_add(SENDER).cast::<Tid>().write(to);
    }
    set_signal_info(tid, info)
}

/// Makes what is known of a signal that of the one that the thread is stopped with.
pub(crate) fn set_signal_info(tid: Tid, mut info: libc::siginfo_t) -> io::Result<()> {
    // SAFETY: the kernel reads one structure from a valid reference.
    unsafe {
        check(libc::ptrace(libc::PTRACE_SETSIGINFO, tid, ptr::null_mut::<c_void>(), ptr::from_mut(&mut info)))
            .map(drop)
    }
}

/// Whether the instruction at which the thread stands has brought this signal about, and does so whenever it runs.
pub(crate) fn is_fault(info: &libc::siginfo_t) -> bool {
    // A positive code is the kernel's.
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL].contains(&info.si_signo) && info.si_code > 0
}

/// Blocks all signals of a stopped thread but those of its instructions: blocked ones of these would end the process. Returns what it
/// has blocked so far.
pub(crate) fn block_signals(tid: Tid) -> io::Result<u64> {
    const OF_INSTRUCTIONS: [i32; 6] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS];
    let blocked = blocked_signals(tid)?;
    let open = OF_INSTRUCTIONS.into_iter().fold(0, |open, signal| open | 1 << (signal - 1));
    set_blocked_signals(tid, blocked | !open)?;
    Ok(blocked)
}

/// Lets a stopped thread get the signal of breakpoints, whatever it blocks.
pub(crate) fn unblock_traps(tid: Tid) -> io::Result<()> {
    set_blocked_signals(tid, blocked_signals(tid)? & !(1 << (libc::SIGTRAP - 1)))
}

fn blocked_signals(tid: Tid) -> io::Result<u64> {
    let mut blocked = 0_u64;
    request(libc::PTRACE_GETSIGMASK, tid, size_of::<u64>(), ptr::from_mut(&mut blocked).expose_provenance())?;
    Ok(blocked)
}

/// Sets the signals that a stopped thread blocks.
pub(crate) fn set_blocked_signals(tid: Tid, blocked: u64) -> io::Result<()> {
    request(libc::PTRACE_SETSIGMASK, tid, size_of::<u64>(), ptr::from_ref(&blocked).expose_provenance())
}

/// Writes one word of a stopped thread's memory, also where the tracee itself may not write.
pub(crate) fn poke(tid: Tid, addr: u64, word: u64) -> io::Result<()> {
    request(libc::PTRACE_POKEDATA, tid, addr as usize, word as usize)
}

/// Ends a process and all its threads.
pub(crate) fn kill(pid: Tid) {
    // SAFETY: sends a signal; a process that has gone already is the only way to fail, and is what is wanted.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

/// The address that a faulting instruction touched, of the signal that it got for that.
pub(crate) fn fault_address(info: &libc::siginfo_t) -> u64 {
    // SAFETY: every field of the union is plain data; for SIGSEGV and SIGBUS the kernel fills the address.
    unsafe { info.si_addr() as u64 }
}
