//! The client of the program as an agent: its beginning, its enabledness, and the effects of its steps.
//!
//! A step is one system call of the client on its connections, and what follows to the next one, in whichever of its processes
//! that is. To the search it is an operation on all files that may block: what the program finds out of it, it finds out by
//! those. Sleeps and waits with a time limit are on the virtual clock. When the client has ended, the program is asked to end, by
//! SIGTERM: where that ends it by itself, only once nothing is left to do, and never where threads wait for each other alone.

mod calls;
mod processes;

use checker::account::{Unwatched, UnwatchedKind};
use checker::failure::{Failure, FailureDetail, FailureKind};
use checker::names::{EventId, Obj, ThreadName};
use checker::operation::{Access, Op, OpKind};
use checker::peculiarity::Peculiarity;
use checker::program::{Agent, AgentView, Event, ExecutionError, On, Pick, Status};
use smallvec::{SmallVec, smallvec};

use crate::control::enabled::{self, Waiter};
use crate::control::expiry;
use crate::control::kernel::signals::state::Signals;
use crate::control::kernel::{files, signals};
use crate::control::memory::access;
use crate::control::operations;
use crate::control::process::Process;
use crate::control::state::client::{Client, ClientPhase, Processes};
use crate::control::state::pending::Need;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::os::signal_names::name;
use crate::os::wait::WaitStatus;
use crate::os::{fd, network, timer};
use crate::spec::Ready;

/// The sleep that a program is allowed that ends by SIGTERM, before it gets that, in nanoseconds of virtual time.
const GRACE: u64 = 1_000_000_000;

/// The next step of the client.
enum ClientStep {
    Begin,
    /// An operation of its thread at this place.
    Operation(usize),
    /// The end of a sleep or of a wait with a time limit, of its thread at this place.
    Time(usize, u64),
    /// It waits for the program.
    Nothing,
    AskToEnd,
}

/// The client as the checker sees it, if there is one.
pub(crate) fn view(tracee: &Tracee, scheduling: &Scheduling, objects: &Objects) -> Option<AgentView> {
    let client = scheduling.client.as_ref()?;
    let agent = Agent::Thread(ThreadName::CLIENT);
    let done = |status| {
        let (site, picks) = (Default::default(), SmallVec::new());
        AgentView { agent, status, pending: None, site, picks }
    };
    let is_over = tracee.gone || scheduling.exiting;
    match &client.phase {
        ClientPhase::Over => return Some(done(Status::Finished)),
        ClientPhase::Failed(failure) => return Some(done(Status::Failed((**failure).clone()))),
        ClientPhase::Awaits | ClientPhase::Ready | ClientPhase::Ended if is_over => {
            return Some(done(Status::Finished));
        }
        ClientPhase::Awaits | ClientPhase::Ready | ClientPhase::Ended | ClientPhase::Runs => {}
    }
    let next = next(tracee, scheduling);
    let waits = || Status::Blocked(On::Input(Vec::new()));
    let due = |time| {
        let is_due = enabled::is_due(tracee, scheduling, objects, Waiter::Client, time);
        let stalled = || enabled::stalled_by(tracee, scheduling, objects, Waiter::Client, time);
        if is_due { Status::Enabled } else { Status::Blocked(On::Time(stalled())) }
    };
    let status = match (&next, &client.phase) {
        (ClientStep::Begin, ClientPhase::Ready) => Status::Enabled,
        (ClientStep::Begin, _) => match is_idle(tracee, scheduling, objects) {
            true => Status::Enabled,
            false => waits(),
        },
        (ClientStep::Operation(_), _) => Status::Enabled,
        (ClientStep::Time(_, time), _) => due(*time),
        (ClientStep::Nothing, _) => waits(),
        (ClientStep::AskToEnd, _) if !ends_by_sigterm(tracee) => Status::Enabled,
        (ClientStep::AskToEnd, _) => match due(client.now.saturating_add(GRACE)) {
            Status::Enabled if !awaits_outside(tracee, scheduling) => return Some(done(Status::Finished)),
            status => status,
        },
    };
    let (pending, site) = (Some(operation(tracee, scheduling, &next)), Default::default());
    Some(AgentView { agent, status, pending, site, picks: smallvec![Pick::Only] })
}

/// Notes since when the client can go, and what time it waits for, after an event of this agent.
pub(crate) fn note_runnable(tracee: &Tracee, scheduling: &mut Scheduling, mover: Waiter) {
    let Some(client) = &scheduling.client else { return };
    let is_over = tracee.gone || scheduling.exiting;
    let (can_go, awaits) = match client.phase {
        ClientPhase::Ready => (!is_over, None),
        ClientPhase::Ended => (!is_over && !ends_by_sigterm(tracee), None),
        ClientPhase::Runs => match next(tracee, scheduling) {
            ClientStep::Operation(_) => (true, None),
            ClientStep::Time(_, time) => (false, Some(time)),
            _ => (false, None),
        },
        ClientPhase::Awaits | ClientPhase::Over | ClientPhase::Failed(_) => (false, None),
    };
    let now = enabled::clock(scheduling, mover).max(client.now);
    if let Some(client) = &mut scheduling.client {
        client.awaits = awaits;
        client.runnable_since = match client.runnable_since {
            _ if !can_go => None,
            Some(since) if mover != Waiter::Client => Some(since),
            _ => Some(now),
        };
    }
}

fn next(tracee: &Tracee, scheduling: &Scheduling) -> ClientStep {
    let (Some(client), Some(processes)) = (&scheduling.client, &tracee.client) else {
        return ClientStep::Nothing;
    };
    match client.phase {
        ClientPhase::Awaits | ClientPhase::Ready => ClientStep::Begin,
        ClientPhase::Ended => ClientStep::AskToEnd,
        ClientPhase::Runs if scheduling.exiting && !tracee.gone => {
            // The connections end with the program.
            if processes.tasks.is_empty() { ClientStep::Nothing } else { ClientStep::Operation(0) }
        }
        ClientPhase::Runs => match processes.operations(tracee.leader).next() {
            Some(nth) => ClientStep::Operation(nth),
            None => processes
                .next_time(client.now)
                .map_or(ClientStep::Nothing, |(nth, time)| ClientStep::Time(nth, time)),
        },
        ClientPhase::Over | ClientPhase::Failed(_) => ClientStep::Nothing,
    }
}

fn operation(tracee: &Tracee, scheduling: &Scheduling, next: &ClientStep) -> Op {
    let write = |name: &str| Access::write(tracee.shared.named(name.to_owned()));
    match next {
        ClientStep::Begin => Op::new(OpKind::StartClient, [Access::write(files_object(tracee))]),
        ClientStep::AskToEnd => {
            let to = target(tracee, scheduling).map(Some).into_iter().chain([None]);
            let signals = to.map(|to| Access::write(operations::signals_of(tracee, scheduling, to)));
            Op::new(OpKind::AskToEnd, signals)
        }
        ClientStep::Time(..) | ClientStep::Operation(_) | ClientStep::Nothing => {
            let gives_way = tracee.client.as_ref().is_some_and(Processes::gives_way);
            let kind = if gives_way { OpKind::Yield } else { OpKind::Io };
            Op::new(kind, [Access::write(files_object(tracee)), write("connections of the client")])
        }
    }
}

/// All files that may block, as one object.
fn files_object(tracee: &Tracee) -> Obj {
    tracee.shared.named(files::ALL.to_owned())
}

/// Whether the program stands still and waits for what comes from outside, and nothing tells that it is not ready for that.
fn is_idle(tracee: &Tracee, scheduling: &Scheduling, objects: &Objects) -> bool {
    let is_default = |client: &Processes| matches!(client.recipe.ready, Ready::Listens);
    tracee.client.as_ref().is_some_and(is_default)
        && !enabled::somebody_moves(tracee, scheduling, objects)
        && awaits_outside(tracee, scheduling)
}

/// Whether a thread waits for what comes from outside, or for a signal.
fn awaits_outside(tracee: &Tracee, scheduling: &Scheduling) -> bool {
    scheduling.threads.iter().filter(|thread| thread.is_live()).any(|thread| {
        match thread.pending.as_ref().map(|pending| &pending.need) {
            Some(Need::Ready(files)) => {
                files.iter().any(|(file, _)| fd::comes_from_outside(tracee.leader, *file))
            }
            Some(Need::Arrival(_)) => true,
            _ => false,
        }
    })
}

/// Whether SIGTERM would end the program without a further instruction of it.
fn ends_by_sigterm(tracee: &Tracee) -> bool {
    signals::fatal::is_fatal(tracee, ThreadIndex::MAIN, libc::SIGTERM)
        && tracee
            .tasks
            .iter()
            .filter(|task| !task.reaped)
            .any(|task| Signals::of(task.tid).is_some_and(|signals| !signals.blocks(libc::SIGTERM)))
}

/// The thread that gets SIGTERM: the first one that does not block it.
fn target(tracee: &Tracee, scheduling: &Scheduling) -> Option<ThreadIndex> {
    expiry::taker(tracee, scheduling, libc::SIGTERM)
}

impl Process {
    /// A thread has gone on past a call of `listen`, on this descriptor.
    pub(crate) fn note_listening(&mut self, descriptor: i32) {
        let Some(processes) = &mut self.tracee.client else { return };
        let leader = self.tracee.leader;
        if !fd::comes_from_outside(leader, descriptor) {
            return;
        }
        network::send_at_once(leader, descriptor);
        processes.listens.push(descriptor);
        let is_it = match processes.recipe.ready {
            Ready::Listens => true,
            Ready::ListensAt(port) => network::port(leader, descriptor) == Some(port),
            Ready::Writes(_) => false,
        };
        if is_it {
            self.note_ready();
        }
    }

    fn note_ready(&mut self) {
        if let Some(client) =
            self.scheduling.client.as_mut().filter(|client| client.phase == ClientPhase::Awaits)
        {
            client.phase = ClientPhase::Ready;
        }
    }

    /// Looks whether the program has written that it is ready.
    fn note_output(&mut self) {
        let Some(Ready::Writes(line)) = self.tracee.client.as_ref().map(|client| &client.recipe.ready) else {
            return;
        };
        let (stdout, stderr, _) = self.tracee.shared.output();
        let is_written =
            |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().any(|said| line.is_match(said));
        if is_written(&stdout) || is_written(&stderr) {
            self.note_ready();
        }
    }

    /// Runs the client's next step.
    pub(crate) fn step_of_client(&mut self) -> Result<Event, ExecutionError> {
        let next = next(&self.tracee, &self.scheduling);
        let op = operation(&self.tracee, &self.scheduling, &next);
        let did = op.may.clone();
        let Some(client) = &self.scheduling.client else {
            return Err(ExecutionError::Impossible("the program has no client".to_owned()));
        };
        let deadline = match next {
            ClientStep::Time(_, time) => Some(time),
            ClientStep::AskToEnd if ends_by_sigterm(&self.tracee) => Some(client.now.saturating_add(GRACE)),
            _ => None,
        };
        let timing = deadline
            .map(|time| enabled::timing(&self.tracee, &self.scheduling, &self.objects, Waiter::Client, time));
        let id = EventId { thread: ThreadName::CLIENT, index: client.events };
        let begun = client.runnable_since.unwrap_or(0).max(client.now);
        let now = self.scheduling.times.after(client.now.max(deadline.unwrap_or(0)), &did);
        self.scheduling.events += 1;
        if let Some(client) = &mut self.scheduling.client {
            client.begun.push(client.begun.last().copied().unwrap_or(0).max(begun));
            client.events += 1;
            client.now = now;
        }
        match next {
            ClientStep::Begin => {
                access::begin_concurrency(&mut self.tracee, &mut self.memory)?;
                self.set_phase(ClientPhase::Runs);
                processes::start(&mut self.tracee, now)?;
            }
            // The client may have an answer then, if only that there is none: it is looked at again.
            ClientStep::Operation(_) if self.scheduling.exiting && !self.tracee.gone => {
                self.tracee.end_program()?;
                processes::settle(&mut self.tracee, now)?;
            }
            ClientStep::Operation(nth) => {
                let leader = self.tracee.leader;
                if let Some(client) = &mut self.tracee.client {
                    let are_several = client.operations(leader).nth(1).is_some();
                    client.goes_unwatched |= are_several;
                }
                processes::step(&mut self.tracee, nth, false, now)?;
            }
            ClientStep::Time(nth, _) => processes::step(&mut self.tracee, nth, true, now)?,
            ClientStep::Nothing => {
                return Err(ExecutionError::Impossible("the client waits".to_owned()));
            }
            ClientStep::AskToEnd => self.ask_to_end()?,
        }
        self.note_end_of_client();
        Ok(Event { id, op, did, pick: Pick::Only, site: Default::default(), woken_by: None, timing })
    }

    /// After an event of the program: what it has sent is there, and a client that the kernel kept waiting goes on.
    pub(crate) fn settle_client(&mut self) -> Result<(), ExecutionError> {
        if self.scheduling.client.as_ref().is_some_and(|client| client.phase == ClientPhase::Awaits) {
            self.note_output();
        }
        let Some(now) = self.scheduling.client.as_ref().filter(|c| c.is_running()).map(|c| c.now) else {
            return Ok(());
        };
        processes::settle(&mut self.tracee, now)?;
        self.note_end_of_client();
        Ok(())
    }

    /// Whether the program has ended, and its client has nothing to do with it any more.
    pub(crate) fn is_over(&self) -> bool {
        let is_running = self.scheduling.client.as_ref().is_some_and(Client::is_running);
        (self.scheduling.exiting || self.tracee.gone) && !is_running
    }

    /// Whether input that a thread waits for in the end would have shown more: not where a client is why there is no more of it.
    pub(crate) fn may_lack_input(&self) -> bool {
        let phase = self.scheduling.client.as_ref().map(|client| &client.phase);
        !matches!(phase, Some(ClientPhase::Runs | ClientPhase::Ended | ClientPhase::Failed(_)))
    }

    /// Takes note of what is peculiar about the client, where the execution ends, or is cut short.
    pub(crate) fn note_client(&mut self, has_ended: bool) {
        let Some(client) = &self.scheduling.client else { return };
        if has_ended && matches!(client.phase, ClientPhase::Awaits | ClientPhase::Ready) {
            self.account.note(Peculiarity::ClientNeverBegan);
        }
        if self.tracee.client.as_ref().is_some_and(|client| !client.recipe.has_network) {
            self.account.note(Peculiarity::SharesNetwork);
        }
    }

    fn set_phase(&mut self, phase: ClientPhase) {
        if let Some(client) = &mut self.scheduling.client {
            client.phase = phase;
        }
    }

    /// The program gets SIGTERM.
    fn ask_to_end(&mut self) -> Result<(), ExecutionError> {
        self.set_phase(ClientPhase::Over);
        if ends_by_sigterm(&self.tracee) {
            return self.tracee.end_program();
        }
        let Self { tracee, scheduling, account, .. } = self;
        let target = target(tracee, scheduling);
        timer::terminate(tracee.leader, target.map(|target| tracee.tasks[target].tid));
        if let Some(target) = target
            && signals::waits::interrupt(tracee, scheduling, target, Some(target))
        {
            signals::waits::note_handler_of(
                tracee,
                account,
                libc::SIGTERM as u64,
                Peculiarity::HandlesSigterm,
            );
        }
        Ok(())
    }

    /// Takes note of the end of the client, if it has ended.
    pub(crate) fn note_end_of_client(&mut self) {
        if self.tracee.client.as_ref().is_some_and(|client| client.goes_unwatched) {
            self.account.enter_unwatched(Unwatched::of(UnwatchedKind::Client));
        }
        let ended = self.tracee.client.as_ref().and_then(|client| client.ended);
        let Some(ended) = ended.filter(|_| self.scheduling.client.as_ref().is_some_and(|c| c.is_running()))
        else {
            return;
        };
        let detail = match ended {
            WaitStatus::Killed(signal) => Some(FailureDetail::ClientKilled(name(signal))),
            WaitStatus::Exited(code) if code != 0 && self.account.exit_code_fails => {
                Some(FailureDetail::ClientExited(code, self.last_words()))
            }
            _ => None,
        };
        self.set_phase(match detail {
            Some(detail) => {
                let failure = Failure::of_thread(FailureKind::Client, detail, ThreadName::CLIENT, Vec::new());
                ClientPhase::Failed(Box::new(failure))
            }
            None => ClientPhase::Ended,
        });
    }

    /// The last line that the client has written to its standard error, or else to its standard output.
    fn last_words(&self) -> Option<String> {
        const LONGEST: usize = 300;
        let (stdout, stderr, _) = self.tracee.client.as_ref()?.recipe.streams.output();
        let last = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
            Some(line.chars().take(LONGEST).collect())
        };
        last(&stderr).or_else(|| last(&stdout))
    }
}
