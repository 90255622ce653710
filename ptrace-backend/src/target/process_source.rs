//! The origin of executions: copies of one process at `main`, or, where a copy would lack something that was done
//! before, or has to have a network of its own, a process of its own for each.

use std::path::PathBuf;
use std::sync::Arc;

use checker::peculiarity::{EarlyStart, Peculiarity};

use super::fork_server::ForkServer;
use super::inject::MappedArea;
use super::launch_plan::LaunchPlan;
use super::modules;
use crate::control::watchdog::Watch;
use crate::error::{LaunchError, StartupError, SystemAction};
use crate::layout::Layout;
use crate::os::Tid;
use crate::os::hand_off::SharedPage;
use crate::virtual_syscalls::VirtualSystem;

/// The origin of executions.
pub(crate) enum ProcessSource {
    /// Copies of a process at `main`.
    ForkServer(ForkServer),
    /// Starts of the program.
    FreshStarts(FreshStarts),
}

/// A new process, under control from here on.
pub(crate) struct NewProcess {
    pub(crate) leader: Tid,
    /// A process whose code holds no traps but those that hold from the beginning.
    pub(crate) pristine: Tid,
    /// The made-up world as the main thread has seen it.
    pub(crate) virtual_system: VirtualSystem,
    /// Address at which the kernel is to clear the main thread's number when that ends.
    pub(crate) tid_word: u64,
    /// The page through which its threads hand themselves over, if they can.
    pub(crate) page: Option<Arc<SharedPage>>,
    /// A peculiarity of it, in a sentence.
    pub(crate) note: Option<Peculiarity>,
}

impl ProcessSource {
    /// A new process. `time_stamps_fault`: so does every reading of the processor's time stamps.
    pub(crate) fn begin(
        &mut self,
        layout: &Layout,
        watch: &Arc<Watch>,
        time_stamps_fault: bool,
    ) -> Result<NewProcess, LaunchError> {
        match self {
            Self::ForkServer(fork_server) => {
                let leader = fork_server.fork(watch, time_stamps_fault)?;
                Ok(NewProcess {
                    leader,
                    pristine: fork_server.tid(),
                    virtual_system: fork_server.virtual_system.clone(),
                    tid_word: fork_server.tid_word(),
                    page: fork_server.page.clone(),
                    note: None,
                })
            }
            Self::FreshStarts(starts) => starts.begin(layout, watch, time_stamps_fault),
        }
    }
}

/// A program of which each execution is a start, controlled from before its constructors on.
pub(crate) struct FreshStarts {
    pub(crate) launch_plan: LaunchPlan,
    /// Memory that every process needs.
    pub(crate) areas: Arc<[MappedArea]>,
    /// Its action before `main`, if that is why it is started each time.
    pub(crate) early: Option<EarlyStart>,
    /// The address at which each file was mapped when the traps were made.
    pub(crate) mapped: Arc<[(PathBuf, u64)]>,
}

impl FreshStarts {
    fn begin(
        &self,
        layout: &Layout,
        watch: &Arc<Watch>,
        time_stamps_fault: bool,
    ) -> Result<NewProcess, LaunchError> {
        self.launch_plan.streams.reset().map_err(LaunchError::system(SystemAction::ResetStreams))?;
        let mut process = self.launch_plan.start(watch)?;
        let mapped =
            modules::starts(process.tid).map_err(LaunchError::system(SystemAction::ReadMemoryMap))?;
        if *mapped != *self.mapped {
            let varies = layout.addresses_vary;
            return Err(if varies { StartupError::AddressesVary } else { StartupError::LibrariesVary }.into());
        }
        for area in self.areas.iter() {
            process.add(area)?;
        }
        layout.plant(&process, false)?;
        if !time_stamps_fault {
            process.let_time_stamps_be_read()?;
        }
        let (virtual_system, tid_word, leader) =
            (process.virtual_system.clone(), process.tid_word, process.release());
        let note = self.early.map(Peculiarity::StartsEarly);
        Ok(NewProcess { leader, pristine: leader, virtual_system, tid_word, page: None, note })
    }
}
