//! Memory that a process has needed.

use std::fs;
use std::io;

/// The most memory that this process has had resident so far, in bytes.
///
/// # Errors
/// When the kernel does not say.
pub fn peak_memory() -> io::Result<u64> {
    peak_memory_of(std::process::id())
}

/// The same of another process.
///
/// # Errors
/// When it is gone, or the kernel does not say.
pub fn peak_memory_of(process: u32) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes
        .map(|kilobytes| kilobytes * 1024)
        .ok_or_else(|| io::Error::other("VmHWM is not among the fields"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_grows_with_what_is_touched() {
        const MORE: usize = 32 << 20;
        let before = peak_memory().unwrap();
        let touched = std::hint::black_box(vec![1_u8; MORE]);
        assert!(peak_memory().unwrap() >= before.max(touched.len() as u64));
    }
}
