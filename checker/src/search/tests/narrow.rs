//! Executions with few key points are what the same guides do with all of them.

use proptest::prelude::proptest;

use super::brute_force::against_oracle;
use super::*;
use crate::cache::Cache;
use crate::event::names::{Obj, Site, ThreadName};
use crate::event::operation::OpKind;
use crate::execution::{Limits, RunOutcome, Runner};
use crate::program::Scope;
use crate::search::tests::brute_force::generated::generated;
use crate::strategy::{Bounds, Next, Notes, PctVb, Sampler, Strategy, Vtb, WorkItem};
use crate::trace::Trace;

/// An event as an execution with few key points shows it: numbers of events differ.
type Seen = (ThreadName, OpKind, Site, Vec<Obj>);

/// The events that a scope does not leave out.
fn seen(trace: &Trace, scope: &Scope) -> Vec<Seen> {
    let events = trace.steps.iter().map(|step| &step.event).filter(|event| !scope.leaves_out(&event.op));
    let objects = |event: &crate::event::recorded::TraceEvent| {
        event.did.accesses.iter().map(|access| access.obj).collect()
    };
    events.map(|event| (event.id.thread, event.op.kind, event.site, objects(event))).collect()
}

fn run(model: &Model, scope: &Scope, strategy: &dyn Strategy, item: &WorkItem) -> (RunOutcome, Trace, Notes) {
    let cache = Cache::new(None);
    let mut runner = Runner::new(model, Limits::of_events(3_000));
    let mut guide = strategy.guide(item, &cache);
    let end = runner.run_within(scope, &item.prefix, &mut *guide, &mut || StopRequest::Continue).unwrap();
    (end, runner.trace, guide.notes())
}

/// Runs so many items within their scopes and with all key points, and compares. Returns the number of executions of which the
/// scope left something out, and the number of these events.
fn compare(text: &str, strategy: &mut dyn Strategy, items: u32) -> (u32, usize) {
    let model = model(text);
    let cache = Cache::new(None);
    let mut left_out = (0, 0);
    for _ in 0..items {
        let Next::Work(item) = strategy.next(&cache) else { break };
        let scope = strategy.guide(&item, &cache).scope();
        let (end, narrow, notes) = run(&model, &scope, strategy, &item);
        let (wide_end, wide, _) = run(&model, &Scope::All, strategy, &item);
        let knows = |objects: &crate::event::ranges::byte_set::ByteSet| {
            narrow.spun_on.iter().all(|&location| objects.overlap(location))
        };
        if let Scope::Objects(objects) = &scope
            && knows(objects)
            && !matches!(wide_end, RunOutcome::LimitExceeded(..))
        {
            assert_eq!(seen(&narrow, &scope), seen(&wide, &scope), "{text} {scope:?}");
            assert_eq!(end, wide_end, "{text} {scope:?}");
            let (again, same, _) = run(&model, &scope, strategy, &item);
            assert_eq!((again, same.first_difference(&narrow)), (end, None), "{text}");
            left_out.0 += u32::from(narrow.steps.len() < wide.steps.len());
            left_out.1 += wide.steps.len() - narrow.steps.len();
        }
        strategy.learn(&item, &narrow, notes, &cache);
    }
    left_out
}

fn pctvb(variables: u32) -> Sampler<PctVb> {
    Sampler::new(PctVb::new(3, variables), 1)
}

fn vtb(preemptions: u32) -> Vtb {
    Vtb::new(Bounds { preemptions, variables: 2, threads: 2 }, 1)
}

proptest! {
    #![proptest_config(generated(64))]

    #[test]
    fn pctvb_does_the_same_whatever_it_leaves_out(text in against_oracle::program()) {
        for variables in 0..=2 {
            compare(&text, &mut pctvb(variables), 40);
        }
    }

    #[test]
    fn vtb_does_the_same_whatever_it_leaves_out(text in against_oracle::program()) {
        for preemptions in 1..=2 {
            compare(&text, &mut vtb(preemptions), 200);
        }
    }
}

#[test]
fn accesses_of_other_variables_are_left_out() {
    // Each thread's first access stays.
    let text = "loop 10 { w a, w b } | loop 10 { w b, w a }";
    let (executions, events) = compare(text, &mut pctvb(1), 100);
    assert_eq!((executions, events), (90, 90 * 19));
}
