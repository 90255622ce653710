//! Another process's memory.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

use super::{Tid, ptrace};

/// Reads exactly `into.len()` bytes at `addr`; `false` where that is not mapped readable.
pub(crate) fn read(tid: Tid, addr: u64, into: &mut [u8]) -> bool {
    read_some(tid, addr, into) == into.len()
}

/// Reads up to `into.len()` bytes at `addr`, as far as that is mapped readable; says how many.
fn read_some(tid: Tid, addr: u64, into: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: addr as *mut libc::c_void, iov_len: into.len() };
    // SAFETY: the local vector describes `into`, which is borrowed mutably; the kernel checks the remote one.
    let got = unsafe { libc::process_vm_readv(tid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(got).unwrap_or(0)
}

/// Code of another process for a reader that goes through it in order: it is fetched a block at a time.
pub(crate) struct BlockReader {
    tid: Tid,
    start: u64,
    block: Vec<u8>,
}

impl BlockReader {
    /// The size of a block, in bytes.
    const BLOCK: usize = 1 << 16;

    pub(crate) fn new(tid: Tid) -> Self {
        Self { tid, start: 0, block: Vec::new() }
    }

    /// Reads exactly `into.len()` bytes at `addr`; `false` where that is not mapped readable.
    pub(crate) fn read(&mut self, addr: u64, into: &mut [u8]) -> bool {
        if let Some(bytes) = self.part(addr, into.len()) {
            into.copy_from_slice(bytes);
            return true;
        }
        self.start = addr;
        self.block.resize(Self::BLOCK, 0);
        let got = read_some(self.tid, addr, &mut self.block);
        self.block.truncate(got);
        self.part(addr, into.len()).is_some_and(|bytes| {
            into.copy_from_slice(bytes);
            true
        })
    }

    fn part(&self, addr: u64, len: usize) -> Option<&[u8]> {
        let at = usize::try_from(addr.checked_sub(self.start)?).ok()?;
        self.block.get(at..)?.get(..len)
    }
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
        // The memory behind the string may not be mapped.
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

/// Writes one byte of code: works on pages that the tracee itself may not write. No thread of it may run.
pub(crate) fn poke_byte(tid: Tid, addr: u64, byte: u8) -> io::Result<()> {
    let old = word(tid, addr).ok_or_else(|| io::Error::from_raw_os_error(libc::EFAULT))?;
    poke(tid, addr, old & !0xff | u64::from(byte))
}

/// Writes one word in the same way.
fn poke(tid: Tid, addr: u64, word: u64) -> io::Result<()> {
    match ptrace::poke(tid, addr, word) {
        // It is not the kernel that has stopped it ([`super::hand_off`]).
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {
            MemoryFile::open(tid)?.write(addr, &word.to_le_bytes())
        }
        result => result,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_what_is_there_over_their_borders() {
        let memory: Vec<u8> = (0..3 * BlockReader::BLOCK).map(|i| (i % 251) as u8).collect();
        let start = memory.as_ptr().addr() as u64;
        let mut reader = BlockReader::new(std::process::id() as Tid);
        let border = BlockReader::BLOCK;
        for at in [0, border - 7, border, 2 * border + 1, 5, memory.len() - 15] {
            let mut code = [0; 15];
            assert!(reader.read(start + at as u64, &mut code), "{at}");
            assert_eq!(code, memory[at..at + 15], "{at}");
        }
        assert!(!reader.read(0, &mut [0]), "nothing is mapped there");
    }
}
