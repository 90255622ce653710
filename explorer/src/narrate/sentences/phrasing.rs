//! Operations and reasons in words.

use checker::lock_action::Hold;
use checker::names::{Obj, ThreadName};
use checker::operation::{Access, Effect, Mode, Op, OpKind};
use checker::program::{BlockedOn, OpOutcome};
use checker::recorded::TraceEvent;

use super::objects;
use crate::narrate::thread_labels::ThreadLabels;
use crate::program::source::Source;

/// Sources of the words: the labels of threads, and the program.
pub(crate) struct Phrasing<'a> {
    pub(crate) labels: &'a ThreadLabels,
    pub(crate) source: &'a dyn Source,
}

impl Phrasing<'_> {
    /// An object, in backquotes.
    pub(crate) fn object(&self, obj: Obj) -> String {
        format!("`{}`", self.name(obj))
    }

    /// An object, without quotes.
    pub(crate) fn name(&self, obj: Obj) -> String {
        let described = self.source.describe(obj).map(|object| objects::words(&object));
        let known = described.or_else(|| self.source.place_in_file(obj));
        known.unwrap_or_else(|| format!("{:x}+{}", obj.name.0, obj.offset))
    }

    /// Other names of an object, which a suppression may have.
    pub(crate) fn other_names(&self, obj: Obj) -> Vec<String> {
        self.source.describe(obj).map(|object| objects::other_words(&object)).unwrap_or_default()
    }

    fn objects(&self, effect: &Effect) -> String {
        let words: Vec<String> = effect.accesses.iter().map(|access| self.object(access.obj)).collect();
        words.join(", ")
    }

    /// A wait reads the condition variable and releases the mutex.
    fn condition_wait(&self, effect: &Effect) -> String {
        let (waits, releases): (Vec<Access>, Vec<Access>) =
            effect.accesses.iter().partition(|access| access.mode == Mode::Read);
        let words = |accesses: &[Access]| {
            accesses.iter().map(|access| self.object(access.obj)).collect::<Vec<_>>().join(", ")
        };
        format!("{}, releasing {}", words(&waits), words(&releases))
    }

    /// A pending operation in words ("write `x`").
    pub(crate) fn pending(&self, op: &Op) -> String {
        self.operation(op, op.peer)
    }

    /// An event in words ("try to lock `m`: not free").
    pub(crate) fn event(&self, event: &TraceEvent) -> String {
        let mut words = self.operation(&event.op, event.op.peer);
        if let Some(failed) = failed(event) {
            words.push_str(failed);
        }
        match event.outcome {
            OpOutcome::Only => {}
            OpOutcome::Wake(thread) => words.push_str(&format!(", wakes {}", self.labels.label(thread))),
            OpOutcome::Value(value) => words.push_str(&format!(" = {value}")),
        }
        words
    }

    fn operation(&self, op: &Op, peer: Option<ThreadName>) -> String {
        let asks = op.kind == OpKind::SetTimer && op.may.accesses.iter().all(|a| a.mode == Mode::Read);
        let verb = if asks { "ask" } else { op.kind.verb() };
        let object = match (peer, op.kind) {
            (Some(thread), OpKind::Create | OpKind::Join | OpKind::AskForEnd) => self.labels.label(thread),
            (None, OpKind::Create) => "a thread".to_owned(),
            (_, OpKind::CondWait) => self.condition_wait(&op.may),
            // Beside what it is about stands what orders it.
            (_, OpKind::SetTimer | OpKind::Expire) => {
                op.may.accesses.first().map(|access| self.object(access.obj)).unwrap_or_default()
            }
            (_, OpKind::ThreadEnd | OpKind::Exit | OpKind::StartClient | OpKind::AskToEnd) => String::new(),
            _ => self.objects(&op.may),
        };
        if object.is_empty() { verb.to_owned() } else { format!("{verb} {object}") }
    }

    /// "spins until … changes": the objects that have a name, each once.
    pub(crate) fn spins(&self, objs: &[Obj]) -> String {
        let mut words: Vec<String> = Vec::new();
        for object in objs.iter().filter_map(|&obj| self.source.describe(obj)) {
            let object = format!("`{}`", objects::words(&object));
            if !words.contains(&object) {
                words.push(object);
            }
        }
        if words.is_empty() {
            words.push("something in memory".to_owned());
        }
        format!("spins until {} changes", words.join(" or "))
    }

    /// An operation of which only the kind and the effect are known.
    pub(crate) fn effect(&self, kind: OpKind, effect: &Effect) -> String {
        if effect.accesses.is_empty() {
            return kind.to_string();
        }
        self.operation(&Op { may: effect.clone(), ..Op::new(kind, []) }, None)
    }

    /// "waits for …".
    pub(crate) fn waits(&self, on: &BlockedOn) -> String {
        let object = |obj: &Obj| self.object(*obj);
        match on {
            BlockedOn::Mutex { obj, owner: Some(owner) } => {
                format!("waits for {}, held by {}", object(obj), self.labels.label(*owner))
            }
            BlockedOn::Mutex { obj, owner: None } => format!("waits for {}", object(obj)),
            BlockedOn::Read(obj) => format!("waits to lock {} for reading", object(obj)),
            BlockedOn::Write(obj) => format!("waits to lock {} for writing", object(obj)),
            BlockedOn::Cond(obj) => format!("waits for a signal on {}", object(obj)),
            BlockedOn::Sem(obj) => format!("waits for {} to be above 0", object(obj)),
            BlockedOn::Barrier { obj, .. } => format!("waits at {} for the others", object(obj)),
            BlockedOn::Join(thread) => format!("waits for {} to end", self.labels.label(*thread)),
            BlockedOn::Futex(obj) => format!("sleeps on {}", object(obj)),
            BlockedOn::Await(objs) => self.spins(objs),
            BlockedOn::Once(obj) => format!("waits until {} is initialised", object(obj)),
            BlockedOn::Test => "waits for a test".to_owned(),
            BlockedOn::Input(files) if files.is_empty() => "waits for the program".to_owned(),
            BlockedOn::Input(files) | BlockedOn::Outside(files) => {
                format!("waits for input from file descriptor {}", numbers(files))
            }
            BlockedOn::Output(files) => {
                format!("waits for room for output to file descriptor {}", numbers(files))
            }
            BlockedOn::Message(obj) => format!("waits for a message in {}", object(obj)),
            BlockedOn::Room(obj) => format!("waits for room for a message in {}", object(obj)),
            BlockedOn::Time(_) => "waits for its time".to_owned(),
            BlockedOn::Arrival => "waits for a signal".to_owned(),
            BlockedOn::Process => "waits for what another process does".to_owned(),
        }
    }
}

fn numbers(files: &[i32]) -> String {
    let files: Vec<String> = files.iter().map(ToString::to_string).collect();
    files.join(", ")
}

/// The words to add where an operation did not do what it may do.
fn failed(event: &TraceEvent) -> Option<&'static str> {
    let only_looked = || event.did.accesses.iter().all(|Access { mode, .. }| *mode == Mode::Read);
    match event.failed_try() {
        Some(Hold::Unit) => Some(": it is 0"),
        Some(_) => Some(": not free"),
        None => (event.op.kind == OpKind::CompareExchange && only_looked()).then_some(": another value"),
    }
}
