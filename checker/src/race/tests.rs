//! The detector against the definition.

use std::collections::BTreeSet;

use proptest::prelude::{Just, Strategy as Generator, prop, prop_oneof, proptest};

use super::detector::synchronises;
use super::*;
use crate::account::HiddenAccess;
use crate::event::agent::{Choice, OpOutcome};
use crate::event::names::{EventId, Obj, ObjName, Site, ThreadName};
use crate::event::operation::{Access, Atomicity, Mode, Op, OpKind};
use crate::event::position::Position;
use crate::event::recorded::TraceEvent;
use crate::event::step::Event;
use crate::model::Model;
use crate::search::tests::brute_force::against_oracle::program;
use crate::search::tests::brute_force::generated::generated;
use crate::search::{Options, sample};
use crate::strategy::StrategyKind;
use crate::trace::{Moment, Previous, Reason, Trace, TraceStep};

/// A pair of accesses that race: each place, and whether the one that ran first is of the earlier thread.
type Pairs = BTreeSet<([AccessSite; 2], bool)>;

/// The races of an execution, with nothing but the definition: any two plain accesses of a byte that is no synchronisation
/// variable, one of them a write, of which the first is not before the second in the transitive closure of what orders.
fn by_definition(trace: &Trace) -> Pairs {
    let events: Vec<&TraceEvent> = trace.steps.iter().map(|step| &step.event).collect();
    let variables: BTreeSet<(ObjName, u32)> = events
        .iter()
        .filter(|event| synchronises(event))
        .flat_map(|event| event.did.accesses.iter().map(|access| access.obj))
        .chain(trace.spun_on.iter().copied())
        .flat_map(bytes)
        .collect();
    let is_variable = |obj| bytes(obj).all(|byte| variables.contains(&byte));
    let is_order = |event: &TraceEvent, access: &Access| synchronises(event) || is_variable(access.obj);
    let orders = |a: &TraceEvent, b: &TraceEvent| {
        a.id.thread == b.id.thread
            || a.did.ends_process
            || b.did.ends_process
            || (a.op.kind == OpKind::Create && a.op.peer == Some(b.id.thread))
            || (b.op.kind == OpKind::Join && b.op.peer == Some(a.id.thread))
            || b.woken_by() == Some(a.id)
            || a.did.accesses.iter().filter(|access| is_order(a, access)).any(|one| {
                b.did
                    .accesses
                    .iter()
                    .filter(|access| is_order(b, access))
                    .any(|other| one.obj.overlaps(&other.obj) && one.mode.conflicts(other.mode))
            })
    };
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    for (later, b) in events.iter().enumerate() {
        let direct = (0..later).filter(|&earlier| orders(events[earlier], b));
        let all = direct.flat_map(|earlier| before[earlier].iter().copied().chain([earlier])).collect();
        before.push(all);
    }
    let plain = |event: &TraceEvent| -> Vec<(bool, BTreeSet<(ObjName, u32)>)> {
        let plain = event.did.accesses.iter().filter(|access| !is_order(event, access));
        plain
            .map(|access| {
                let touched = bytes(access.obj).filter(|byte| !variables.contains(byte)).collect();
                (access.mode == Mode::Write, touched)
            })
            .collect()
    };
    let position = |thread| trace.threads.iter().position(|known| *known == thread);
    let mut pairs = Pairs::new();
    for (later, b) in events.iter().enumerate() {
        for a in (0..later).filter(|earlier| !before[later].contains(earlier)).map(|earlier| events[earlier])
        {
            for (writes_a, bytes_a) in plain(a) {
                for (writes_b, bytes_b) in plain(b) {
                    if (writes_a || writes_b) && !bytes_a.is_disjoint(&bytes_b) {
                        let places = [
                            AccessSite { site: a.site, writes: writes_a },
                            AccessSite { site: b.site, writes: writes_b },
                        ];
                        let forth = places[0] != places[1] || position(a.id.thread) < position(b.id.thread);
                        pairs.insert((places, forth));
                    }
                }
            }
        }
    }
    pairs
}

fn bytes(obj: Obj) -> impl Iterator<Item = (ObjName, u32)> {
    (obj.offset..obj.offset + obj.len).map(move |byte| (obj.name, byte))
}

fn detected(detector: &mut Detector, trace: &Trace) -> Pairs {
    let position = |at: Position| {
        let thread = trace.steps[at].event.id.thread;
        trace.threads.iter().position(|known| *known == thread)
    };
    let races = detector.races(trace);
    let found: Pairs = races
        .iter()
        .map(|Race { places, events: [a, b], .. }| {
            (*places, places[0] != places[1] || position(*a) < position(*b))
        })
        .collect();
    assert_eq!(found.len(), races.len(), "each once");
    found
}

fn check(trace: &Trace) -> usize {
    let mut detector = Detector::default();
    detector.learn(trace);
    let expected = by_definition(trace);
    assert_eq!(detected(&mut detector, trace), expected, "{:#?}", trace.steps);
    expected.len()
}

/// Every execution of a program, or so many of it; returns the number of pairs that raced in all.
fn check_program(text: &str, runs: u64) -> usize {
    let model: Model = text.parse().unwrap();
    let (mut strategy, _) = StrategyKind::Dfs.plan(&Options::default());
    let mut raced = 0;
    sample(&model, &mut *strategy, runs, 200, &mut |trace, _| raced += check(trace)).unwrap();
    raced
}

#[derive(Clone, Copy, Debug)]
enum Doing {
    Plain(Mode),
    Atomic(Mode),
    Lock,
    Wake,
}

fn trace(events: &[(usize, Doing, u32, u32, u64)]) -> Trace {
    let threads: Vec<ThreadName> =
        (0..3).map(|nth| ThreadName::MAIN.child(nth).unwrap_or(ThreadName::MAIN)).collect();
    let mut trace = Trace::default();
    trace.threads.clone_from(&threads);
    threads.iter().for_each(|&thread| trace.hb.add_thread(thread, None));
    let mut counts = [0; 3];
    let mut last = None;
    for &(thread, doing, offset, len, site) in events {
        let obj = Obj { name: ObjName(7), offset, len };
        let lock = Obj { name: ObjName(8), offset: 0, len: 1 };
        let access = |mode| Access { obj, mode };
        let kind = |mode| if mode == Mode::Write { OpKind::Write } else { OpKind::Read };
        let op = match doing {
            Doing::Plain(mode) => Op::new(kind(mode), [access(mode)]),
            Doing::Atomic(mode) => Op { atomicity: Atomicity::Atomic, ..Op::new(kind(mode), [access(mode)]) },
            Doing::Lock => Op::new(OpKind::Lock, [Access::write(lock)]),
            Doing::Wake => Op::new(OpKind::FutexResume, []),
        };
        let id = EventId { thread: threads[thread], index: counts[thread] };
        counts[thread] += 1;
        let woken_by = last.filter(|_| matches!(doing, Doing::Wake));
        last = Some(id);
        let event = TraceEvent::from(Event {
            id,
            did: op.may.clone(),
            op,
            outcome: OpOutcome::Only,
            site: Site(site),
            woken_by,
            timing: None,
        });
        let choice = Choice::thread(id.thread);
        let moment =
            Moment { choice, reason: Reason::First, last: Previous::Nobody, choices: [choice].into() };
        trace.steps.push(TraceStep::new(event, moment.into(), (0, 0), false));
    }
    trace
}

fn events() -> impl Generator<Value = Vec<(usize, Doing, u32, u32, u64)>> {
    let mode = || prop_oneof![Just(Mode::Read), Just(Mode::Write)];
    let doing = prop_oneof![
        6 => mode().prop_map(Doing::Plain),
        1 => mode().prop_map(Doing::Atomic),
        2 => Just(Doing::Lock),
        1 => Just(Doing::Wake)
    ];
    prop::collection::vec((0..3_usize, doing, 0..12_u32, 1..6_u32, 0..5_u64), 1..30)
}

proptest! {
    #![proptest_config(generated(64))]

    #[test]
    fn exactly_the_unordered_pairs_of_random_programs_race(text in program()) {
        check_program(&text, 300);
    }

    #[test]
    fn exactly_the_unordered_pairs_of_random_executions_race(events in events()) {
        check(&trace(&events));
    }
}

#[test]
fn what_synchronisation_orders_does_not_race() {
    for (text, expected) in [
        ("w x | w x", 2),
        ("w x | r x", 2),
        ("r x | r x", 0),
        ("add x | r x", 0),
        ("lock m, w x, unlock m | lock m, w x, unlock m", 0),
        ("w x, up s | down s, r x", 0),
        ("w x, signal c | r x", 3),
        ("bar b 2, w x | w x, bar b 2", 0),
        ("T1: w x, create T2, join T2, r x | T2: w x", 0),
        ("T1: create T2, w x | T2: r x", 2),
        ("w x, add f | await f, r x", 0),
    ] {
        assert_eq!(check_program(text, u64::MAX), expected, "{text}");
    }
}

#[test]
fn the_bytes_of_a_wide_access_that_synchronise_do_not_race() {
    let (write, read) = (Doing::Plain(Mode::Write), Doing::Plain(Mode::Read));
    let atomic = Doing::Atomic(Mode::Write);
    // A thread that clears the whole structure races with the rest of it, and neither races nor synchronises with its atomic
    // part.
    assert_eq!(check(&trace(&[(0, atomic, 4, 4, 1), (1, write, 0, 8, 2)])), 0);
    assert_eq!(check(&trace(&[(0, read, 0, 4, 1), (0, atomic, 4, 4, 1), (1, write, 0, 8, 2)])), 1);
    // A plain access within a synchronisation variable synchronises.
    let released = [(0, write, 0, 4, 1), (0, atomic, 4, 4, 2), (1, read, 4, 4, 3), (1, write, 0, 4, 4)];
    assert_eq!(check(&trace(&released)), 0);
}

#[test]
fn a_synchronisation_variable_of_one_execution_is_one_in_all() {
    let (write, read) = (Doing::Plain(Mode::Write), Doing::Plain(Mode::Read));
    let plain = trace(&[(0, write, 0, 4, 1), (1, read, 0, 4, 2)]);
    let atomic = trace(&[(0, Doing::Atomic(Mode::Read), 0, 4, 3)]);
    let mut pairs = super::Pairs::default();
    pairs.take(&plain, Some(false));
    assert!(!pairs.is_empty());
    pairs.take(&atomic, Some(false));
    assert!(pairs.is_empty() && pairs.into_found().is_empty());
}

#[test]
fn a_pair_of_locations_is_reported_once() {
    let (write, read) = (Doing::Plain(Mode::Write), Doing::Plain(Mode::Read));
    let mut pairs = super::Pairs::default();
    pairs.take(&trace(&[(0, write, 0, 4, 1), (1, read, 0, 4, 2), (2, read, 0, 4, 2)]), Some(false));
    pairs.take(&trace(&[(1, read, 0, 4, 2), (0, write, 0, 4, 1), (0, write, 8, 4, 1)]), Some(true));
    let found = pairs.into_found();
    let [pair] = &found[..] else { panic!("{found:?}") };
    assert_eq!(pair.locations(), [Site(1), Site(2)]);
    assert_eq!(pair.race.events.map(Position::count), [0, 1]);
    let place = |site, writes| AccessSite { site: Site(site), writes };
    let order = [place(2, false), place(1, true)];
    assert_eq!(pair.harm, Some(HarmfulOrder { order, both: false, failed: 1, others: (1, 1) }));
}

#[test]
fn an_order_that_also_passes_is_not_harmful() {
    let (write, read) = (Doing::Plain(Mode::Write), Doing::Plain(Mode::Read));
    let forth = trace(&[(0, write, 0, 4, 1), (1, read, 0, 4, 2)]);
    let back = trace(&[(1, read, 0, 4, 2), (0, write, 0, 4, 1)]);
    let harm = |executions: &[(&Trace, Option<bool>)]| {
        let mut pairs = super::Pairs::default();
        for (trace, failed) in executions {
            pairs.take(trace, *failed);
        }
        pairs.into_found()[0].harm.is_some()
    };
    assert!(harm(&[(&forth, Some(false)), (&back, Some(true))]));
    assert!(!harm(&[(&forth, Some(false)), (&back, Some(true)), (&back, Some(false))]), "it passes as well");
    assert!(!harm(&[(&back, Some(true))]), "the other order was not run");
    assert!(!harm(&[(&forth, Some(true)), (&back, Some(true))]), "it fails in any order");
    assert!(!harm(&[(&forth, Some(false)), (&back, None)]), "how it ended is not known");
}

/// The race between a write and a read of other threads in this execution, with accesses of libraries in between: the number of
/// events before each one, the thread, the mode, the offset.
fn races_with(trace: &Trace, hidden: &[(usize, usize, Mode, u32)]) -> bool {
    let mut pairs = super::Pairs::default();
    pairs.take(trace, Some(false));
    pairs.confirm(|trace, _| HiddenSynchronisation {
        hidden: Some(accesses(trace, hidden)),
        ..HiddenSynchronisation::default()
    });
    !pairs.is_empty()
}

fn accesses(trace: &Trace, hidden: &[(usize, usize, Mode, u32)]) -> Vec<HiddenAccess> {
    let access = |&(events, thread, mode, offset): &(usize, usize, Mode, u32)| HiddenAccess {
        after: Position::after(events),
        thread: trace.threads[thread],
        access: Access { obj: Obj { name: ObjName(7), offset, len: 4 }, mode },
        indivisible: false,
    };
    hidden.iter().map(access).collect()
}

#[test]
fn what_libraries_publish_by_plain_accesses_orders() {
    use Mode::{Read, Write};
    let (write, read) = (Doing::Plain(Write), Doing::Plain(Read));
    let data = [(0, write, 0, 4, 1), (1, read, 0, 4, 2)];
    assert!(races_with(&trace(&data), &[]));
    assert!(!races_with(&trace(&data), &[(1, 0, Write, 8), (1, 1, Read, 8)]));
    assert!(races_with(&trace(&data), &[(1, 1, Read, 8), (1, 0, Write, 8)]), "it came too early");
    assert!(races_with(&trace(&data), &[(1, 0, Read, 8), (1, 1, Read, 8)]), "nobody stores");
    assert!(races_with(&trace(&data), &[(1, 0, Write, 8), (1, 1, Read, 12)]), "another word");
    // The library reads and writes the data itself, which does not become synchronisation by that.
    assert!(races_with(&trace(&data), &[(0, 0, Read, 0), (1, 1, Read, 0), (2, 1, Write, 0)]));
    // The program looks at the library's word itself, as macros of its headers do.
    let looks = [(0, write, 0, 4, 1), (1, read, 8, 4, 3), (1, read, 0, 4, 2)];
    assert!(!races_with(&trace(&looks), &[(1, 0, Write, 8)]));
    assert!(races_with(&trace(&looks), &[(2, 0, Write, 8)]));
    // The program's own stores there are data like all other.
    let stores = [(0, write, 0, 4, 1), (0, write, 8, 4, 4), (1, read, 8, 4, 3), (1, read, 0, 4, 2)];
    assert!(races_with(&trace(&stores), &[(0, 2, Write, 8)]));
}

/// A library that is used by several threads at once, as it must not be, seems to order what they do; not where they stand side
/// by side.
#[test]
fn executions_in_which_accesses_stand_side_by_side_are_kept_before_others() {
    let (write, read) = (Doing::Plain(Mode::Write), Doing::Plain(Mode::Read));
    let apart = [(0, write, 0, 4, 1), (1, read, 16, 4, 3), (1, read, 0, 4, 2)];
    let beside = [(1, read, 16, 4, 3), (0, write, 0, 4, 1), (1, read, 0, 4, 2)];
    let hidden = [(1, 0, Mode::Write, 8), (2, 1, Mode::Read, 8)];
    for (last, expected) in [(apart, false), (beside, true)] {
        let mut pairs = super::Pairs::default();
        for events in std::iter::repeat_n(&apart, 6).chain([&last]) {
            pairs.take(&trace(events), Some(false));
        }
        pairs.confirm(|trace, _| HiddenSynchronisation {
            hidden: Some(accesses(trace, &hidden)),
            ..HiddenSynchronisation::default()
        });
        assert_eq!(!pairs.is_empty(), expected);
    }
}
