//! The origin of executions: copies of one process at `main`, or, where a copy would lack something that was done
//! before, or has to have a network of its own, a process of its own for each.

use std::path::PathBuf;
use std::sync::Arc;

use checker::peculiarity::{EarlyStart, Peculiarity};

use super::inject::Area;
use super::modules;
use super::recipe::Recipe;
use super::startup::startup;
use super::template::Template;
use crate::answers::World;
use crate::control::watchdog::Watch;
use crate::layout::Layout;
use crate::os::Tid;
use crate::os::hand_off::SharedPage;
use crate::spec::LaunchError;

/// The origin of executions.
pub(crate) enum Origin {
    /// Copies of a process at `main`.
    Copies(Template),
    /// Starts of the program.
    Starts(Starts),
}

/// A new process, under control from here on.
pub(crate) struct Origination {
    pub(crate) leader: Tid,
    /// A process whose code holds no traps but those that hold from the beginning.
    pub(crate) pristine: Tid,
    /// The made-up world as the main thread has seen it.
    pub(crate) world: World,
    /// Address at which the kernel is to clear the main thread's number when that ends.
    pub(crate) tid_word: u64,
    /// The page through which its threads hand themselves over, if they can.
    pub(crate) page: Option<Arc<SharedPage>>,
    /// A peculiarity of it, in a sentence.
    pub(crate) note: Option<Peculiarity>,
}

impl Origin {
    /// A new process. `time_stamps_fault`: so does every reading of the processor's time stamps.
    pub(crate) fn begin(
        &mut self,
        layout: &Layout,
        watch: &Arc<Watch>,
        time_stamps_fault: bool,
    ) -> Result<Origination, LaunchError> {
        match self {
            Self::Copies(template) => {
                let leader = template.fork(watch, time_stamps_fault)?;
                Ok(Origination {
                    leader,
                    pristine: template.tid(),
                    world: template.world.clone(),
                    tid_word: template.tid_word(),
                    page: template.page.clone(),
                    note: None,
                })
            }
            Self::Starts(starts) => starts.begin(layout, watch, time_stamps_fault),
        }
    }
}

/// A program of which each execution is a start, controlled from before its constructors on.
pub(crate) struct Starts {
    pub(crate) recipe: Recipe,
    /// Memory that every process needs.
    pub(crate) areas: Vec<Area>,
    /// Its action before `main`, if that is why it is started each time.
    pub(crate) early: Option<EarlyStart>,
    /// The address at which each file was mapped when the traps were made.
    pub(crate) mapped: Vec<(PathBuf, u64)>,
}

impl Starts {
    fn begin(
        &self,
        layout: &Layout,
        watch: &Arc<Watch>,
        time_stamps_fault: bool,
    ) -> Result<Origination, LaunchError> {
        self.recipe.streams.reset().map_err(LaunchError::system("reset the program's streams"))?;
        let mut process = self.recipe.start(watch)?;
        let mapped =
            modules::starts(process.tid).map_err(LaunchError::system("read the program's memory map"))?;
        if mapped != self.mapped {
            return Err(startup(if layout.addresses_vary {
                "the program has a client, or creates threads or processes before main (in a constructor), so that it has to \
                 be started anew for each execution, and address randomisation cannot be switched off here: `interleaver doctor` says what \
                 to do"
            } else {
                "the program's libraries are not loaded at the same addresses each time"
            }));
        }
        for area in &self.areas {
            process.add(area)?;
        }
        layout.plant(&process, false)?;
        if !time_stamps_fault {
            process.let_time_stamps_be_read()?;
        }
        let (world, tid_word, leader) = (process.world.clone(), process.tid_word, process.release());
        let note = self.early.map(Peculiarity::StartsEarly);
        Ok(Origination { leader, pristine: leader, world, tid_word, page: None, note })
    }
}
