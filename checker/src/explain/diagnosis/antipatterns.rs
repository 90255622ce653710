//! Courses of events that are known to go wrong: a wake-up that comes to nothing, a lock that was not had, a value that was
//! changed and changed back.
//!
//! Such a course says why an execution fails if every failing execution has it, and few that end well do, or if one of its
//! events is of the critical pair. It is known by its instructions, as patterns of accesses are.

use rustc_hash::{FxHashMap, FxHashSet};

use super::cause::{Cause, StolenWakeUp};
use super::condition_waits::{ConditionWait, SignalWakeup, is_in_vain, slept_on, waits};
use super::lock_state::held_after;
use crate::event::names::{Obj, Site};
use crate::event::operation::OpKind;
use crate::event::position::Position;
use crate::explain::evidence::Evidence;
use crate::explain::swap::{Second, Swap};
use crate::trace::queries::{ObservedAccess, looks, touches, writes, written};
use crate::trace::{Trace, TraceStep};

/// The least share of failing executions among those that have a course: one with less is no sign.
const CLEAR: f64 = 0.5;

/// A course of events.
struct Antipattern {
    cause: Cause,
    /// The object that it is about: executions that fail need have it of this alone, since other threads have other
    /// instructions.
    obj: Obj,
    /// The instructions that it is known by.
    key: [Site; 2],
    /// Its last event.
    at: Position,
}

/// Finds all courses of a kind in an execution.
type Find<'f> = &'f dyn Fn(&Trace) -> Vec<Antipattern>;

/// The first such course of the failing execution that tells it from others.
pub(super) fn cause(trace: &Trace, swap: Option<Swap>, evidence: &Evidence) -> Option<Cause> {
    let all = || std::iter::once(trace).chain(&evidence.failing).chain(&evidence.passing);
    let words = slept_on(all());
    let stolen = |trace: &Trace| stolen_wake_ups(trace, &words);
    let courses: [Find<'_>; 3] = [&failed_tries, &stolen, &changed_back];
    let sign = courses.into_iter().find_map(|find| telling(find, trace, swap, evidence))?;
    match sign.cause {
        Cause::FailedTry { attempt, lock, .. } => {
            let held = held_after(trace, attempt, lock);
            let held = held.first().map(|held| (held.thread, held.taken));
            Some(Cause::FailedTry { attempt, lock, held })
        }
        Cause::StolenWakeUp(_) if all().any(|other| waits_again(other, &words, &sign)) => None,
        cause => Some(cause),
    }
}

/// The first course of a kind that tells the failing execution from others.
fn telling(find: Find<'_>, trace: &Trace, swap: Option<Swap>, evidence: &Evidence) -> Option<Antipattern> {
    let signs = find(trace);
    if signs.is_empty() {
        return None;
    }
    let failing: Vec<FxHashSet<Obj>> =
        evidence.failing.iter().map(|other| find(other).iter().map(|sign| sign.obj).collect()).collect();
    let passing: Vec<FxHashSet<[Site; 2]>> =
        evidence.passing.iter().map(|other| find(other).iter().map(|sign| sign.key).collect()).collect();
    let tells = |sign: &Antipattern| {
        let passing = passing.iter().filter(|keys| keys.contains(&sign.key)).count();
        let share = (failing.len() + 1) as f64 / (failing.len() + 1 + passing) as f64;
        let is_of_pair =
            swap.is_some_and(|swap| swap.first == sign.at || swap.second == Second::Event(sign.at));
        failing.iter().all(|objs| objs.contains(&sign.obj)) && (share >= CLEAR || is_of_pair)
    };
    signs.into_iter().find(tells)
}

/// Locks that were not free, where the thread that tried did not come back to have them.
fn failed_tries(trace: &Trace) -> Vec<Antipattern> {
    let tries = |step: &TraceStep| {
        step.event.failed_try()?;
        step.event.did.accesses.first().map(|lock| lock.obj)
    };
    let sign = |(attempt, step): (Position, &TraceStep)| {
        let lock = tries(step)?;
        let own = |later: &&TraceStep| later.event.id.thread == step.event.id.thread;
        let mut later = trace.steps[attempt.next()..].iter().filter(own);
        let next = later.find(|later| touches(later, lock));
        let is_had = next.is_some_and(|next| next.event.op.kind.acquires().is_some());
        let cause = Cause::FailedTry { attempt, lock, held: None };
        (!is_had).then_some(Antipattern { cause, obj: lock, key: [step.event.site; 2], at: attempt })
    };
    trace.steps.enumerate().filter_map(sign).collect()
}

/// Wake-ups after which another thread wrote to what the thread had looked at before it waited, and the thread did not wait
/// again. Where it ever does, it looks again.
fn stolen_wake_ups(trace: &Trace, slept_on: &[Obj]) -> Vec<Antipattern> {
    let waits = waits(trace, slept_on);
    let sign = |wait: &ConditionWait| {
        let (thread, woken) = (wait.thread, wait.woken?);
        let SignalWakeup { condition, signal, at } = woken;
        let looks: Vec<Obj> = looks(trace, thread, wait.begins).map(|look| look.obj).collect();
        let write = written(trace, thread, (signal, at), &looks)?;
        if is_in_vain(trace, &waits, thread, woken) {
            return None;
        }
        let key = [wait.site, trace.steps[write.position].event.site];
        let stolen = StolenWakeUp { thread, condition, wait: wait.begins, signal, write };
        Some(Antipattern { cause: Cause::StolenWakeUp(stolen), obj: condition, key, at })
    };
    waits.iter().filter_map(sign).collect()
}

/// Whether a thread that waits here is ever woken in vain, and waits again: it looks again, then.
fn waits_again(trace: &Trace, slept_on: &[Obj], stolen: &Antipattern) -> bool {
    let waits = waits(trace, slept_on);
    let is_in_vain = |wait: &ConditionWait, woken: SignalWakeup| {
        woken.condition.overlaps(&stolen.obj) && is_in_vain(trace, &waits, wait.thread, woken)
    };
    let here = waits.iter().filter(|wait| wait.site == stolen.key[0]);
    here.into_iter().any(|wait| wait.woken.is_some_and(|woken| is_in_vain(wait, woken)))
}

/// Compare-and-swaps that succeeded although others had changed the variable, more than once, since the thread had read it. A
/// variable that threads spin on as on a lock is taken and given back, which is as it should be.
fn changed_back(trace: &Trace) -> Vec<Antipattern> {
    let mut found = Vec::new();
    let mut touched: FxHashMap<Obj, Vec<ObservedAccess>> = FxHashMap::default();
    for (position, step) in trace.steps.enumerate() {
        let event = &step.event;
        if !event.op.kind.is_access() {
            continue;
        }
        for access in &event.did.accesses {
            let now =
                ObservedAccess { thread: event.id.thread, writes: writes(access), obj: access.obj, position };
            let before = touched.entry(access.obj).or_default();
            let own = before.iter().rposition(|seen| seen.thread == now.thread);
            let is_swap = event.op.kind == OpKind::CompareExchange && now.writes;
            let is_lock = || trace.spun_on.iter().any(|spun| spun.overlaps(&now.obj));
            if let Some(own) = own.filter(|&own| is_swap && !before[own].writes && !is_lock()) {
                let changes: Vec<ObservedAccess> =
                    before[own + 1..].iter().copied().filter(|seen| seen.writes).collect();
                if let [first, .., last] = changes[..] {
                    let key = [trace.steps[before[own].position].event.site, event.site];
                    let cause = Cause::Aba([before[own], first, last, now]);
                    found.push(Antipattern { cause, obj: now.obj, key, at: position });
                }
            }
            before.push(now);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::tests::{explained, kind};
    use crate::search::Options;

    fn cause_of(text: &str) -> Cause {
        explained(text, &Options::default()).diagnosis.cause
    }

    fn is_told(text: &str, expected: &str) {
        let told = explained(text, &Options::default());
        assert_eq!(kind(&told.diagnosis), expected, "{text}: {:?}", told.diagnosis.cause);
    }

    const ADDS: &str = "r x, w x x+1";

    fn both(own: &str) -> String {
        format!("create T2, create T3, join T2, join T3, r x, assert x == 2 | T2: {own} | T3: {own}")
    }

    #[test]
    fn a_lock_that_was_tried_in_vain_is_told_where_the_thread_goes_on_without_it() {
        let text = both(&format!("trylock m, if m {{ {ADDS}, unlock m }}"));
        is_told(&text, "failed try");
        let Cause::FailedTry { held: Some((owner, taken)), .. } = cause_of(&text) else { panic!("{text}") };
        let steps = explained(&text, &Options::default()).finding.trace.steps;
        assert_eq!((steps[taken].event.id.thread, steps[taken].event.op.kind), (owner, OpKind::TryLock));
        is_told(
            &both(&format!("trydown s, if s {{ {ADDS}, up s }}")).replacen("create", "let s=1 | create", 1),
            "failed try",
        );
    }

    #[test]
    fn a_try_that_has_nothing_to_do_with_the_failure_is_not_to_blame() {
        // It waits for the lock then.
        is_told(&both(&format!("trylock m, if m == 0 {{ lock m }}, unlock m, {ADDS}")), "lost update");
        // It has no need of it.
        is_told(&both(&format!("trylock m, if m {{ unlock m }}, {ADDS}")), "lost update");
    }

    /// Main waits for one of two, which another thread may take.
    fn one_of_two(waits: &str) -> String {
        let gives = "lock m, r n, w n n+1, signal c, unlock m";
        format!(
            "create T2, create T3, lock m, r n, {waits}, assert n > 0, w n n-1, unlock m \
             | T2: lock m, r n, if n {{ w n n-1 }}, unlock m | T3: {gives}, {gives}"
        )
    }

    #[test]
    fn what_was_taken_from_who_was_woken_for_it_is_told() {
        let text = one_of_two("if n == 0 { wait c m, r n }");
        let Cause::StolenWakeUp(stolen) = cause_of(&text) else { panic!("{:?}", cause_of(&text)) };
        assert_eq!((stolen.thread.path(), stolen.write.thread.path()), (&[][..], &[1][..]));
        assert!(stolen.wait < stolen.signal && stolen.signal < stolen.write.position);
    }

    #[test]
    fn who_looks_again_is_not_said_to_go_on() {
        let right = one_of_two("while n == 0 { wait c m, r n }");
        assert!(crate::explain::tests::outcome(&right).findings.is_empty());
        let text =
            right.replacen("unlock m |", &format!("unlock m, {ADDS}, join T2, r x, assert x == 2 |"), 1);
        is_told(&text.replace("unlock m | T3", &format!("unlock m, {ADDS} | T3")), "lost update");
    }

    /// Code that is right for as long as `t` is what it was.
    const CHECKED: &str = "create T2, r t a, if a == 1 { r v p, cas t 1 5, if t { r v q, assert p == q } } ";

    #[test]
    fn a_compare_and_swap_that_does_not_see_two_changes_is_told() {
        let text = format!("let t=1 | {CHECKED} | T2: cas t 1 2, if t {{ w v 9, w t 1 }}");
        let Cause::Aba([read, change, back, swap]) = cause_of(&text) else { panic!("{:?}", cause_of(&text)) };
        assert_eq!([read, change, back, swap].map(|seen| seen.writes), [false, true, true, true]);
        assert_eq!([read.thread, change.thread], [swap.thread, back.thread]);
        assert!(
            read.position < change.position
                && change.position < back.position
                && back.position < swap.position
        );
    }

    #[test]
    fn a_lock_that_is_given_back_is_no_such_change() {
        let own = format!("await f f==0, cas f 0 1, if f {{ w f 0 }}, {ADDS}");
        is_told(&both(&own), "lost update");
    }
}
