//! Schedule of a failing execution, for a person who looks at single lines: the thread that runs where, and the one that
//! was stopped there.

use std::path::Path;

use explorer::narrate::sentences::third_person::third_person;
use explorer::report::{EventLine, Finding, OpKind, Party, Role, Why};

use super::spot::Spot;

/// A change of thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    /// From 1.
    pub(crate) number: usize,
    /// The thread that runs from here on.
    pub(crate) thread: String,
    /// Its first operation: `T2 writes …`.
    pub(crate) text: String,
    /// Place of that.
    pub(crate) at: Option<Spot>,
    pub(crate) why: Why,
}

/// A preemption.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Preemption {
    /// From 1.
    pub(crate) number: usize,
    /// The thread that runs instead.
    pub(crate) thread: String,
    /// The event, as a sentence without its end.
    pub(crate) reason: String,
    /// The place at which the thread was stopped that could have gone on.
    pub(crate) at: Option<Spot>,
    /// All threads at that moment.
    pub(crate) states: Vec<ThreadState>,
}

/// A thread at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ThreadState {
    pub(crate) thread: String,
    /// The rest of a sentence that begins with its name.
    pub(crate) doing: String,
    pub(crate) at: Option<Spot>,
}

/// A finding whose events are still there.
pub(super) struct RecordedFinding<'a> {
    finding: &'a Finding,
    root: &'a Path,
}

impl<'a> RecordedFinding<'a> {
    pub(super) fn of(finding: &'a Finding, root: &'a Path) -> Self {
        Self { finding, root }
    }

    fn events(&self) -> &'a [EventLine] {
        &self.finding.events
    }

    /// The switches and the preemptions before an event that are not listed.
    fn left_out_before(&self, event: &EventLine) -> (usize, usize) {
        self.finding.left_out.map(|left_out| left_out.before(event.number)).unwrap_or_default()
    }

    pub(super) fn switches(&self) -> Vec<Step> {
        let switched = self.events().iter().filter_map(|event| Some((event, event.switch.as_ref()?)));
        switched
            .zip(1..)
            .map(|((event, switch), number)| Step {
                number: number + self.left_out_before(event).0,
                thread: event.thread.to_string(),
                text: format!("{} {}", event.thread, third_person(&event.text)),
                at: Spot::of(&event.place, self.root),
                why: switch.why,
            })
            .collect()
    }

    pub(super) fn preemptions(&self) -> Vec<Preemption> {
        let switched = self.events().iter().enumerate().filter_map(|(at, event)| {
            let switch = event.switch.as_ref().filter(|switch| switch.why == Why::Preempted)?;
            Some((at, event, switch))
        });
        switched
            .zip(1..)
            .map(|((at, event, switch), number)| Preemption {
                number: number + self.left_out_before(event).1,
                thread: event.thread.to_string(),
                reason: format!("{}; {} runs instead", switch.reason, event.thread),
                at: self.stopped(&switch.from, at),
                states: self.states(at),
            })
            .collect()
    }

    /// The place of a thread before an event: that of its next event, else the place where it ends up.
    fn stopped(&self, thread: &str, before: usize) -> Option<Spot> {
        match self.next(thread, before) {
            Some(event) => Spot::of(&event.place, self.root),
            None => self.party(thread).and_then(|(_, at)| at),
        }
    }

    fn next(&self, thread: &str, from: usize) -> Option<&'a EventLine> {
        self.events()[from..].iter().find(|event| *event.thread == *thread)
    }

    /// A thread's state at the end, if it takes part in the failure, with its place.
    fn party(&self, thread: &str) -> Option<(&'a Party, Option<Spot>)> {
        let party = self.finding.parties.iter().find(|party| party.thread == thread)?;
        Some((party, party.stack.iter().find_map(|place| Spot::of(place, self.root))))
    }

    pub(super) fn end(&self) -> Vec<ThreadState> {
        self.states(self.events().len())
    }

    fn states(&self, before: usize) -> Vec<ThreadState> {
        self.finding.lanes.iter().map(|lane| self.state(&lane.thread, before)).collect()
    }

    fn state(&self, thread: &str, before: usize) -> ThreadState {
        let thread = thread.to_owned();
        if let Some(event) = self.next(&thread, before) {
            let has_run = self.events()[..before].iter().any(|event| *event.thread == thread);
            let doing = match has_run || thread == "T1" || self.is_created(&thread, before) {
                true => format!("is about to {}", event.text),
                false => "does not exist yet".to_owned(),
            };
            return ThreadState { at: Spot::of(&event.place, self.root), thread, doing };
        }
        match self.party(&thread) {
            // Those that were preempted on the way have run on since.
            Some((party, at)) if party.role != Role::Preempted => {
                ThreadState { thread, doing: party.doing.clone(), at }
            }
            _ => ThreadState { thread, doing: "has ended".to_owned(), at: None },
        }
    }

    /// Whether a thread has been created by then: the n-th one that another thread creates is its n-th child.
    fn is_created(&self, thread: &str, before: usize) -> bool {
        let lanes = &self.finding.lanes;
        let path = lanes.iter().find(|lane| lane.thread == thread).map(|lane| lane.path);
        let Some((&ordinal, parents)) = path.as_ref().and_then(|path| path.path().split_last()) else {
            return false;
        };
        let Some(parent) = lanes.iter().find(|lane| lane.path.path() == parents) else { return true };
        let creates =
            |event: &&EventLine| event.operation == OpKind::Create && *event.thread == *parent.thread;
        self.events()[..before].iter().filter(creates).count() >= usize::from(ordinal)
    }
}

#[cfg(test)]
mod tests {
    use explorer::report::LeftOut;
    use explorer::say::scramble;
    use serde_json::json;

    use super::*;

    /// Each event is `thread file-line text`, with `<T1` where T1 was preempted before.
    fn finding(root: &Path, events: &[&str], parties: &[(&str, &str, u32)]) -> Finding {
        std::fs::write(root.join("a.c"), "").unwrap();
        let event = |(number, words): (usize, &&str)| {
            let mut parts = words.splitn(3, ' ');
            let (thread, line) = (parts.next().unwrap(), parts.next().unwrap().parse::<u32>().unwrap());
            let (text, preempted) = match parts.next().unwrap().split_once(" <") {
                Some((text, preempted)) => (text, Some(preempted)),
                None => (words.splitn(3, ' ').nth(2).unwrap(), None),
            };
            let switch = preempted.map(
                |from| json!({ "from": from, "why": "preempted", "reason": format!("{from} is preempted") }),
            );
            let operation = if text.starts_with("create") { "create" } else { "read" };
            let mut event = json!({
                "number": number, "thread": thread, "operation": operation, "text": text,
                "file": "a.c", "line": line, "function": "f",
            });
            if let Some(switch) = switch {
                event["switch"] = switch;
            }
            event
        };
        let events: Vec<_> = events.iter().enumerate().map(event).collect();
        let parties: Vec<_> = parties
            .iter()
            .map(|(thread, doing, line)| {
                let place = json!({ "file": "a.c", "line": line, "function": "f" });
                json!({ "thread": thread, "doing": doing, "stack": [place] })
            })
            .collect();
        serde_json::from_value(json!({
            "kind": "assertion", "message": "m", "file": "a.c", "line": 9, "function": "f", "thread": "T1",
            "schedule_number": 1, "preemptions": 1, "fewest": true, "delays": null, "threads": null,
            "variables": null, "reproduced": "2/2", "schedule_file": null, "parties": parties,
            "lanes": [{ "thread": "T1", "path": "main" }, { "thread": "T2", "path": "main/1" }],
            "events": events, "output": { "stdout": "", "stderr": "", "truncated": false },
        }))
        .unwrap()
    }

    fn doing(states: &[ThreadState]) -> Vec<String> {
        states.iter().map(|state| format!("{} {}", state.thread, state.doing)).collect()
    }

    #[test]
    fn a_preempted_thread_stands_at_what_it_runs_next() {
        let root = tempfile::tempdir().unwrap();
        let events = ["T1 1 create T2", "T2 3 read `x` <T1", "T1 5 write `x`"];
        let finding = finding(root.path(), &events, &[("T1", "failed", 9)]);
        let told = RecordedFinding::of(&finding, root.path());
        let [preemption] = told.preemptions().try_into().unwrap();
        assert_eq!(preemption.at.unwrap().line, 4);
        assert_eq!(preemption.reason, "T1 is preempted; T2 runs instead");
        assert_eq!(doing(&preemption.states), ["T1 is about to write `x`", "T2 is about to read `x`"]);
        assert_eq!(doing(&told.end()), ["T1 failed", "T2 has ended"]);
        assert_eq!(told.switches()[0].text, "T2 reads `x`");
    }

    #[test]
    fn the_numbers_of_switches_count_those_that_are_not_listed() {
        let root = tempfile::tempdir().unwrap();
        let events = ["T1 1 create T2", "T2 3 read `x` <T1", "T1 5 write `x`", "T2 3 read `x` <T1"];
        let mut finding = finding(root.path(), &events, &[]);
        finding.left_out = Some(LeftOut { from: 2, to: 2, events: 900, switches: 7, preemptions: 5 });
        let told = RecordedFinding::of(&finding, root.path());
        assert_eq!(told.switches().iter().map(|step| step.number).collect::<Vec<_>>(), [1, 9]);
        assert_eq!(told.preemptions().iter().map(|it| it.number).collect::<Vec<_>>(), [1, 7]);
    }

    #[test]
    fn a_thread_that_never_runs_again_stands_where_it_ends_up() {
        let root = tempfile::tempdir().unwrap();
        let events = ["T1 1 create T2", "T2 3 lock `a` <T1"];
        let finding = finding(root.path(), &events, &[("T1", "waits for `a`, held by T2", 7)]);
        let told = RecordedFinding::of(&finding, root.path());
        assert_eq!(told.preemptions()[0].at.as_ref().unwrap().line, 6);
        assert_eq!(doing(&told.end())[0], "T1 waits for `a`, held by T2");
    }

    #[test]
    fn who_was_not_created_does_not_exist() {
        let root = tempfile::tempdir().unwrap();
        let events = ["T1 1 read `x`", "T1 2 create T2", "T2 3 read `x`"];
        let finding = finding(root.path(), &events, &[]);
        let told = RecordedFinding::of(&finding, root.path());
        assert_eq!(doing(&told.states(1)), ["T1 is about to create T2", "T2 does not exist yet"]);
        assert_eq!(doing(&told.states(2)), ["T1 has ended", "T2 is about to read `x`"]);
    }

    /// Threads and places are those of a finding whose sentences say nothing.
    #[test]
    fn nothing_is_read_from_a_sentence() {
        let root = tempfile::tempdir().unwrap();
        let events = ["T1 1 create T2", "T2 3 read `x` <T1", "T2 4 write `x`"];
        let parties = [("T1", "failed", 9), ("T2", "was preempted, about to write `x`", 4)];
        let finding = finding(root.path(), &events, &parties);
        let mut scrambled = finding.clone();
        scrambled.parties.iter_mut().for_each(|party| party.doing = scramble(&party.doing));
        let mut said = scrambled.events.to_vec();
        said.iter_mut().for_each(|event| event.text = scramble(&event.text).into());
        scrambled.events = said.into();
        let [told, other] = [&finding, &scrambled].map(|finding| RecordedFinding::of(finding, root.path()));
        let places = |states: Vec<ThreadState>| {
            states.into_iter().map(|state| (state.thread, state.at)).collect::<Vec<_>>()
        };
        for before in 0..=events.len() {
            assert_eq!(places(told.states(before)), places(other.states(before)));
        }
        let exists = |told: &RecordedFinding<'_>| doing(&told.states(0))[1].ends_with("does not exist yet");
        assert!(exists(&told) && exists(&other));
        assert_eq!(doing(&other.end())[1], "T2 has ended");
    }
}
