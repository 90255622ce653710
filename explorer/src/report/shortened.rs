//! Long executions as reports and stores have them: the beginning, and what comes before the failure.

use std::borrow::Cow;

use checker::operation::OpKind;
use rustc_hash::FxHashSet;

use crate::report::event::{EventLine, Why};
use crate::report::interned::Shared;
use crate::report::left_out::LeftOut;
use crate::report::{Finding, Report};

/// An execution of more events than these is shortened.
const LONG: usize = 10_000;

/// So many events of the beginning are listed.
const FIRST: usize = 500;

/// So many events of the end are listed, and so many before the event after which the failure shows.
const LAST: usize = 5_500;

impl Finding {
    /// The finding with executions that are short enough for a report.
    #[must_use]
    pub(crate) fn shortened(&self) -> Cow<'_, Self> {
        if !self.is_long() {
            return Cow::Borrowed(self);
        }
        let mut short = self.clone();
        let is_its = |event: &EventLine| self.thread.as_ref().is_none_or(|thread| *event.thread == *thread);
        let failing = self.events.iter().rposition(is_its).unwrap_or(0);
        shorten(&mut short.events, &mut short.left_out, failing);
        if let Some(pair) = short.explanation.as_mut().and_then(|explanation| explanation.pair.as_mut()) {
            let last = pair.passing.len().saturating_sub(1);
            shorten(&mut pair.passing, &mut pair.left_out, last);
        }
        Cow::Owned(short)
    }

    fn is_long(&self) -> bool {
        let pair = self.explanation.as_ref().and_then(|explanation| explanation.pair.as_ref());
        self.events.len() > LONG || pair.is_some_and(|pair| pair.passing.len() > LONG)
    }
}

impl Report {
    /// The report with executions that are short enough for one.
    #[must_use]
    pub(crate) fn shortened(&self) -> Cow<'_, Self> {
        let stalled = self.stalled.iter().flat_map(|stalled| &stalled.findings);
        if !self.findings.iter().chain(stalled).any(Finding::is_long) {
            return Cow::Borrowed(self);
        }
        let mut short = self.clone();
        let stalled = short.stalled.iter_mut().flat_map(|stalled| &mut stalled.findings);
        for finding in short.findings.iter_mut().chain(stalled) {
            *finding = finding.shortened().into_owned();
        }
        Cow::Owned(short)
    }
}

/// Leaves out the middle of a long execution that comes before the event at this place.
fn shorten(events: &mut Shared<Vec<EventLine>>, left_out: &mut Option<LeftOut>, place: usize) {
    let end = events.len().saturating_sub(LAST).min(place.saturating_sub(LAST));
    if events.len() <= LONG || end <= FIRST {
        return;
    }
    let middle = &events[FIRST..end];
    let mut seen = FxHashSet::default();
    let stays = |event: &&EventLine| seen.insert(event.thread.clone()) || event.operation == OpKind::Create;
    let stays: Vec<EventLine> = middle.iter().filter(stays).cloned().collect();
    let switches = middle.iter().filter_map(|event| event.switch.as_ref());
    let preemptions = switches.clone().filter(|switch| switch.why == Why::Preempted).count();
    *left_out = Some(LeftOut {
        from: events[FIRST].number,
        to: events[end - 1].number,
        events: (middle.len() - stays.len()) as u32,
        switches: switches.count() as u32,
        preemptions: preemptions as u32,
    });
    let stays = stays.into_iter().map(|event| EventLine { switch: None, ..event });
    let listed = events[..FIRST].iter().cloned().chain(stays).chain(events[end..].iter().cloned());
    *events = listed.collect::<Vec<_>>().into();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Location, Switch};

    fn event(number: u32, thread: &str, operation: OpKind) -> EventLine {
        let switch = (thread == "T2").then(|| {
            let (from, reason) = ("T1".to_owned(), String::new());
            Box::new(Switch { from, why: Why::Preempted, reason })
        });
        EventLine {
            number,
            thread: thread.to_owned().into(),
            operation,
            text: String::new().into(),
            place: Location::default().into(),
            switch,
        }
    }

    /// T1 runs all events but each hundredth one, which is one of T2, and creates a thread at each thousandth.
    fn execution(len: u32) -> Shared<Vec<EventLine>> {
        let event = |number: u32| match number {
            _ if number % 1_000 == 999 => event(number, "T1", OpKind::Create),
            _ if number % 100 == 50 => event(number, "T2", OpKind::Read),
            _ => event(number, "T1", OpKind::Write),
        };
        (0..len).map(event).collect::<Vec<_>>().into()
    }

    fn numbers(events: &[EventLine]) -> Vec<u32> {
        events.iter().map(|event| event.number).collect()
    }

    #[test]
    fn a_short_execution_is_listed_whole() {
        let (mut events, mut left_out) = (execution(LONG as u32), None);
        shorten(&mut events, &mut left_out, LONG - 1);
        assert_eq!((events.len(), left_out), (LONG, None));
    }

    #[test]
    fn the_middle_of_a_long_one_is_left_out_and_counted() {
        let (mut events, mut left_out) = (execution(20_000), None);
        shorten(&mut events, &mut left_out, 19_999);
        let told = left_out.unwrap();
        assert_eq!((told.from, told.to), (500, 14_498));
        // Of T1 the first one and fourteen that create threads, of T2 the first one.
        assert_eq!(told.events as usize, (14_499 - 500) - 16);
        assert_eq!(events.len() + told.events as usize, 20_000);
        assert_eq!((told.switches, told.preemptions), (140, 140));
        assert_eq!(numbers(&events[498..503]), [498, 499, 500, 550, 999]);
        assert_eq!(numbers(&events[516..518]), [14_499, 14_500]);
        let listed = events.iter().filter(|event| event.switch.is_some()).count();
        assert_eq!(listed + told.switches as usize, 200);
        assert_eq!((told.before(14_498), told.before(14_499)), ((0, 0), (140, 140)));
    }

    #[test]
    fn what_comes_before_the_failure_is_listed_where_others_run_on() {
        let (mut events, mut left_out) = (execution(20_000), None);
        shorten(&mut events, &mut left_out, 8_000);
        assert_eq!(left_out.map(|told| (told.from, told.to)), Some((500, 2_499)));
        let (mut events, mut left_out) = (execution(20_000), None);
        shorten(&mut events, &mut left_out, 3_000);
        assert_eq!((events.len(), left_out), (20_000, None));
    }
}
