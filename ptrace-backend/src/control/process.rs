//! One copy of the target, one thread of which runs at a time.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use checker::account::{Unwatched, UnwatchedKind};
use checker::names::ThreadName;
use checker::peculiarity::Peculiarity;
use checker::program::ExecutionError;
use rustc_hash::FxHashMap;

use crate::control::knowledge::ProgramKnowledge;
use crate::control::state::account::Account;
use crate::control::state::client::{Client, Processes};
use crate::control::state::detouring::Detouring;
use crate::control::state::memory::MemoryState;
use crate::control::state::probes::Probes;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread::{Thread, ThreadRole};
use crate::control::state::thread_index::PerThread;
use crate::control::tracee::made_files::MadeFiles;
use crate::control::tracee::{Task, Tracee};
use crate::control::watchdog::Watch;
use crate::error::{SystemAction, system};
use crate::layout::Layout;
use crate::os::ptrace;
use crate::spec::Stepping;
use crate::target::client::ClientLaunchPlan;
use crate::target::process_source::NewProcess;

/// A copy under control, by its parts. Functions that work on some of them take those.
pub(crate) struct Process {
    pub(crate) tracee: Tracee,
    pub(crate) scheduling: Scheduling,
    pub(crate) objects: Objects,
    pub(crate) memory: MemoryState,
    pub(crate) account: Account,
}

impl Process {
    /// Takes control of a new process.
    pub(crate) fn new(
        new_process: NewProcess,
        layout: Arc<Layout>,
        knowledge: Arc<ProgramKnowledge>,
        watch: Arc<Watch>,
        options: (bool, Stepping),
        client: Option<Arc<ClientLaunchPlan>>,
    ) -> Result<Self, ExecutionError> {
        let NewProcess { leader, pristine, virtual_system, tid_word, page, note } = new_process;
        let regs = ptrace::registers(leader).map_err(system(SystemAction::ReadRegisters))?;
        let stack = layout.main_stack.saturating_sub(8 << 20)..layout.main_stack + (1 << 20);
        let mut task = Task::new(leader, regs, Some(tid_word));
        if knowledge.is_test {
            task.role = ThreadRole::Harness;
        }
        let mut memory = MemoryState::new(Arc::clone(&layout), Arc::clone(&knowledge), stack);
        if knowledge.judges_by_events() {
            memory.sharing.judge_by_events();
        } else if knowledge.orders_uses() {
            memory.sharing.order_uses();
        }
        let tracee = Tracee {
            leader,
            pristine,
            layout,
            knowledge,
            opened: BTreeSet::new(),
            tasks: PerThread::new(task),
            concurrent: false,
            gone: false,
            dead: false,
            executes: false,
            filters_calls: false,
            moment: 0,
            has_lasting_calls: false,
            leader_stops_at_exit: false,
            left_from: None,
            child_processes: Vec::new(),
            starts_own_program: false,
            children_have_external_effects: false,
            made_files: MadeFiles::default(),
            started_by: None,
            early: FxHashMap::default(),
            stepping: options.1,
            probes: Probes::default(),
            detouring: Detouring { of_functions: page.is_some(), ..Detouring::default() },
            page: page.filter(|_| options.1 == Stepping::OutOfLine),
            hands_over: false,
            frame: Cell::default(),
            client: client.map(Processes::new),
            watch,
        };
        tracee.reset_page();
        let mut scheduling = Scheduling::new(Thread::new(ThreadName::MAIN, virtual_system));
        let mut account =
            Account { notes: note.into_iter().collect(), exit_code_fails: options.0, ..Account::default() };
        if !memory.written_code.is_empty() {
            account.enter_unwatched(Unwatched::of(UnwatchedKind::GeneratedCode));
        }
        tracee.layout.undecoded.iter().for_each(|entry| account.enter_unwatched(entry.clone()));
        if tracee.layout.begins_behind_loading {
            account.note(Peculiarity::BeginsBehindLoading);
        }
        scheduling.client = tracee.client.as_ref().map(|_| Client::new());
        Ok(Self { tracee, scheduling, objects: Objects::default(), memory, account })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.tracee.kill();
    }
}
