//! Giving a process on its way to `main` memory that it has not asked for.

use std::ops::Range;

use super::modules;
use super::startup::Startup;
use crate::error::{LaunchError, StartupError, SystemAction};
use crate::instructions::detour::hand_off::HandOff;
use crate::instructions::detour::log::Log;
use crate::layout::closed_code::ClosedCode;
use crate::os::hand_off::{PAGE_SIZE, SharedPage};
use crate::os::memory::{self, MemoryFile};
use crate::os::ptrace;

/// Memory that is mapped into every execution, with what it holds.
pub(crate) struct MappedArea {
    pub(crate) start: u64,
    pub(crate) len: u64,
    /// The bytes that it begins with; the rest is 0.
    pub(crate) bytes: Vec<u8>,
}

const PAGE: u64 = 4096;

/// Room that is left between a module and the memory mapped for it, in bytes.
const GAP: u64 = 1 << 16;

/// Address of memory for which no room was found near a module: above executables of a fixed address, below the others.
const FAR: u64 = 0x1000_0000_0000;

/// `syscall; int3`
const INJECTION: u64 = 0xcc_05_0f;
const INJECTION_BITS: u64 = 0xff_ff_ff;

impl Startup {
    /// Maps memory below a module, within reach of its code where there is room, else anywhere, and returns the
    /// address. An instruction whose copy has to be within reach is then executed at its own place.
    pub(crate) fn map_near(&mut self, module: &Range<u64>, len: u64) -> Result<u64, LaunchError> {
        const ATTEMPTS: u32 = 64;
        let step = GAP + len.next_multiple_of(PAGE);
        let mut place = module.start;
        for _ in 0..ATTEMPTS {
            place = place.saturating_sub(step) & !(PAGE - 1);
            if self.map_at(place, len)? {
                return Ok(place);
            }
        }
        place = FAR;
        for _ in 0..ATTEMPTS {
            if self.map_at(place, len)? {
                return Ok(place);
            }
            place += step;
        }
        Err(StartupError::NoRoom.into())
    }

    /// Maps memory where it was in another execution, and fills it.
    pub(crate) fn add(&mut self, area: &MappedArea) -> Result<(), LaunchError> {
        if !self.map_at(area.start, area.len)? {
            return Err(StartupError::MemoryVaries.into());
        }
        self.fill(area)
    }

    /// Writes what an area holds.
    pub(crate) fn fill(&self, area: &MappedArea) -> Result<(), LaunchError> {
        if memory::write(self.tid, area.start, &area.bytes) { Ok(()) } else { Err(unreadable(area.start)) }
    }

    /// Writes bytes into the code, each with its address, whatever its protection.
    pub(crate) fn write_code<const N: usize>(
        &self,
        mut code: impl Iterator<Item = (u64, [u8; N])>,
    ) -> Result<(), LaunchError> {
        let mut write = |memory: MemoryFile| code.try_for_each(|(at, bytes)| memory.write(at, &bytes));
        MemoryFile::open(self.tid).and_then(&mut write).map_err(LaunchError::system(SystemAction::WriteCode))
    }

    /// Maps memory at a place. `false`: something is there already.
    pub(crate) fn map_at(&mut self, place: u64, len: u64) -> Result<bool, LaunchError> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let len = len.next_multiple_of(PAGE);
        let args = [place, len, protection as u64, flags as u64, u64::MAX, 0];
        Ok(self.system_call(libc::SYS_mmap, args)? == place as i64)
    }

    /// Closes code. The process runs the calls for it at this address. `false`: it cannot be closed, or is executable all the same (the
    /// program has restricted what it may do to its memory, or has asked for memory to be executable wherever it can be read), or is no
    /// longer what can be read and executed and not written, or the program has so much in its memory map that it might come to miss
    /// the entries that this takes.
    pub(crate) fn close(&mut self, code: &ClosedCode, at: u64) -> Result<bool, LaunchError> {
        /// Half of the entries that a memory map may have, unless the machine is set up otherwise.
        const MOST: usize = 1 << 15;
        let mappings = modules::mappings_of_code(self.tid).map_err(unread_map)?;
        if !mappings.cover(code.runs()) || mappings.count + 2 * code.runs().len() > MOST {
            return Ok(false);
        }
        for run in code.runs() {
            self.goes_on()?;
            let args = [run.start, run.end - run.start, libc::PROT_READ as u64, 0, 0, 0];
            match self.system_call_at(at, libc::SYS_mprotect, args) {
                Ok(0) => {}
                Ok(_) | Err(LaunchError::Startup(StartupError::InjectedCall(_))) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        let mappings = modules::mappings_of_code(self.tid).map_err(unread_map)?;
        Ok(!mappings.executable.iter().any(|mapping| code.meets(mapping)))
    }

    /// From now on readings of the processor's time stamps fault no longer: traps stand at those that are known, and code that is mapped
    /// later is known to be ([`ProgramKnowledge::note_late_code`](crate::control::knowledge::ProgramKnowledge::note_late_code)).
    pub(crate) fn let_time_stamps_be_read(&mut self) -> Result<(), LaunchError> {
        let args = [libc::PR_SET_TSC as u64, libc::PR_TSC_ENABLE as u64, 0, 0, 0, 0];
        match self.system_call(libc::SYS_prctl, args)? {
            0 => Ok(()),
            _ => Err(StartupError::NoTimeStamps.into()),
        }
    }

    /// Maps a page of zeros for hand-offs, and the log behind it, that the process has in common with this one, in the place of its own.
    /// `None`: they cannot be had.
    pub(crate) fn share_page(&mut self, log: Log) -> Result<Option<SharedPage>, LaunchError> {
        let hand_off = HandOff::below(log.start);
        let place = u64::from(hand_off.page());
        let Ok(page) = SharedPage::new(log.end() - log.start) else { return Ok(None) };
        let mut path = page.path().into_bytes();
        path.push(0);
        if !memory::write(self.tid, place, &path) {
            return Err(unreadable(place));
        }
        let here = libc::AT_FDCWD as i64 as u64;
        let flags = (libc::O_RDWR | libc::O_CLOEXEC) as u64;
        let file = self.system_call(libc::SYS_openat, [here, place, flags, 0, 0, 0])?;
        let Ok(descriptor) = u64::try_from(file) else {
            let bytes = hand_off.bytes(log.empty()).unwrap_or_default().split_off(PAGE_SIZE as usize);
            self.fill(&MappedArea { start: place, len: u64::from(PAGE_SIZE), bytes })?;
            return Ok(None);
        };
        let protection = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        let flags = (libc::MAP_SHARED | libc::MAP_FIXED) as u64;
        let mapped =
            self.system_call(libc::SYS_mmap, [place, page.len(), protection, flags, descriptor, 0])?;
        self.system_call(libc::SYS_close, [descriptor, 0, 0, 0, 0, 0])?;
        if mapped != place as i64 {
            return Err(StartupError::NoSharedPage.into());
        }
        Ok(Some(page))
    }

    fn system_call(&mut self, number: i64, args: [u64; 6]) -> Result<i64, LaunchError> {
        let at = self.registers()?.rip;
        let code = memory::word(self.tid, at).ok_or_else(|| unreadable(at))?;
        self.poke_word(at, code & !INJECTION_BITS | INJECTION)?;
        let result = self.system_call_at(at, number, args)?;
        self.poke_word(at, code)?;
        Ok(result)
    }

    fn poke_word(&self, at: u64, word: u64) -> Result<(), LaunchError> {
        ptrace::poke(self.tid, at, word).map_err(LaunchError::system(SystemAction::WriteCode))
    }
}

fn unread_map(error: std::io::Error) -> LaunchError {
    LaunchError::system(SystemAction::ReadMemoryMap)(error)
}

/// The program's code is not where it should be.
pub(crate) fn unreadable(at: u64) -> LaunchError {
    StartupError::UnreadableCode(at).into()
}
