//! Another process's memory.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

use super::{Tid, ptrace};

/// Reads exactly `into.len()` bytes at `addr`; `false` where that is not mapped readable.
pub(crate) fn read(tid: Tid, addr: u64, into: &mut [u8]) -> bool {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: addr as *mut libc::c_void, iov_len: into.len() };
    // SAFETY: the local vector describes `into`, which is borrowed mutably; the kernel checks the remote one.
    let got = unsafe { libc::process_vm_readv(tid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(got) == Ok(into.len())
}

/// Writes all of `bytes` at `addr`; `false` where that is not mapped writable.
pub(crate) fn write(tid: Tid, addr: u64, bytes: &[u8]) -> bool {
    let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: addr as *mut libc::c_void, iov_len: bytes.len() };
    // SAFETY: the kernel only reads from the local vector, which describes `bytes`; it checks the remote one.
    let got = unsafe { libc::process_vm_writev(tid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(got) == Ok(bytes.len())
}

/// Reads a little-endian number of up to 8 bytes.
pub(crate) fn number(tid: Tid, addr: u64, len: usize) -> Option<u64> {
    let mut bytes = [0; 8];
    read(tid, addr, &mut bytes[..len]).then(|| u64::from_le_bytes(bytes))
}

/// A string as far as it can be read, up to the length that paths can have.
pub(crate) fn string(tid: Tid, addr: u64) -> String {
    const PAGE: usize = 4096;
    const PIECE: usize = 64;
    let mut text = Vec::new();
    while text.len() < PAGE {
        let at = addr.wrapping_add(text.len() as u64);
        // What comes after the string may not be mapped.
        let mut bytes = [0; PIECE];
        let piece = &mut bytes[..PIECE.min(PAGE - at as usize % PAGE)];
        if !read(tid, at, piece) {
            break;
        }
        let end = piece.iter().position(|&byte| byte == 0);
        text.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
        if end.is_some() {
            break;
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Reads a pointer.
pub(crate) fn word(tid: Tid, addr: u64) -> Option<u64> {
    number(tid, addr, 8)
}

/// Writes one byte of code: works on pages that the tracee itself may not write. The tracee must be stopped.
pub(crate) fn poke_byte(tid: Tid, addr: u64, byte: u8) -> io::Result<()> {
    let old = word(tid, addr).ok_or_else(|| io::Error::from_raw_os_error(libc::EFAULT))?;
    ptrace::poke(tid, addr, old & !0xff | u64::from(byte))
}

/// A process's memory as a file: one call writes a whole page of code, whatever its protection.
pub(crate) struct MemoryFile(File);

impl MemoryFile {
    /// Opens the memory of a tracee.
    pub(crate) fn open(tid: Tid) -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).open(format!("/proc/{tid}/mem")).map(Self)
    }

    /// Writes all of `bytes` at `addr`.
    pub(crate) fn write(&self, addr: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, addr)
    }
}
