//! The recipe for a start of the program: the same way every time.

use std::sync::Arc;

use super::startup::{LinkerHook, Startup};
use super::streams::Streams;
use crate::control::watchdog::Watch;
use crate::debuginfo::Image;
use crate::detours::PLACES;
use crate::error::{LaunchError, StartupError, SystemAction};
use crate::instructions::detour::hand_off::HandOff;
use crate::os::network::Network;
use crate::os::own;
use crate::os::spawn::{Limits, Prepared, ProcessRole};
use crate::preflight::Executable;
use crate::spec::LaunchSpec;
use crate::virtual_syscalls::{START_OF_TIME, VirtualSystem};

/// So much memory of its own a target may have on every machine, in bytes.
const MEMORY: u64 = 4 << 30;

/// The largest file that a target may write, in bytes: what goes wrong in an execution should not fill a disk.
const FILE: u64 = 4 << 30;

/// The limits of a target. Of the machine's memory it may have half, whether it touches that or not: a faulty execution should not
/// end other programs.
pub(super) fn limits() -> Limits {
    Limits { memory: MEMORY.max(own::physical_memory() / 2), file: FILE }
}

/// Everything that a start of the program takes.
pub(crate) struct LaunchPlan {
    prepared: Prepared,
    hook: LinkerHook,
    network: Network,
    pub(crate) streams: Arc<Streams>,
}

impl LaunchPlan {
    /// The recipe for this program.
    pub(crate) fn new(
        spec: &LaunchSpec,
        executable: &Executable,
        streams: &Arc<Streams>,
        network: Network,
    ) -> Result<Self, LaunchError> {
        let files = streams.files();
        let hand_offs: Vec<u32> =
            PLACES.iter().filter_map(|&log| HandOff::below(log).calls()).flatten().collect();
        let prepared = Prepared::new(
            &executable.path,
            (spec.name.as_deref(), &spec.args),
            &spec.env,
            &spec.cwd,
            files,
            (limits(), ProcessRole::Program),
            &hand_offs,
        )
        .map_err(LaunchError::system(SystemAction::PrepareArguments))?;
        let linker = Image::open(&executable.interpreter).map_err(StartupError::Linker)?;
        let hook = LinkerHook::of(&linker).ok_or(StartupError::OtherLinker)?;
        Ok(Self { prepared, hook, network, streams: Arc::clone(streams) })
    }

    /// A process whose libraries are loaded, and that has not run anything of its own.
    pub(crate) fn start(&self, watch: &Arc<Watch>) -> Result<Startup, LaunchError> {
        let virtual_system = VirtualSystem::new(checker::names::ThreadName::MAIN, START_OF_TIME);
        let mut startup = Startup::exec(&self.prepared, &self.network, virtual_system, watch)?;
        startup.link(&self.hook)?;
        Ok(startup)
    }
}
