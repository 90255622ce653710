//! The steps of the client ([`crate::control::client`]): what each does to the copy, and what ends it.

use checker::account::{Unwatched, UnwatchedKind};
use checker::failure::{Failure, FailureDetail, FailureKind};
use checker::names::{EventId, ThreadName};
use checker::peculiarity::Peculiarity;
use checker::program::{Agent, Event, ExecutionError, OpOutcome};
use checker::refusal::ImpossibleChoice;

use crate::control::client::{GRACE, ends_by_sigterm, next, operation, processes, target};
use crate::control::enabled::{self, Waiter};
use crate::control::kernel::signals;
use crate::control::memory::access;
use crate::control::process::Process;
use crate::control::state::client::{Client, ClientPhase, ClientPosition, ClientStep, ClientTask, Processes};
use crate::os::signal_names::name;
use crate::os::wait::WaitStatus;
use crate::os::{fd, network, timer};
use crate::spec::Ready;

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
        let is_it = match processes.launch_plan.ready {
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
        let Some(Ready::Writes(line)) = self.tracee.client.as_ref().map(|client| &client.launch_plan.ready)
        else {
            return;
        };
        let (stdout, stderr, _) = self.tracee.knowledge.output();
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
            return Err(ImpossibleChoice::NoClient.into());
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
                return Err(ImpossibleChoice::NotEnabled(Agent::Thread(ThreadName::CLIENT)).into());
            }
            ClientStep::AskToEnd => self.ask_to_end()?,
        }
        self.note_end_of_client();
        Ok(Event { id, op, did, outcome: OpOutcome::Only, site: Default::default(), woken_by: None, timing })
    }

    /// After an event of the program: what it has sent is there, and a client that the kernel kept waiting goes on.
    pub(crate) fn settle_client(&mut self) -> Result<(), ExecutionError> {
        if self.scheduling.client.as_ref().is_some_and(|client| client.phase == ClientPhase::Awaits) {
            self.note_output();
        }
        let Some(now) = self.scheduling.client.as_ref().filter(|c| c.is_running()).map(|c| c.now) else {
            return Ok(());
        };
        let moment = self.tracee.moment;
        let is_settled = |client: &Processes| {
            let waits = |task: &ClientTask| task.position == ClientPosition::Kernel;
            client.settled_at == Some(moment) && !client.tasks.iter().any(waits)
        };
        if self.tracee.client.as_ref().is_some_and(is_settled) {
            return Ok(());
        }
        processes::settle(&mut self.tracee, now)?;
        if let Some(client) = &mut self.tracee.client {
            client.settled_at = Some(moment);
        }
        if let Some(client) = &mut self.scheduling.client {
            client.next_seen = None;
        }
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
        if self.tracee.client.as_ref().is_some_and(|client| !client.launch_plan.has_network) {
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
        let (stdout, stderr, _) = self.tracee.client.as_ref()?.launch_plan.streams.output();
        let last = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
            Some(line.chars().take(LONGEST).collect())
        };
        last(&stderr).or_else(|| last(&stdout))
    }
}
