//! The second search of a program whose threads wait for times: schedules in which a thread is stalled, which means that a
//! sleep or a timed wait of another thread ends before its next event although it could run. The search itself allows no
//! longer stalls than `--max-stall`. A failure that needs a longer one is a warning: a test that waits by a short sleep may
//! fail once a month, and a program that relies on a long one is correct on every machine that is not stopped meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use checker::limit::Limit;
use checker::program::{ExecutionSummary, Program};
use checker::search::{self, Options, SearchError, SearchOutcome};
use ptrace_backend::Stalls;

use crate::program::run_notes::Observed;
use crate::program::worker_pool::Replicable;
use crate::report::verdict::Verdict;
use crate::report::{Covered, Finding, Report, Stalled};
use crate::say::sentence;
use crate::store::findings::FindingWriter;
use crate::verbs::deadline::PendingWork;
use crate::verbs::search::execute::{in_order, is_complete};
use crate::verbs::search::session::{SearchFindings, SearchSession};
use crate::verbs::watch::{SearchObserver, Watch};

/// The longest stall that is looked for.
pub(crate) const LONGEST: Duration = Duration::from_millis(100);

/// Number of times that a search is run again with a shorter stall than the one that it has found.
const SHORTENED: u32 = 8;

/// The parts of a search that the second one goes on with.
pub(crate) struct SearchCarryover<'a, 'w> {
    /// Takes in how an execution ended.
    pub(crate) taken_in: &'a (dyn Fn(&ExecutionSummary) + Sync),
    pub(crate) writer: &'a mut FindingWriter<'w>,
    pub(crate) watch: &'a mut dyn Watch,
    /// Time at which the first search started, for the speed that is shown.
    pub(crate) started: Instant,
}

impl SearchSession<'_> {
    /// Whether a stall that the search did not allow, and that is looked for, would have let a time come earlier.
    pub(crate) fn may_stall(&self) -> bool {
        self.stalls.is_some_and(|stalls| is_worth_while(stalls))
    }

    /// The limit of a search that leaves some time for schedules with stalled threads, where there are such, and for
    /// judging what it has seen.
    pub(crate) fn limit_of_search(&self, is_to_judge: &Arc<AtomicBool>) -> Limit {
        let (stalls, is_to_judge) = (self.stalls.cloned(), Arc::clone(is_to_judge));
        self.deadline.limit_leaving(move |what| match what {
            PendingWork::Search => stalls.as_ref().is_some_and(|stalls| is_worth_while(stalls)),
            PendingWork::Judging => is_to_judge.load(Ordering::Relaxed),
        })
    }

    /// Explores the schedules in which threads are stalled, and adds what comes of it to the report of a search that has found
    /// nothing. A failure that needs no longer stall than the search allowed, in a schedule that it had not come to, is a finding as any
    /// other.
    pub(crate) fn explore_stalled<P: Program>(
        &self,
        program: &Observed<'_, P>,
        workers: Option<&impl Replicable>,
        report: &mut Report,
        mut carryover: SearchCarryover<'_, '_>,
    ) {
        let Some(stalls) = self.stalls.filter(|_| self.may_stall()) else { return };
        let mut made = SearchFindings::default();
        stalls.allow(LONGEST);
        let mut stalled = Stalled { max_stall_ns: nanoseconds(LONGEST), ..Stalled::default() };
        let mut search = |stalled: &mut Stalled| {
            let outcome = self.search_stalled(program, workers, (&mut made, &mut carryover));
            stalled.schedules += outcome.as_ref().map_or(0, |outcome| outcome.stats.executions_now());
            outcome
        };
        let mut outcome = match search(&mut stalled) {
            Ok(outcome) => outcome,
            Err(error) => {
                report.notes.push(sentence(error.to_string()));
                return;
            }
        };
        stalled.complete = is_complete(&outcome, self.request);
        stalled.covered = Covered { max_stall_ns: Some(stalled.max_stall_ns), ..outcome.covered.into() };
        for _ in 0..SHORTENED {
            let Some(stall) = stall(&outcome).filter(|stall| *stall > self.request.max_stall) else { break };
            stalls.allow(stall.saturating_sub(Duration::from_nanos(1)));
            match search(&mut stalled) {
                Ok(shorter) if !shorter.findings.is_empty() => outcome = shorter,
                rest => {
                    stalled.shortest = rest.is_ok_and(|rest| is_complete(&rest, self.request));
                    break;
                }
            }
        }
        stalls.allow(stall(&outcome).unwrap_or(LONGEST));
        let SearchCarryover { writer, watch, .. } = &mut carryover;
        self.explain_all(program, &mut outcome, (writer, &mut made), *watch);
        stalls.allow(self.request.max_stall);
        report.notes.extend(made.notes.iter().cloned().map(sentence));
        let found = in_order(&outcome, made.findings);
        let longest = nanoseconds(self.request.max_stall);
        let is_late = |found: &Finding| found.stall.as_ref().is_some_and(|stall| stall.nanoseconds > longest);
        let (late, found): (Vec<Finding>, Vec<Finding>) = found.into_iter().partition(is_late);
        if !found.is_empty() {
            report.verdict = Verdict::Found;
            report.findings.extend(found);
        }
        stalled.findings = late;
        report.stalled = Some(stalled);
    }

    fn search_stalled<P: Program>(
        &self,
        program: &Observed<'_, P>,
        workers: Option<&impl Replicable>,
        (made, carryover): (&mut SearchFindings, &mut SearchCarryover<'_, '_>),
    ) -> Result<SearchOutcome, SearchError> {
        let options = Options { races: false, lock_order: false, keep_going: false, ..self.options() };
        let mut keep = |found: &search::Finding| {
            let (mut told, file) = self.finding(program, found);
            made.findings.clear();
            made.keep(carryover.writer, &found.identity, &mut told, &file);
            told
        };
        let (started, watch) = (carryover.started, &mut *carryover.watch);
        let is_to_judge = &AtomicBool::new(false);
        let mut observer = SearchObserver { started, watch, keep: &mut keep, is_to_judge };
        self.search(program, workers, (&options, carryover.taken_in), &mut observer)
    }
}

/// In nanoseconds, or as many as a number holds.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn is_worth_while(stalls: &Stalls) -> bool {
    stalls.needed().is_some_and(|needed| needed <= LONGEST)
}

/// The stall of a thread in the failing schedule of a search that ends with its first finding.
fn stall(outcome: &SearchOutcome) -> Option<Duration> {
    let (_, stall) = outcome.findings.first()?.trace.stall()?;
    Some(Duration::from_nanos(stall.nanos))
}
