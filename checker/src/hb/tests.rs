//! Clocks and hashes mean what they should.

use super::*;
use crate::event::names::{Obj, ObjName, Site};
use crate::event::operation::Access;
use crate::event::step::Event;

/// Events of two threads that exist from the start.
struct Run {
    hb: HappensBefore,
    counts: [u32; 2],
}

fn at(nth: usize) -> Position {
    Position::after(nth)
}

fn name(thread: usize) -> ThreadName {
    ThreadName::MAIN.child(thread as u16).unwrap_or(ThreadName::MAIN)
}

fn event(id: EventId, op: Op, woken_by: Option<EventId>) -> TraceEvent {
    let did = op.may.clone();
    TraceEvent::from(Event { id, did, op, outcome: OpOutcome::Only, site: Site(0), woken_by, timing: None })
}

impl Run {
    fn new() -> Self {
        let mut hb = HappensBefore::default();
        (0..2).for_each(|thread| hb.add_thread(name(thread), None));
        Self { hb, counts: [0; 2] }
    }

    fn push(&mut self, thread: usize, op: Op, woken_by: Option<EventId>) {
        let id = EventId { thread: name(thread), index: self.counts[thread] };
        self.counts[thread] += 1;
        let event = event(id, op, woken_by);
        self.hb.push(thread, &event, |wanted| (0..2).find(|&thread| name(thread) == wanted));
    }

    fn with(events: &[(usize, Op)]) -> Self {
        let mut run = Self::new();
        events.iter().for_each(|(thread, op)| run.push(*thread, op.clone(), None));
        run
    }
}

fn bytes(offset: u32, len: u32) -> Obj {
    Obj { name: ObjName(9), offset, len }
}

fn read(offset: u32, len: u32) -> Op {
    Op::new(OpKind::Read, [Access::read(bytes(offset, len))])
}

fn write(offset: u32, len: u32) -> Op {
    Op::new(OpKind::Write, [Access::write(bytes(offset, len))])
}

#[test]
fn only_conflicting_events_are_ordered() {
    let run = Run::with(&[(0, write(0, 4)), (1, write(8, 4)), (1, read(2, 4)), (0, read(0, 2))]);
    assert!(!run.hb.ordered(at(0), at(1)) && !run.hb.ordered(at(1), at(0)));
    assert!(run.hb.ordered(at(0), at(2)) && !run.hb.ordered(at(2), at(3)) && run.hb.ordered(at(0), at(3)));
    assert_eq!((run.hb.clock(at(2)).get(0), run.hb.clock(at(2)).get(1)), (1, 2));
}

#[test]
fn the_order_of_independent_events_does_not_change_the_state() {
    let [a, b, c] = [(0, write(0, 4)), (1, read(4, 4)), (0, read(2, 4))];
    let forth = Run::with(&[a.clone(), b.clone(), c.clone()]);
    let back = Run::with(&[b, a, c]);
    assert_eq!(forth.hb.state(), back.hb.state());
    let one = Run::with(&[(0, write(0, 4)), (1, write(3, 2))]);
    let other = Run::with(&[(1, write(3, 2)), (0, write(0, 4))]);
    assert_ne!(one.hb.state(), other.hb.state());
}

#[test]
fn which_way_a_choice_went_is_part_of_the_state() {
    let state = |outcome| {
        let mut run = Run::new();
        let id = EventId { thread: name(0), index: 0 };
        let op = read(0, 4);
        let event = TraceEvent::from(Event {
            id,
            did: op.may.clone(),
            op,
            outcome,
            site: Site(0),
            woken_by: None,
            timing: None,
        });
        run.hb.push(0, &event, |_| None);
        run.hb.state()
    };
    let all = [
        OpOutcome::Only,
        OpOutcome::Value(0),
        OpOutcome::Value(1),
        OpOutcome::Wake(name(0)),
        OpOutcome::Wake(name(1)),
    ]
    .map(state);
    assert!(all.iter().enumerate().all(|(i, a)| all[..i].iter().all(|b| a != b)));
}

#[test]
fn a_thread_comes_after_its_creation() {
    let mut run = Run::with(&[(0, read(0, 4)), (0, Op::new(OpKind::Create, []))]);
    run.hb.add_thread(name(2), Some(at(1)));
    let event = event(EventId { thread: name(2), index: 0 }, read(8, 4), None);
    run.hb.push(2, &event, |_| None);
    assert!(run.hb.ordered(at(0), at(2)) && run.hb.ordered(at(1), at(2)));
}

#[test]
fn a_wake_up_orders_where_no_object_does() {
    let run = |woken_by| {
        let mut run = Run::with(&[(0, write(0, 4))]);
        run.push(1, Op::new(OpKind::FutexResume, []), woken_by);
        run
    };
    let woken = run(Some(EventId { thread: name(0), index: 0 }));
    assert!(woken.hb.ordered(at(0), at(1)) && !run(None).hb.ordered(at(0), at(1)));
    assert_ne!(woken.hb.state(), run(None).hb.state());
}

#[test]
fn who_parked_before_he_got_a_lock_does_not_show() {
    let lock = Op::new(OpKind::Lock, [Access::write(bytes(0, 1))]);
    let run = |woken_by| {
        let mut run = Run::with(&[(0, write(8, 4))]);
        run.push(1, lock.clone(), woken_by);
        run.hb.state()
    };
    assert_eq!(run(Some(EventId { thread: name(0), index: 0 })), run(None));
}

#[test]
fn what_ends_the_process_is_ordered_with_everything() {
    let mut end = Op::new(OpKind::Exit, []);
    end.may.ends_process = true;
    let run = Run::with(&[(0, read(0, 4)), (1, end), (0, read(8, 4))]);
    assert!(run.hb.ordered(at(0), at(1)) && run.hb.ordered(at(1), at(2)));
}

#[test]
fn who_joins_comes_after_all_that_was_done() {
    let mut join = Op::new(OpKind::Join, []);
    join.peer = Some(name(1));
    let run = Run::with(&[(1, read(0, 4)), (1, read(4, 4)), (0, join)]);
    assert!(run.hb.ordered(at(1), at(2)));
}
