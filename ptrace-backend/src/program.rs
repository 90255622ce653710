//! A real program, launched, as the checker's [`Program`].

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::ThreadId;

use checker::failure::Failure;
use checker::limit::Limit;
use checker::names::{Obj, Site, ThreadName};
use checker::object_description::ObjectDescription;
use checker::program::{Epoch, ExecutionError, ExecutionSummary, Program, Scope, StartError};
use checker::trace::Trace;

use crate::attention;
use crate::control::knowledge::ProgramKnowledge;
use crate::control::knowledge::lessons::{KnowledgeSnapshot, Lessons};
use crate::control::knowledge::state::ReachedCode;
use crate::control::memory::blocks::heap;
use crate::control::process::Process;
use crate::control::watchdog::Watch;
use crate::debuginfo::{SourceFrame, is_reference_count};
use crate::error::{BrokenExecution, LaunchError, SystemAction};
use crate::execution::PtraceExecution;
use crate::launch::{self, LaunchedCode};
use crate::layout::Layout;
use crate::os::fd;
use crate::preflight::{self, Executable};
use crate::spec::LaunchSpec;
use crate::target::client::ClientLaunchPlan;
use crate::target::process_source::ProcessSource;
use crate::target::streams::Streams;

/// A restriction of the machine under which programs are explored all the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restriction {
    /// Address randomisation cannot be switched off.
    AddressesVary,
    /// The tool may not bind itself to one CPU.
    NotBound,
}

/// A launched program. Executions are started by the thread that launched it: only that one may trace them.
pub struct PtraceProgram {
    spec: LaunchSpec,
    executable: Executable,
    /// Another one once more of the code is open.
    code: RwLock<Arc<LaunchedCode>>,
    knowledge: Arc<ProgramKnowledge>,
    streams: Arc<Streams>,
    client: Option<Arc<ClientLaunchPlan>>,
    watch: Arc<Watch>,
    /// To one CPU.
    is_bound: bool,
    /// Those that were there for it, its own first.
    cpus: Vec<usize>,
    tracer: ThreadId,
    source: Mutex<ProcessSource>,
}

/// The streams of a launch, what limits its time, its client, and its CPU.
struct Attachments {
    streams: Arc<Streams>,
    client: Option<Arc<ClientLaunchPlan>>,
    watch: Arc<Watch>,
    is_bound: bool,
    cpus: Vec<usize>,
}

impl Attachments {
    fn of(spec: &LaunchSpec, cpus: Vec<usize>) -> Result<Self, LaunchError> {
        // Without it everything is slower, and that is all.
        let is_bound = cpus.first().is_some_and(|&cpu| fd::pin_to(cpu).is_ok());
        let streams = Streams::new(spec.stdin.as_deref())
            .map_err(LaunchError::system(SystemAction::PrepareStandardInput))?;
        let streams = Arc::new(streams);
        let watch = Watch::start(spec.run_timeout, spec.limit.clone(), Arc::clone(&streams))
            .map_err(LaunchError::system(SystemAction::StartWatchdog))?;
        let client = ClientLaunchPlan::new(spec)?;
        Ok(Self { streams, client, watch: Arc::new(watch), is_bound, cpus })
    }

    fn parts(&self) -> launch::LaunchContext<'_> {
        (&self.streams, self.client.as_deref(), &self.watch)
    }

    /// The program that has been launched with these.
    fn program(
        self,
        spec: LaunchSpec,
        executable: Executable,
        (source, code): (ProcessSource, Arc<LaunchedCode>),
    ) -> Result<PtraceProgram, LaunchError> {
        let Self { streams, client, watch, is_bound, cpus } = self;
        let knowledge = ProgramKnowledge::new(&code.layout, Arc::clone(&streams))
            .map_err(LaunchError::system(SystemAction::PrepareRandomNumbers))?;
        if client.as_ref().is_some_and(|client| !client.has_network) {
            knowledge.note_external_effects();
        }
        Ok(PtraceProgram {
            spec,
            executable,
            code: RwLock::new(code),
            knowledge: Arc::new(knowledge),
            streams,
            client,
            watch,
            is_bound,
            cpus,
            tracer: std::thread::current().id(),
            source: Mutex::new(source),
        })
    }
}

impl PtraceProgram {
    /// Checks that the program can be explored and starts it, up to `main`. Binds the calling thread to one CPU: a stop
    /// costs a third of what it does across CPUs.
    ///
    /// # Errors
    /// When the program cannot be explored; the text says why and what to do.
    pub fn launch(spec: LaunchSpec) -> Result<Self, LaunchError> {
        let cpus = fd::cpus();
        Self::launch_on(spec, cpus)
    }

    /// The same program again, for the calling thread and a CPU of its own: the `nth` after that of this one. `limit`
    /// ends its executions. `None` where it cannot be started, or would not be the same in every address.
    #[must_use]
    pub fn again(&self, nth: usize, limit: &Limit) -> Option<Self> {
        let mut cpus = self.cpus.clone();
        let count = cpus.len().max(1);
        cpus.rotate_left(nth % count);
        let spec = LaunchSpec { limit: limit.clone(), ..self.spec.clone() };
        attention::within(limit, || self.launch_again(spec, cpus)).ok()?.ok()?
    }

    fn launch_on(spec: LaunchSpec, cpus: Vec<usize>) -> Result<Self, LaunchError> {
        let limit = spec.limit.clone();
        attention::within(&limit, || {
            let executable = preflight::inspect(&spec.program)?;
            let start = Attachments::of(&spec, cpus)?;
            let open = BTreeSet::new();
            let (source, code) = launch::launch(&spec, &executable, start.parts(), (Some(&open), None))?;
            start.program(spec, executable, (source, Arc::new(code)))
        })?
    }

    fn launch_again(&self, spec: LaunchSpec, cpus: Vec<usize>) -> Result<Option<Self>, LaunchError> {
        let executable = preflight::inspect(&spec.program)?;
        if executable.build_id != self.executable.build_id {
            return Ok(None);
        }
        let start = Attachments::of(&spec, cpus)?;
        let code = self.code();
        let source = code.launch(&spec, &executable, start.parts())?;
        source.map(|source| start.program(spec, executable, (source, code))).transpose()
    }

    /// Whether more code has been opened since this copy was launched.
    #[must_use]
    pub fn has_outgrown(&self, copy: &Self) -> bool {
        !Arc::ptr_eq(&self.code(), &copy.code())
    }

    /// The executable, as it was found.
    #[must_use]
    pub fn executable(&self) -> &Executable {
        &self.executable
    }

    /// The functions and lines at a site, the innermost inlined function first.
    #[must_use]
    pub fn locate(&self, site: Site) -> Vec<SourceFrame> {
        self.layout().frames(site)
    }

    /// Reads something else of its files, or nothing where there is no time left for that: the limit has been over for a second
    /// of the time in which this thread ran.
    pub fn read<T: Default>(&self, read: impl FnOnce() -> T) -> T {
        self.layout().grace.read(read)
    }

    /// Whether something that was asked for was not read for want of time: lines and names are missing then.
    #[must_use]
    pub fn is_read_in_part(&self) -> bool {
        self.layout().grace.is_over()
    }

    /// Whether a site is in the program's own code.
    #[must_use]
    pub fn is_user_code(&self, site: Site) -> bool {
        let layout = self.layout();
        let module = layout.locate(site);
        module.is_some_and(|(module, at)| layout.in_user_code(at + module.mapped.bias))
    }

    /// The restrictions of this machine under which programs are explored all the same.
    #[must_use]
    pub fn restrictions(&self) -> Vec<Restriction> {
        let addresses = self.layout().addresses_vary.then_some(Restriction::AddressesVary);
        let cpu = (!self.is_bound).then_some(Restriction::NotBound);
        addresses.into_iter().chain(cpu).collect()
    }

    /// The thread that runs the harness of a test and is no part of it, if the program is such a harness.
    #[must_use]
    pub fn harness(&self) -> Option<ThreadName> {
        self.knowledge.harness()
    }

    /// The name of the file that a site is in, and the address there.
    #[must_use]
    pub fn module(&self, site: Site) -> Option<(PathBuf, u64)> {
        self.layout().locate(site).map(|(module, at)| (module.mapped.path.clone(), at))
    }

    /// Number of executions that can run at once, each on a CPU of its own: the CPUs that the process was given.
    #[must_use]
    pub fn at_once(&self) -> usize {
        self.cpus.len().max(1)
    }

    /// Whether executions at the same time could meet outside of their memory, as far as those up to now have shown: by files
    /// that they write, names, sockets, or other processes.
    #[must_use]
    pub fn has_external_effects(&self) -> bool {
        self.knowledge.has_external_effects()
    }

    /// The number of times that threads have stopped for the calling thread so far, by ptrace or handing themselves over, for all programs:
    /// the cost of executions.
    #[must_use]
    pub fn stops(&self) -> u64 {
        crate::os::wait::stops()
    }

    /// Number of instructions that touch memory and are no longer watched, because they touched private memory only,
    /// and number of all instructions that touch memory.
    #[must_use]
    pub fn disarmed(&self) -> (usize, usize) {
        self.knowledge.disarmed()
    }

    /// Makes exactly these instructions key points, where they touch one of these objects, and finds no others: what a
    /// schedule of this build that was saved earlier needs to come out again. Synchronisation always is a key point.
    pub fn fix_key_points(&self, instructions: &[Site], memory: &[Obj]) {
        self.knowledge.fix(&self.candidates_at(instructions), memory);
    }

    /// Makes these instructions key points where they touch one of these objects, as if executions had shown it; more are
    /// found as ever.
    pub fn know_key_points(&self, instructions: &[Site], memory: &[Obj]) {
        self.knowledge.know(&self.candidates_at(instructions), memory);
    }

    /// The parts of an object that are memory which threads share, as far as that is known.
    #[must_use]
    pub fn shared_parts(&self, obj: Obj) -> Vec<Obj> {
        self.knowledge.shared_parts(obj)
    }

    /// Whether accesses are key points only where no event of their execution orders them, since executions are long.
    #[must_use]
    pub fn unordered_only(&self) -> bool {
        self.knowledge.judges_by_events()
    }

    /// Makes accesses key points only where no event of their execution orders them, from the next execution on.
    pub fn judge_by_events(&self) {
        self.knowledge.judge_by_events();
    }

    /// The candidates at these instructions.
    fn candidates_at(&self, instructions: &[Site]) -> Vec<usize> {
        let layout = self.layout();
        let at = |site: &Site| layout.locate(*site).map(|(module, at)| at + module.mapped.bias);
        let addresses: Vec<u64> = instructions.iter().filter_map(at).collect();
        let all = layout.candidates.iter().enumerate();
        // A thread that was left waiting for a Rust mutex never ran the instruction that takes it.
        let is_wanted = |addr: u64| addresses.contains(&addr) || layout.rust_mutex(addr).is_some();
        all.filter(|(_, c)| is_wanted(c.addr)).map(|(i, _)| i).collect()
    }

    /// The knowledge that an execution depends on beside its choices.
    #[must_use]
    pub fn known(&self) -> KnowledgeSnapshot {
        self.knowledge.known()
    }

    /// Makes the next execution one that would be the same where this is known. The knowledge that it gains is kept for
    /// elsewhere. `false`: that program has more of its code open, and another copy of it is needed.
    pub fn adopt(&self, known: &KnowledgeSnapshot) -> bool {
        self.knowledge.adopt(known)
    }

    /// The knowledge gained by the last execution, beside key points: for the program whose knowledge this one has
    /// adopted. `None` if that program's own execution might be another one by now.
    #[must_use]
    pub fn learnt(&self) -> Option<Lessons> {
        self.knowledge.learnt()
    }

    /// Takes in what the first events of an execution of [`PtraceProgram::again`] have taught.
    pub fn learn(&self, learnt: Lessons, events: u32) {
        self.knowledge.learn(learnt, events);
    }

    /// The place of an object in the file that it is of, for where nothing names it: `libfoo.so+0x1234`.
    #[must_use]
    pub fn place_in_file(&self, obj: Obj) -> Option<String> {
        let layout = self.layout();
        let module = layout.modules.iter().find(|module| module.name == obj.name)?;
        Some(module.image.in_file(obj.offset.into()))
    }

    pub(crate) fn layout(&self) -> Arc<Layout> {
        Arc::clone(&self.code().layout)
    }

    fn code(&self) -> Arc<LaunchedCode> {
        Arc::clone(&self.code.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Launches the program anew where executions have come to code that was closed: it is open from now on. `false`: they have not.
    fn open_reached(&self) -> Result<bool, LaunchError> {
        let Some(reached) = self.knowledge.take_reached() else { return Ok(false) };
        let before = self.code();
        let open = match (reached, &before.open) {
            (ReachedCode::Pages(reached), Some(open)) => Some(open.union(&reached).copied().collect()),
            _ => None,
        };
        let context = (&self.streams, self.client.as_deref(), &self.watch);
        let limit = &self.spec.limit;
        let (source, code) = attention::within(limit, || {
            launch::launch(&self.spec, &self.executable, context, (open.as_ref(), Some(&*before)))
        })??;
        self.knowledge.renumber(&before.layout, &code.layout);
        *self.code.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(code);
        *self.source.lock().unwrap_or_else(PoisonError::into_inner) = source;
        Ok(true)
    }

    fn begin(&self, scope: Scope) -> Result<PtraceExecution, ExecutionError> {
        let (mut process, streams, _) = self.copy()?;
        process.memory.scope = scope;
        process.scheduling.max_stall = self.spec.stalls.at_most();
        process.scheduling.stalls = Arc::clone(&self.spec.stalls);
        PtraceExecution::new(process, streams)
    }

    /// A new copy, before its first instruction, with what it writes to and what limits its time.
    pub(crate) fn copy(&self) -> Result<(Process, Arc<Streams>, Arc<Watch>), ExecutionError> {
        self.watch.hurry(false);
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let time_stamps_fault =
            self.layout().may_hide_time_stamps || self.knowledge.needs_time_stamps_to_fault();
        let new_process = source.begin(&self.layout(), &self.watch, time_stamps_fault)?;
        let mut process = Process::new(
            new_process,
            self.layout(),
            Arc::clone(&self.knowledge),
            Arc::clone(&self.watch),
            (self.spec.exit_code_fails, self.spec.stepping),
            self.client.clone(),
        )?;
        heap::survey(&process.tracee, &mut process.memory)?;
        Ok((process, Arc::clone(&self.streams), Arc::clone(&self.watch)))
    }
}

impl Program for PtraceProgram {
    type Run = PtraceExecution;

    fn start(&self, scope: &Scope) -> Result<PtraceExecution, StartError> {
        if self.tracer != std::thread::current().id() {
            return Err(ExecutionError::from(BrokenExecution::OtherThread).into());
        }
        self.open_reached().map_err(ExecutionError::from)?;
        let begun = self.begin(scope.clone());
        // It may have come to such code before its first key point, and not have been able to go on.
        if begun.is_err() && self.open_reached().map_err(ExecutionError::from)? {
            return self.begin(scope.clone()).map_err(StartError::from);
        }
        begun.map_err(StartError::from)
    }

    fn epoch(&self) -> Epoch {
        self.knowledge.epoch()
    }

    fn describe(&self, obj: Obj) -> Option<ObjectDescription> {
        self.knowledge.describe(&self.layout(), obj)
    }

    fn is_reference_count(&self, obj: Obj) -> bool {
        self.knowledge
            .describe(&self.layout(), obj)
            .is_some_and(|object| object.name().is_some_and(is_reference_count))
    }

    fn needs_audit(&self, trace: &Trace) -> bool {
        self.knowledge.take_doubt(trace)
    }

    fn attribute(&self, _failure: &mut Failure, _trace: &Trace, _ending: &ExecutionSummary) -> u64 {
        0
    }
}
