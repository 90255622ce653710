//! Tests of conflicts between accesses.

use checker::names::{EventId, Obj, ObjName, Site};
use checker::operation::{Access, Op, OpKind};
use checker::program::OpOutcome;
use checker::timing::Timing;

use super::*;
use crate::control::state::thread_index::PerThread;

fn thread(place: usize) -> ThreadIndex {
    let mut all = PerThread::new(());
    (0..place).fold(ThreadIndex::MAIN, |_, _| all.push(()))
}

fn access(addr: u64, len: u64, write: bool) -> MemoryAccess {
    MemoryAccess { addr, len, read: !write, write }
}

/// The conflict of the last of these accesses, each by a candidate of its own, with the others.
fn last(touches: &[(usize, u64, u64, bool)]) -> Conflict {
    let mut sharing = Sharing::default();
    sharing.created(thread(1), thread(0));
    sharing.created(thread(2), thread(0));
    let mut found = Conflict::default();
    for (i, &(place, addr, len, write)) in touches.iter().enumerate() {
        found = sharing.touch(thread(place), i, access(addr, len, write));
    }
    found
}

fn check(touches: &[(usize, u64, u64, bool)], candidates: &[usize], bytes: &[(u64, u64)]) {
    let found = last(touches);
    let found_bytes: Vec<_> = found.bytes.iter().map(|range| (range.start, range.end)).collect();
    assert_eq!((&*found.candidates, &*found_bytes), (candidates, bytes));
}

fn involved(touches: &[(usize, u64, u64, bool)]) -> Vec<usize> {
    last(touches).candidates
}

#[test]
fn unordered_accesses_conflict_if_one_writes_and_a_byte_is_common() {
    assert_eq!(involved(&[(1, 0x10, 4, true), (2, 0x10, 4, false)]), [0, 1]);
    assert_eq!(involved(&[(1, 0x16, 4, true), (2, 0x18, 1, false)]), [0, 1]);
    assert_eq!(involved(&[(1, 0x10, 4, false), (2, 0x10, 4, false)]), [0_usize; 0]);
    assert_eq!(involved(&[(1, 0x10, 4, true), (2, 0x14, 4, true)]), [0_usize; 0]);
    assert_eq!(involved(&[(1, 0x10, 4, true), (1, 0x10, 4, true)]), [0_usize; 0]);
}

#[test]
fn accesses_by_many_instructions_are_looked_at_once() {
    const MANY: usize = 5_000;
    let mut sharing = Sharing::default();
    sharing.created(thread(1), thread(0));
    for candidate in 0..MANY {
        sharing.touch(thread(0), candidate, access(0x10, 4, candidate % 2 == 0));
    }
    let mut kinds = Vec::new();
    sharing.words.within(&(0x10..0x18), |word, _, touches| kinds.push((word, touches.kinds.len())));
    assert_eq!(kinds, [(0x10, 2)]);
    assert!(sharing.repeats(thread(0), 7, access(0x10, 4, false)));
    assert!(!sharing.repeats(thread(0), 7, access(0x10, 4, true)));
    let found = sharing.touch(thread(1), MANY, access(0x10, 4, true));
    assert_eq!(found.candidates, (0..=MANY).collect::<Vec<_>>());
    sharing.forget(&(0x10..0x18));
    assert!(!sharing.repeats(thread(0), 7, access(0x10, 4, false)));
}

#[test]
fn a_long_access_is_made_again_where_all_of_it_is_the_same() {
    let mut sharing = Sharing::default();
    sharing.touch(thread(0), 7, access(0x1000, 0x1000, true));
    assert!(sharing.repeats(thread(0), 7, access(0x1000, 0x1000, true)));
    let others = [(7, 0x1000, 0x1000, false), (7, 0x1000, 0x800, true), (8, 0x1000, 0x1000, true)];
    assert!(others.iter().all(|&(by, at, len, write)| !sharing.repeats(
        thread(0),
        by,
        access(at, len, write)
    )));
    sharing.forget(&(0x1800..0x1801));
    assert!(!sharing.repeats(thread(0), 7, access(0x1000, 0x1000, true)));
}

#[test]
fn only_the_common_bytes_of_long_accesses_are_shared() {
    let (short, long) = ((1, 0x1804, 4, true), (2, 0x1000, 0x1000, false));
    let (other, longer) = ((1, 0x2004, 4, true), (1, 0x1ff0, 0x2000, true));
    check(&[short, long], &[0, 1], &[(0x1800, 0x1808)]);
    check(&[long, short], &[0, 1], &[(0x1804, 0x1808)]);
    check(&[long, other], &[], &[]);
    check(&[long, longer], &[0, 1], &[(0x1ff0, 0x2000)]);
    // Candidates that touched the bytes without a conflict are involved as well.
    assert_eq!(last(&[(2, 0x1800, 8, false), (2, 0x1900, 8, false), long, short]).candidates, [0, 2, 3]);
    assert_eq!(last(&[(1, u64::MAX - 7, 7, true), (2, 0x1000, u64::MAX, false)]).candidates, [0, 1]);
}

#[test]
fn freeing_a_block_conflicts_with_whatever_uses_it() {
    let conflict = |earlier: TouchKind, new: TouchKind| {
        let mut sharing = Sharing::default();
        sharing.created(thread(1), thread(0));
        sharing.created(thread(2), thread(0));
        sharing.touch_in(thread(1), None, 0x10..0x20, earlier);
        let found = sharing.touch_in(thread(2), Some(7), 0x18..0x1c, new);
        (!found.bytes.is_empty(), found.frees, found.candidates)
    };
    for other in [TouchKind::Reads, TouchKind::Writes, TouchKind::Uses, TouchKind::Frees] {
        assert_eq!(conflict(TouchKind::Frees, other), (true, true, vec![7]));
        assert_eq!(conflict(other, TouchKind::Frees), (true, true, vec![7]));
    }
    for other in [TouchKind::Reads, TouchKind::Writes, TouchKind::Uses] {
        assert_eq!(conflict(TouchKind::Uses, other), (false, false, vec![]));
        assert_eq!(conflict(other, TouchKind::Uses), (false, false, vec![]));
    }
    assert_eq!(conflict(TouchKind::Writes, TouchKind::Reads), (true, false, vec![7]));
}

#[test]
fn memory_that_is_gone_is_shared_with_nobody_who_gets_its_addresses_later() {
    let mut sharing = Sharing::default();
    sharing.created(thread(1), thread(0));
    sharing.created(thread(2), thread(0));
    sharing.touch(thread(1), 0, access(0x1008, 8, true));
    sharing.touch_in(thread(1), None, 0x1000..0x3000, TouchKind::Writes);
    sharing.touch(thread(1), 1, access(0x3000, 8, true));
    sharing.forget(&(0x1000..0x3000));
    assert!(sharing.touch(thread(2), 2, access(0x1008, 8, true)).bytes.is_empty());
    assert_eq!(sharing.touch(thread(2), 3, access(0x3000, 8, true)).candidates, [1, 3]);
    // Of little memory as well, where much else is known.
    sharing.touch(thread(1), 4, access(0x4000, 64, true));
    sharing.forget(&(0x4000..0x4008));
    assert!(sharing.touch(thread(2), 5, access(0x4000, 8, true)).bytes.is_empty());
    assert_eq!(sharing.touch(thread(2), 5, access(0x4008, 8, true)).candidates, [4, 5]);
}

#[test]
fn the_handler_of_a_timer_is_to_its_own_thread_as_another_one() {
    let (write, read) = (access(0x10, 4, true), access(0x10, 4, false));
    for (of_timer, conflicts) in [(true, true), (false, false)] {
        let mut sharing = Sharing::default();
        sharing.touch(thread(0), 0, write);
        sharing.begin_handler(thread(0), 0, of_timer);
        assert_eq!(!sharing.touch(thread(0), 1, read).bytes.is_empty(), conflicts);
        sharing.end_handler(thread(0));
        assert!(sharing.touch(thread(0), 2, read).bytes.is_empty());
        assert_eq!(!sharing.touch(thread(0), 3, write).bytes.is_empty(), conflicts);
    }
}

#[test]
fn a_thread_is_after_all_that_it_has_joined() {
    let mut sharing = Sharing::default();
    assert!(sharing.is_after_all(thread(0)));
    sharing.created(thread(1), thread(0));
    sharing.created(thread(2), thread(0));
    sharing.joined(thread(0), thread(1));
    assert!(!sharing.is_after_all(thread(0)));
    sharing.joined(thread(0), thread(2));
    assert!(sharing.is_after_all(thread(0)) && !sharing.is_after_all(thread(1)));
}

#[test]
fn creation_and_join_order_accesses() {
    let write = access(0x10, 4, true);
    let read = access(0x10, 4, false);
    let mut sharing = Sharing::default();
    assert!(sharing.touch(thread(0), 0, write).bytes.is_empty());
    sharing.created(thread(1), thread(0));
    assert!(sharing.touch(thread(1), 1, write).bytes.is_empty());
    let mut unordered = Sharing::default();
    unordered.created(thread(1), thread(0));
    unordered.touch(thread(1), 1, write);
    assert!(!unordered.touch(thread(0), 2, read).bytes.is_empty());
    sharing.joined(thread(0), thread(1));
    assert!(sharing.touch(thread(0), 2, read).bytes.is_empty());
}

/// Events of main and two threads on one object.
#[derive(Default)]
struct Events {
    counts: [u32; 3],
}

impl Events {
    fn next(&mut self, place: u16, kind: OpKind) -> Event {
        let op = Op::new(kind, [Access::write(Obj { name: ObjName(1), offset: 0, len: 1 })]);
        let count = &mut self.counts[place as usize];
        let id = EventId { thread: name(place), index: *count };
        *count += 1;
        Event {
            id,
            did: op.may.clone(),
            op,
            outcome: OpOutcome::Only,
            site: Site(0),
            woken_by: None,
            timing: None,
        }
    }

    fn create_two(&mut self, sharing: &mut Sharing) {
        for place in 1..3 {
            sharing.happened(&self.next(0, OpKind::Create));
            sharing.created(thread(place.into()), thread(0));
            sharing.named(name(place), name(0));
        }
    }
}

fn name(place: u16) -> ThreadName {
    if place == 0 { ThreadName::MAIN } else { ThreadName::MAIN.child(place).unwrap() }
}

#[test]
fn where_events_order_accesses_they_share_nothing() {
    let mut events = Events::default();
    let mut sharing = Sharing::default();
    sharing.judge_by_events();
    events.create_two(&mut sharing);
    let (write, read) = (access(0x10, 4, true), access(0x10, 4, false));
    // One thread writes and unlocks, the other one locks and reads.
    assert!(sharing.touch(thread(1), 0, write).bytes.is_empty());
    sharing.happened(&events.next(1, OpKind::Unlock));
    sharing.happened(&events.next(2, OpKind::Lock));
    let ordered = sharing.touch(thread(2), 1, read);
    assert!(ordered.bytes.is_empty() && ordered.handed_over);
    assert!(sharing.repeats(thread(2), 1, read) && !sharing.repeats(thread(2), 2, read));
    // An access after the unlock is not in order.
    assert!(!sharing.touch(thread(1), 2, write).bytes.is_empty());
    // A freed block is shared with any thread that uses it, in order or not.
    let block = 0x100..0x110;
    assert!(sharing.touch_in(thread(1), None, block.clone(), TouchKind::Writes).bytes.is_empty());
    sharing.happened(&events.next(1, OpKind::Unlock));
    sharing.happened(&events.next(2, OpKind::Lock));
    assert!(sharing.touch_in(thread(2), None, block.clone(), TouchKind::Frees).bytes.is_empty());
    sharing.happened(&events.next(2, OpKind::Unlock));
    sharing.happened(&events.next(1, OpKind::Lock));
    assert!(!sharing.touch_in(thread(1), None, block, TouchKind::Reads).bytes.is_empty());
}

#[test]
fn uses_that_are_not_seen_are_none_that_threads_share_where_events_order_them() {
    let (bytes, write) = (0x10..0x20, access(0x10, 4, true));
    let uses = |unwatched_use: UseDuration, unlocks: bool, orders: bool| {
        let (mut events, mut sharing) = (Events::default(), Sharing::default());
        if orders {
            sharing.order_uses();
        }
        events.create_two(&mut sharing);
        sharing.use_unseen(thread(1), bytes.clone(), (TouchKind::Writes, unwatched_use));
        if unlocks {
            sharing.happened(&events.next(1, OpKind::Unlock));
        }
        sharing.happened(&events.next(2, OpKind::Lock));
        let seen = sharing.touch(thread(2), 0, write);
        let other = sharing.use_unseen(thread(2), bytes.clone(), (TouchKind::Writes, unwatched_use));
        assert_eq!(seen.unwatched_use, !seen.bytes.is_empty());
        [seen, other].map(|conflict| conflict.bytes.is_empty())
    };
    assert_eq!(uses(UseDuration::Call, true, true), [true; 2]);
    assert_eq!(uses(UseDuration::Call, false, true), [false; 2]);
    assert_eq!(uses(UseDuration::Call, true, false), [false; 2]);
    assert_eq!(uses(UseDuration::Lasting, true, true), [false; 2]);
    // Accesses that are seen are shared, in order or not.
    let (mut events, mut sharing) = (Events::default(), Sharing::default());
    sharing.order_uses();
    events.create_two(&mut sharing);
    sharing.touch(thread(1), 0, write);
    sharing.happened(&events.next(1, OpKind::Unlock));
    sharing.happened(&events.next(2, OpKind::Lock));
    let conflict = sharing.touch(thread(2), 1, write);
    assert!(!conflict.bytes.is_empty() && !conflict.unwatched_use);
}

#[test]
fn calls_that_print_share_nothing_and_others_look_at_what_they_use() {
    for (first, second, looks) in [
        (TouchKind::Prints, TouchKind::Prints, false),
        (TouchKind::Prints, TouchKind::Reads, true),
        (TouchKind::Frees, TouchKind::Prints, true),
    ] {
        let (mut events, mut sharing) = (Events::default(), Sharing::default());
        events.create_two(&mut sharing);
        sharing.touch_in(thread(1), None, 0x10..0x18, first);
        let conflict = sharing.touch_in(thread(2), None, 0x10..0x12, second);
        assert!(conflict.bytes.is_empty(), "{first:?} {second:?}");
        assert_eq!(sharing.looks_at_outputs, looks, "{first:?} {second:?}");
    }
}

#[test]
fn what_only_time_orders_is_shared() {
    let slept = |id: EventId, after: &[EventId]| {
        let op = Op::new(OpKind::Sleep, []);
        let timing = Box::new(Timing { after: after.iter().copied().collect(), ..Timing::default() });
        Event {
            id,
            did: op.may.clone(),
            op,
            outcome: OpOutcome::Only,
            site: Site(0),
            woken_by: None,
            timing: Some(timing),
        }
    };
    let mut sharing = Sharing::default();
    sharing.judge_by_events();
    for place in 1..3 {
        sharing.created(thread(place.into()), thread(0));
        sharing.named(name(place), ThreadName::MAIN);
    }
    assert!(sharing.touch(thread(1), 0, access(0x10, 4, true)).bytes.is_empty());
    let early = EventId { thread: name(1), index: 0 };
    sharing.happened(&slept(early, &[]));
    sharing.happened(&slept(EventId { thread: name(2), index: 0 }, &[early]));
    assert!(!sharing.touch(thread(2), 1, access(0x10, 4, false)).bytes.is_empty());
}
