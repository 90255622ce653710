//! The client of the program as an agent: its beginning, its enabledness, and the effects of its steps.
//!
//! A step is one system call of the client on its connections, and what follows to the next one, in whichever of its processes
//! that is. To the search it is an operation on all files that may block: what the program finds out of it, it finds out by
//! those. Sleeps and waits with a time limit are on the virtual clock. When the client has ended, the program is asked to end, by
//! SIGTERM: where that ends it by itself, only once nothing is left to do, and never where threads wait for each other alone.

mod calls;
pub(in crate::control) mod processes;

use checker::names::{Obj, ThreadName};
use checker::operation::{Access, Op, OpKind};
use checker::program::{Agent, AgentView, BlockedOn, OpOutcome, Status};
use smallvec::{SmallVec, smallvec};

use crate::control::enabled::{self, Waiter};
use crate::control::expiry;
use crate::control::kernel::signals::state::Signals;
use crate::control::kernel::{files, signals};
use crate::control::operations;
use crate::control::readiness;
use crate::control::state::client::{Client, ClientPhase, ClientStep, Processes};
use crate::control::state::pending::WaitCondition;
use crate::control::state::scheduling::Scheduling;
use crate::control::state::sync_objects::Objects;
use crate::control::state::thread_index::ThreadIndex;
use crate::control::tracee::Tracee;
use crate::spec::Ready;

/// The sleep that a program is allowed that ends by SIGTERM, before it gets that, in nanoseconds of virtual time.
pub(in crate::control) const GRACE: u64 = 1_000_000_000;

/// The client as the checker sees it, if there is one.
pub(crate) fn view(tracee: &Tracee, scheduling: &Scheduling, objects: &Objects) -> Option<AgentView> {
    let client = scheduling.client.as_ref()?;
    let agent = Agent::Thread(ThreadName::CLIENT);
    let done = |status| {
        let (site, outcomes) = (Default::default(), SmallVec::new());
        AgentView { agent, status, pending: None, site, outcomes }
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
    let waits = || Status::Blocked(BlockedOn::Input(Vec::new()));
    let due = |time| {
        let is_due = enabled::is_due(tracee, scheduling, objects, Waiter::Client, time);
        let stalled = || enabled::stalled_by(tracee, scheduling, objects, Waiter::Client, time);
        if is_due { Status::Enabled } else { Status::Blocked(BlockedOn::Time(stalled())) }
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
    Some(AgentView { agent, status, pending, site, outcomes: smallvec![OpOutcome::Only] })
}

/// Notes since when the client can go, and what time it waits for, after an event of this agent.
pub(crate) fn note_runnable(tracee: &Tracee, scheduling: &mut Scheduling, mover: Waiter) {
    let step = next(tracee, scheduling);
    if let Some(client) = &mut scheduling.client {
        client.next_seen = Some((tracee.moment, step));
    }
    let Some(client) = &scheduling.client else { return };
    let is_over = tracee.gone || scheduling.exiting;
    let (can_go, awaits) = match client.phase {
        ClientPhase::Ready => (!is_over, None),
        ClientPhase::Ended => (!is_over && !ends_by_sigterm(tracee), None),
        ClientPhase::Runs => match step {
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

pub(in crate::control) fn next(tracee: &Tracee, scheduling: &Scheduling) -> ClientStep {
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
        ClientPhase::Runs => match client.next_seen {
            Some((moment, step)) if moment == tracee.moment && processes.launch_plan.has_network => step,
            _ => step_while_running(tracee, client, processes),
        },
        ClientPhase::Over | ClientPhase::Failed(_) => ClientStep::Nothing,
    }
}

/// The next step of a client that runs: an operation that can go, or the end of a wait.
fn step_while_running(tracee: &Tracee, client: &Client, processes: &Processes) -> ClientStep {
    match processes.operations(tracee.leader).next() {
        Some(nth) => ClientStep::Operation(nth),
        None => processes
            .next_time(client.now)
            .map_or(ClientStep::Nothing, |(nth, time)| ClientStep::Time(nth, time)),
    }
}

pub(in crate::control) fn operation(tracee: &Tracee, scheduling: &Scheduling, next: &ClientStep) -> Op {
    let write = |name: &str| Access::write(tracee.knowledge.named(name.to_owned()));
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
    tracee.knowledge.named(files::ALL.to_owned())
}

/// Whether the program stands still and waits for what comes from outside, and nothing tells that it is not ready for that.
fn is_idle(tracee: &Tracee, scheduling: &Scheduling, objects: &Objects) -> bool {
    let is_default = |client: &Processes| matches!(client.launch_plan.ready, Ready::Listens);
    tracee.client.as_ref().is_some_and(is_default)
        && !enabled::somebody_moves(tracee, scheduling, objects)
        && awaits_outside(tracee, scheduling)
}

/// Whether a thread waits for what comes from outside, or for a signal.
fn awaits_outside(tracee: &Tracee, scheduling: &Scheduling) -> bool {
    scheduling.threads.iter().filter(|thread| thread.is_live()).any(|thread| {
        match thread.pending.as_ref().map(|pending| &pending.condition) {
            Some(WaitCondition::Ready(files)) => readiness::is_outside(tracee, thread, files),
            Some(WaitCondition::Arrival(_)) => true,
            _ => false,
        }
    })
}

/// Whether SIGTERM would end the program without a further instruction of it.
pub(in crate::control) fn ends_by_sigterm(tracee: &Tracee) -> bool {
    signals::fatal::is_fatal(tracee, ThreadIndex::MAIN, libc::SIGTERM)
        && tracee
            .tasks
            .iter()
            .filter(|task| !task.reaped)
            .any(|task| Signals::of(task.tid).is_some_and(|signals| !signals.blocks(libc::SIGTERM)))
}

/// The thread that gets SIGTERM: the first one that does not block it.
pub(in crate::control) fn target(tracee: &Tracee, scheduling: &Scheduling) -> Option<ThreadIndex> {
    expiry::taker(tracee, scheduling, libc::SIGTERM)
}
