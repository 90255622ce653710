//! Each operation of the model means what it should.

use super::names::object;
use super::*;
use crate::event::agent::{Agent, AgentView, Choice, OpOutcome, Status};
use crate::event::failure::FailureKind;
use crate::event::names::ThreadName;
use crate::event::operation::OpKind;
use crate::event::wait::BlockedOn;
use crate::program::{Execution, Stop, Until};

fn start(text: &str) -> ModelRun {
    let model: Model = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    model.start(&Scope::All).unwrap()
}

/// The n-th thread; the main thread is the first.
fn thread(n: u16) -> ThreadName {
    ThreadName::MAIN.child(n - 1).unwrap_or(ThreadName::MAIN)
}

fn view(run: &ModelRun, agent: Agent) -> &AgentView {
    run.agents().iter().find(|view| view.agent == agent).unwrap()
}

fn status(run: &ModelRun, n: u16) -> Status {
    view(run, Agent::Thread(thread(n))).status.clone()
}

fn pending(run: &ModelRun, n: u16) -> Option<OpKind> {
    view(run, Agent::Thread(thread(n))).pending.as_ref().map(|op| op.kind)
}

/// Runs one event of each of these threads.
fn go(run: &mut ModelRun, threads: &[u16]) {
    for &n in threads {
        run.run(Choice::thread(thread(n)), &Until::one()).unwrap();
    }
}

fn object_named(text: &str, name: &str) -> Obj {
    let model: Model = text.parse().unwrap();
    object(model.objects.iter().position(|(known, _)| known == name).unwrap())
}

#[test]
fn what_is_no_program_is_refused() {
    for (text, why) in [
        ("q x", "`q` is no operation"),
        ("r", "the program ends too early"),
        ("if x { r y", "the program ends too early"),
        ("r x ? y", "`?` means nothing here"),
        ("create T9", "there is no thread `T9`"),
        ("r x | T2: create T1", "the first thread starts with the program and cannot be created"),
        ("let x=y | r x", "`y` is not a number"),
        ("bar b 0", "a barrier is for 1 or more"),
        ("set a (1", "the program ends too early"),
    ] {
        assert_eq!(text.parse::<Model>().unwrap_err().to_string(), why, "{text}");
    }
}

#[test]
fn expressions_have_the_usual_precedence() {
    for (expression, holds) in [
        ("1+2*3 == 7", true),
        ("(1+2)*3 == 9", true),
        ("5-2-1 == 2", true),
        ("1 < 2 && 2 < 1 || 3 > 2", true),
        ("1 != 1 || -1 > 0", false),
    ] {
        let run = start(&format!("assert {expression}"));
        assert_eq!(status(&run, 1) == Status::Finished, holds, "{expression}");
    }
}

#[test]
fn branches_and_loops_follow_the_values_read() {
    let mut run =
        start("let x=2 | r x, while x > 0 { w y x, set x x-1 }, if x { r a } else { loop 2 { r b } }");
    let batch = run.run(Choice::thread(thread(1)), &Until::events(99)).unwrap();
    let kinds: Vec<OpKind> = batch.steps.iter().map(|step| step.event.op.kind).collect();
    use OpKind::{Read, Write};
    assert_eq!(kinds, [Read, Write, Write, Read, Read]);
    assert_eq!(batch.stop, Stop::Finished);
}

#[test]
fn a_mutex_blocks_and_is_free_again() {
    let mut run = start("lock m, unlock m | lock m, unlock m");
    go(&mut run, &[1]);
    let obj = object(0);
    assert_eq!(status(&run, 2), Status::Blocked(BlockedOn::Mutex { obj, owner: Some(thread(1)) }));
    go(&mut run, &[1]);
    assert_eq!(status(&run, 2), Status::Enabled);
}

#[test]
fn releasing_what_is_not_held_fails() {
    for text in ["unlock m", "wrunlock l", "rdunlock l", "wait c m", "lock m | unlock m"] {
        let mut run = start(text);
        let last = run.agents().len() as u16;
        (1..=last).for_each(|n| go(&mut run, &[n]));
        let Status::Failed(failure) = status(&run, last) else { panic!("{text}") };
        assert_eq!(failure.kind, FailureKind::UnlockNotHeld);
    }
}

#[test]
fn a_condition_wait_is_two_events() {
    let text = "lock m, wait c m, r x | lock m, signal c, unlock m";
    let (m, c) = (object_named(text, "m"), object_named(text, "c"));
    let mut run = start(text);
    go(&mut run, &[1, 1]);
    assert_eq!(
        (status(&run, 1), pending(&run, 1)),
        (Status::Blocked(BlockedOn::Cond(c)), Some(OpKind::Reacquire))
    );
    go(&mut run, &[2]);
    let outcomes = view(&run, Agent::Thread(thread(2))).outcomes.to_vec();
    assert_eq!(outcomes, [OpOutcome::Wake(thread(1))]);
    let signal = Choice { agent: Agent::Thread(thread(2)), outcome: outcomes[0] };
    let woken = run.run(signal, &Until::one()).unwrap().steps[0].event.id;
    assert_eq!(status(&run, 1), Status::Blocked(BlockedOn::Mutex { obj: m, owner: Some(thread(2)) }));
    go(&mut run, &[2]);
    let event = run.run(Choice::thread(thread(1)), &Until::one()).unwrap().steps.remove(0).event;
    assert_eq!((event.op.kind, event.woken_by), (OpKind::Reacquire, Some(woken)));
}

#[test]
fn a_signal_chooses_among_the_waiters_by_name() {
    let waiter = "lock m, wait c m, unlock m";
    let mut run = start(&format!("signal c | {waiter} | {waiter}"));
    assert_eq!(view(&run, Agent::Thread(thread(1))).outcomes.to_vec(), [OpOutcome::Only]);
    go(&mut run, &[3, 3, 2, 2]);
    let outcomes = view(&run, Agent::Thread(thread(1))).outcomes.to_vec();
    assert_eq!(outcomes, [OpOutcome::Wake(thread(2)), OpOutcome::Wake(thread(3))]);
    assert!(run.run(Choice::thread(thread(1)), &Until::one()).is_err());
    run.run(Choice { agent: Agent::Thread(thread(1)), outcome: outcomes[1] }, &Until::one()).unwrap();
    assert_eq!(status(&run, 3), Status::Enabled);
    assert!(matches!(status(&run, 2), Status::Blocked(BlockedOn::Cond(_))));
}

#[test]
fn a_broadcast_wakes_all() {
    let waiter = "lock m, wait c m, unlock m";
    let mut run = start(&format!("broadcast c | {waiter} | {waiter}"));
    go(&mut run, &[2, 2, 3, 3, 1]);
    assert_eq!((status(&run, 2), status(&run, 3)), (Status::Enabled, Status::Enabled));
}

#[test]
fn a_timed_wait_can_run_out_of_time_while_it_is_open() {
    let mut run = start("lock m, timedwait c m, unlock m, assert c == 0 | signal c");
    let agent = Agent::Timeout(thread(1));
    go(&mut run, &[1]);
    assert!(run.agents().iter().all(|view| view.agent != agent));
    go(&mut run, &[1]);
    let batch = run.run(Choice { agent, outcome: OpOutcome::Only }, &Until::one()).unwrap();
    assert_eq!((batch.steps[0].event.op.kind, batch.stop), (OpKind::Timeout, Stop::Finished));
    assert!(batch.steps[0].changed.iter().any(|view| view.agent == agent && view.status == Status::Finished));
    go(&mut run, &[1, 1]);
    assert_eq!(status(&run, 1), Status::Finished);
}

#[test]
fn a_timed_lock_is_open_only_while_the_mutex_is_held() {
    let mut run = start("timedlock m, assert m == 0 | lock m");
    let is_open = |run: &ModelRun| run.agents().iter().any(|view| view.agent == Agent::Timeout(thread(1)));
    assert!(!is_open(&run));
    go(&mut run, &[2]);
    assert!(is_open(&run));
    run.run(Choice { agent: Agent::Timeout(thread(1)), outcome: OpOutcome::Only }, &Until::one()).unwrap();
    assert_eq!(status(&run, 1), Status::Finished);
}

#[test]
fn semaphores_count() {
    let mut run = start("let s=1 | down s, down s | trydown s, assert s == 0, up s");
    go(&mut run, &[1]);
    assert!(matches!(status(&run, 1), Status::Blocked(BlockedOn::Sem(_))));
    go(&mut run, &[2, 2]);
    assert_eq!((status(&run, 1), status(&run, 2)), (Status::Enabled, Status::Finished));
}

#[test]
fn readers_share_and_writers_do_not() {
    let mut run = start(
        "rdlock l, rdunlock l | tryrdlock l, assert l == 1, rdunlock l | wrlock l | trywrlock l, assert l == 0",
    );
    go(&mut run, &[1, 2, 4]);
    assert_eq!(status(&run, 4), Status::Finished);
    assert!(matches!(status(&run, 3), Status::Blocked(BlockedOn::Write(_))));
    go(&mut run, &[1, 2, 3]);
    assert_eq!(status(&run, 3), Status::Finished);
    let mut held = start("wrlock l | rdlock l");
    go(&mut held, &[1]);
    assert!(matches!(status(&held, 2), Status::Blocked(BlockedOn::Read(_))));
}

#[test]
fn a_barrier_lets_go_when_all_have_come_and_serves_again() {
    let mut run = start("bar b 2, bar b 2 | bar b 2, bar b 2");
    go(&mut run, &[1]);
    assert!(matches!(status(&run, 1), Status::Blocked(BlockedOn::Barrier { generation: 0, .. })));
    go(&mut run, &[2, 2, 2]);
    assert!(matches!(status(&run, 2), Status::Blocked(BlockedOn::Barrier { generation: 1, .. })));
    assert_eq!(status(&run, 1), Status::Enabled);
    go(&mut run, &[1, 1, 1, 2]);
    assert_eq!((status(&run, 1), status(&run, 2)), (Status::Finished, Status::Finished));
}

#[test]
fn threads_are_created_named_and_joined() {
    let mut run = start("create T2, join T2 | T2: create T3 | T3: r x");
    assert_eq!(run.agents().len(), 1);
    go(&mut run, &[1]);
    let child = thread(2);
    assert_eq!(status(&run, 1), Status::Blocked(BlockedOn::Join(child)));
    let created = run.run(Choice::thread(child), &Until::one()).unwrap().steps.remove(0);
    assert_eq!(created.event.op.peer, child.child(1));
    assert_eq!(status(&run, 1), Status::Enabled);
}

#[test]
fn who_awaits_wakes_when_the_value_changes_and_looks_again() {
    let mut run = start("await x x == 2, r y | w x 0, w x 1, w x 2");
    go(&mut run, &[1]);
    assert!(matches!(status(&run, 1), Status::Blocked(BlockedOn::Await(_))));
    go(&mut run, &[2]);
    assert!(matches!(status(&run, 1), Status::Blocked(BlockedOn::Await(_))));
    go(&mut run, &[2, 1]);
    assert!(matches!(status(&run, 1), Status::Blocked(BlockedOn::Await(_))));
    go(&mut run, &[2, 1]);
    assert_eq!((status(&run, 1), pending(&run, 1)), (Status::Enabled, Some(OpKind::Read)));
}

#[test]
fn who_yields_can_be_chosen_but_ends_a_batch() {
    let mut run = start("r x, yield, r x | r y");
    let batch = run.run(Choice::thread(thread(1)), &Until::events(9)).unwrap();
    assert_eq!((batch.steps.len(), batch.stop), (1, Stop::Blocked));
    assert_eq!((status(&run, 1), pending(&run, 1)), (Status::Enabled, Some(OpKind::Yield)));
    go(&mut run, &[1]);
    assert_eq!(pending(&run, 1), Some(OpKind::Read));
}

#[test]
fn a_batch_ends_where_it_was_told_to() {
    let until = |events, on_enabled: &[Agent], on_objects: &[Obj]| Until {
        events,
        on_enabled: on_enabled.iter().copied().collect(),
        on_objects: on_objects.iter().copied().collect(),
        at_next: false,
    };
    let text = "lock m, r x, r y, unlock m, lock m, crash | lock m";
    let (other, y) = (Agent::Thread(thread(2)), object_named(text, "y"));
    let mut run = start(text);
    let mut run_main = |until| {
        let batch = run.run(Choice::thread(thread(1)), &until).unwrap();
        (batch.steps.len(), batch.stop)
    };
    assert_eq!(run_main(until(1, &[], &[])), (1, Stop::Quantum));
    assert_eq!(run_main(until(9, &[], &[y])), (1, Stop::Object));
    assert_eq!(run_main(until(9, &[other], &[])), (2, Stop::Enabled));
    assert_eq!(run_main(until(9, &[], &[])), (1, Stop::Failed));
    let mut blocked = start("r x, lock m | lock m");
    go(&mut blocked, &[2]);
    let batch = blocked.run(Choice::thread(thread(1)), &Until::events(9)).unwrap();
    assert_eq!((batch.steps.len(), batch.stop), (1, Stop::Blocked));
}
