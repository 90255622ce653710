//! Libraries that `main` loads while the process has one thread and nothing that a copy of it would lack (plug-ins by `dlopen`).
//! Executions begin behind the last of these, as they begin behind constructors: nothing can be interleaved before, and from there on the
//! code of plug-ins is known like that of all other libraries.

use std::path::PathBuf;
use std::sync::Arc;

use super::launch_plan::LaunchPlan;
use super::modules;
use super::startup::{Startup, StartupProgress};
use super::trapped_instructions::AnsweredInstructions;
use crate::control::watchdog::Watch;
use crate::error::{LaunchError, SystemAction};
use crate::instructions::TrappedInstruction;
use crate::layout::module::Module;
use crate::os::{Regs, fd, memory};

/// Functions by which a program's own code loads libraries.
pub(crate) const LOADERS: &[&str] = &[
    "dlopen",
    "dlmopen",
    "g_module_open",
    "g_module_open_full",
    "lt_dlopen",
    "lt_dlopenext",
    "lt_dlopenadvise",
    "uv_dlopen",
];

/// The functions of the C library behind them.
pub(crate) const LOADERS_OF_LIBC: [&str; 2] = ["dlopen", "dlmopen"];

/// The way of a program to its `main`, and from there to the libraries that it loads.
pub(crate) struct Loading<'a> {
    launch_plan: &'a LaunchPlan,
    watch: &'a Arc<Watch>,
    start_main: &'a [u64],
    loaders: &'a [u64],
    /// Instructions that are answered, and the first byte of each.
    trapped_instructions: Vec<TrappedInstruction>,
    bytes: Vec<u8>,
}

/// A place in `main` behind a loading.
struct AfterLoading {
    registers: Box<Regs>,
    mapped: Vec<(PathBuf, u64)>,
}

impl<'a> Loading<'a> {
    /// For a program that loads these modules before it begins, as `linked` has. `start_main`, `loaders`: every version of the function that
    /// calls `main`, and of those that load libraries.
    pub(crate) fn new(
        (launch_plan, watch): (&'a LaunchPlan, &'a Arc<Watch>),
        (start_main, loaders): (&'a [u64], &'a [u64]),
        (modules, linked): (&[Module], &Startup),
    ) -> Self {
        let trapped_instructions: Vec<_> =
            modules.iter().flat_map(|module| AnsweredInstructions::of(module).found).collect();
        let byte = |trapped: &TrappedInstruction| {
            memory::number(linked.tid, trapped.addr, 1).unwrap_or_default() as u8
        };
        let bytes = trapped_instructions.iter().map(byte).collect();
        Self { launch_plan, watch, start_main, loaders, trapped_instructions, bytes }
    }

    /// A process behind the last library that `main` loads alone, with its registers. `None`: it loads none so.
    pub(crate) fn behind_last(&self) -> Result<Option<(Startup, Box<Regs>)>, LaunchError> {
        let count = self.count()?;
        if count == 0 {
            return Ok(None);
        }
        let reset =
            || self.launch_plan.streams.reset().map_err(LaunchError::system(SystemAction::ResetStreams));
        reset()?;
        let Some(mut process) = self.at_main()? else { return Ok(None) };
        let mut registers = None;
        for _ in 0..count {
            registers = self.pass_one(&mut process)?.map(|loaded| loaded.registers);
        }
        self.watch.end();
        let Some(registers) = registers else { return Ok(None) };
        self.plant(&process, false)?;
        // From here on the process calls what the tool makes it call.
        process.only_loads = false;
        reset()?;
        Ok(Some((process, registers)))
    }

    /// The number of loadings after which the last new library is there. A process of its own is run for that, up to something that its
    /// copies would not have done.
    fn count(&self) -> Result<usize, LaunchError> {
        let Some(mut process) = self.at_main()? else { return Ok(0) };
        let (descriptors, mut mapped) = (fd::open(process.tid), starts(&process)?);
        let (mut passed, mut count) = (0, 0);
        while let Some(loaded) = self.pass_one(&mut process)? {
            passed += 1;
            if process.has_external_effects
                || !self.launch_plan.streams.are_untouched()
                || process.shares_memory()?
            {
                break;
            }
            if loaded.mapped != mapped && fd::open(process.tid) == descriptors {
                count = passed;
                mapped = loaded.mapped;
            }
        }
        self.watch.end();
        Ok(count)
    }

    /// A new process at the first instruction of `main`. `None`: it does something before that its copies would not have done.
    fn at_main(&self) -> Result<Option<Startup>, LaunchError> {
        let mut process = self.launch_plan.start(self.watch)?;
        self.watch.begin(process.tid, process.tid);
        self.plant(&process, true)?;
        let progress = process.run_to_main(self.start_main, &self.trapped_instructions)?;
        process.only_loads = true;
        Ok(matches!(progress, StartupProgress::Main(_)).then_some(process))
    }

    /// Runs to the next loading and to where it returns to. `None`: it does something before that its copies would not have done.
    fn pass_one(&self, process: &mut Startup) -> Result<Option<AfterLoading>, LaunchError> {
        let StartupProgress::Main(entry) = process.run_to_any(self.loaders, true)? else { return Ok(None) };
        let Some(back) = memory::word(process.tid, entry.rsp) else { return Ok(None) };
        loop {
            match process.run_to_any(&[back], true)? {
                // A library that is loaded may load others from the same place.
                StartupProgress::Main(registers) if registers.rsp <= entry.rsp => process.step()?,
                StartupProgress::Main(registers) => {
                    return Ok(Some(AfterLoading { registers, mapped: starts(process)? }));
                }
                StartupProgress::Early(_) => return Ok(None),
            }
        }
    }

    /// Plants the traps of the instructions that are answered, or lifts them.
    fn plant(&self, process: &Startup, is_planted: bool) -> Result<(), LaunchError> {
        const TRAP: u8 = 0xcc;
        let bytes = self.bytes.iter().map(|&byte| [if is_planted { TRAP } else { byte }]);
        process.write_code(self.trapped_instructions.iter().map(|trapped| trapped.addr).zip(bytes))
    }
}

fn starts(process: &Startup) -> Result<Vec<(PathBuf, u64)>, LaunchError> {
    modules::starts(process.tid).map_err(LaunchError::system(SystemAction::ReadMemoryMap))
}
