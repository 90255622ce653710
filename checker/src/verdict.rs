//! What it means that an execution stands still: deadlock, lost wake-up, livelock; and failures in words.

use crate::explain::lost;
use crate::failure::{Failure, FailureKind, Party};
use crate::mirror::Mirror;
use crate::names::{Obj, Site, ThreadName};
use crate::seam::{AgentView, On, Program, Status};
use crate::trace::{Trace, TraceStep};

type Stack<'a> = &'a mut dyn FnMut(ThreadName) -> Vec<Site>;

/// The failures of the threads that are held where they failed, that of `first` first.
///
/// None of them has the others in its past, so each could have been the first one, in an order of the same events.
pub(crate) fn failed(agents: &Mirror, first: ThreadName, stack: Stack<'_>) -> Vec<Failure> {
    let mut failures: Vec<Failure> =
        agents.threads().iter().filter_map(|view| failure(view, &mut *stack)).collect();
    failures.sort_by_key(|failure| failure.thread != Some(first));
    failures
}

fn failure(view: &AgentView, stack: Stack<'_>) -> Option<Failure> {
    let thread = view.agent.thread();
    let Status::Failed(failure) = &view.status else { return None };
    let mut failure = failure.clone();
    failure.thread.get_or_insert(thread);
    if failure.stack.is_empty() {
        failure.stack = stack(thread);
    }
    if failure.stack.is_empty() {
        failure.stack.push(view.site);
    }
    Some(failure)
}

/// What is wrong where nobody can move; nothing, if everybody has finished.
pub(crate) fn stuck(
    program: &impl Program,
    agents: &Mirror,
    trace: &Trace,
    stack: Stack<'_>,
) -> Option<Failure> {
    let rest = unfinished(agents);
    if rest.is_empty() {
        return None;
    }
    let others = parties(program, &rest, stack);
    if rest.iter().any(|view| matches!(view.status, Status::Blocked(On::Await(_)))) {
        return Some(nothing_changes(others));
    }
    let message = deadlock(program, agents, trace, &rest, &others);
    Some(Failure {
        kind: FailureKind::Deadlock,
        message,
        thread: None,
        stack: Vec::new(),
        others,
        line: None,
    })
}

/// Everybody who could move has only yielded.
pub(crate) fn livelock(program: &impl Program, agents: &Mirror) -> Failure {
    let rest = unfinished(agents);
    let mut others = parties(program, &rest, &mut |_| Vec::new());
    for (party, view) in others.iter_mut().zip(&rest) {
        if view.status == Status::Enabled {
            party.doing = "yields again and again".to_owned();
        }
    }
    nothing_changes(others)
}

fn nothing_changes(others: Vec<Party>) -> Failure {
    let message = format!("livelock: nothing changes any more; {}", list(&others));
    Failure { kind: FailureKind::Livelock, message, thread: None, stack: Vec::new(), others, line: None }
}

/// Who has not finished; the harness of a test that stands still has no part in it.
fn unfinished(agents: &Mirror) -> Vec<&AgentView> {
    let takes_part = |view: &&AgentView| !matches!(view.status, Status::Finished | Status::Blocked(On::Test));
    agents.threads().iter().filter(takes_part).collect()
}

/// The deadlock of threads that wait for each other, where time-outs are all that can go on.
pub(crate) fn saved_by_timeout(program: &impl Program, agents: &Mirror) -> Option<Failure> {
    let all: Vec<&AgentView> = agents.threads().iter().collect();
    let circle = cycle(agents, &all)?;
    let members: Vec<&AgentView> = circle.iter().filter_map(|&name| agents.thread(name)).collect();
    let others = parties(program, &members, &mut |_| Vec::new());
    let message = format!("deadlock until a time-out: {}", list(&others));
    Some(Failure {
        kind: FailureKind::DeadlockButTimeouts,
        message,
        thread: None,
        stack: Vec::new(),
        others,
        line: None,
    })
}

fn parties(program: &impl Program, views: &[&AgentView], stack: Stack<'_>) -> Vec<Party> {
    let party = |view: &&AgentView| {
        let thread = view.agent.thread();
        let mut stack = stack(thread);
        if stack.is_empty() {
            stack.push(view.site);
        }
        Party { thread, doing: doing(program, view), stack }
    };
    views.iter().map(party).collect()
}

fn list<'p>(parties: impl IntoIterator<Item = &'p Party>) -> String {
    let each = parties.into_iter().map(|party| format!("{} {}", party.thread, party.doing));
    each.collect::<Vec<_>>().join("; ")
}

fn deadlock(
    program: &impl Program,
    agents: &Mirror,
    trace: &Trace,
    rest: &[&AgentView],
    parties: &[Party],
) -> String {
    if let Some((waiter, cond, signal)) = lost_wakeup(trace, rest) {
        return format!(
            "lost wake-up: {waiter} waits for a signal on condition variable {}, but the one from {} came while nobody \
             waited; {}",
            name(program, cond),
            signal.event.id.thread,
            list(parties),
        );
    }
    match cycle(agents, rest) {
        Some(cycle) => format!("deadlock: {}; {}", circle(&cycle), list(parties)),
        None => {
            // Who waits for the end of another one seldom has a part in it, and what comes first is all that many people read.
            let is_join = |view: &AgentView| matches!(view.status, Status::Blocked(On::Join(_)));
            let (joins, others): (Vec<_>, Vec<_>) =
                parties.iter().zip(rest).partition(|(_, view)| is_join(view));
            format!("deadlock: {}", list(others.into_iter().chain(joins).map(|(party, _)| party)))
        }
    }
}

/// Who stands in whose way: one thread alone waits for a lock that it holds.
fn circle(threads: &[ThreadName]) -> String {
    match threads {
        [one] => format!("{one} waits for itself"),
        several => {
            let names: Vec<String> = several.iter().map(ToString::to_string).collect();
            format!("{} wait for each other", names.join(" and "))
        }
    }
}

/// A thread that waits for a signal, where the last signal came before that and hit nobody.
fn lost_wakeup<'t>(trace: &'t Trace, rest: &[&AgentView]) -> Option<(ThreadName, Obj, &'t TraceStep)> {
    let waiting = rest.iter().filter_map(|view| match view.status {
        Status::Blocked(On::Cond(cond)) => Some((view.agent.thread(), cond)),
        _ => None,
    });
    let (waiter, cond, signal) = lost(trace, &waiting.collect::<Vec<_>>())?;
    Some((waiter, cond, &trace.steps[signal as usize]))
}

/// Whom a blocked thread waits for, if it is one certain thread.
pub(crate) fn waits_for(view: &AgentView) -> Option<ThreadName> {
    match &view.status {
        Status::Blocked(On::Mutex { owner, .. }) => *owner,
        Status::Blocked(On::Join(thread)) => Some(*thread),
        _ => None,
    }
}

/// Threads that wait for each other in a circle.
pub(crate) fn cycle(agents: &Mirror, rest: &[&AgentView]) -> Option<Vec<ThreadName>> {
    rest.iter().find_map(|view| {
        let start = view.agent.thread();
        let mut path = vec![start];
        loop {
            let next = waits_for(agents.thread(*path.last()?)?)?;
            if next == start {
                return Some(path);
            }
            if path.contains(&next) {
                return None;
            }
            path.push(next);
        }
    })
}

fn doing(program: &impl Program, view: &AgentView) -> String {
    match &view.status {
        Status::Blocked(on) => waiting(program, on),
        Status::Enabled if view.gives_way() => "yields".to_owned(),
        Status::Enabled => "could go on".to_owned(),
        Status::Failed(failure) => format!("failed: {}", failure.message),
        Status::Finished => "has finished".to_owned(),
    }
}

fn waiting(program: &impl Program, on: &On) -> String {
    match on {
        On::Mutex { obj, owner: Some(owner) } => {
            format!("waits for mutex {}, held by {owner}", name(program, *obj))
        }
        On::Mutex { obj, owner: None } => format!("waits for mutex {}", name(program, *obj)),
        On::Read(obj) => format!("waits for a read lock on {}", name(program, *obj)),
        On::Write(obj) => format!("waits for a write lock on {}", name(program, *obj)),
        On::Cond(obj) => format!("waits for a signal on condition variable {}", name(program, *obj)),
        On::Sem(obj) => format!("waits for semaphore {}", name(program, *obj)),
        On::Barrier { obj, .. } => format!("waits for the others at barrier {}", name(program, *obj)),
        On::Join(thread) => format!("waits for the end of {thread}"),
        On::Futex(obj) => format!("waits for a futex wake on {}", name(program, *obj)),
        On::Await(objs) => {
            let mut names: Vec<String> = Vec::new();
            for words in
                objs.iter().filter_map(|&obj| program.describe(obj)).map(|words| format!("`{words}`"))
            {
                if !names.contains(&words) {
                    names.push(words);
                }
            }
            if names.is_empty() {
                names.push("something in memory".to_owned());
            }
            format!("spins until {} changes", names.join(" or "))
        }
        On::Once(obj) => {
            format!("waits for the initialiser {}, which another thread runs", name(program, *obj))
        }
        On::Test => "waits for a test".to_owned(),
        On::Io(what) => format!("waits for {what}"),
    }
}

fn name(program: &impl Program, obj: Obj) -> String {
    program
        .describe(obj)
        .map_or_else(|| format!("{:x}+{}", obj.name.0, obj.offset), |words| format!("`{words}`"))
}
