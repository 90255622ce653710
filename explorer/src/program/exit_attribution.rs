//! A launched program that knows, when an execution has ended with an exit code, which line made it do so: a failed
//! expectation of a test, or where `main` or a test returned. So two of them are two failures, and one is one in every schedule.

use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

use checker::failure::{Failure, Line};
use checker::names::{Obj, Site};
use checker::object_description::ObjectDescription;
use checker::program::{Choice, Epoch, ExecutionSummary, OpKey, Program, Scope, StartError};
use checker::trace::Trace;
use delegate::delegate;
use ptrace_backend::debuginfo::is_user_file;
use ptrace_backend::{PtraceExecution, PtraceProgram};

use crate::narrate::finding::ended_with_code;
use crate::program::fresh_dir::Fresh;
use crate::program::launch::{Launched, restore};
use crate::program::return_line::Body;
use crate::program::test_output::failed_expectation;

/// The program, and what tells where it returned.
pub(crate) struct ExitAttribution<'a> {
    launched: &'a Launched,
    fresh: Fresh<'a, PtraceProgram>,
    arguments: &'a [OsString],
    body: OnceLock<Body>,
}

impl<'a> ExitAttribution<'a> {
    /// `arguments` are those of the program.
    pub(crate) fn new(launched: &'a Launched, arguments: &'a [OsString]) -> Self {
        let fresh = Fresh::new(&launched.program, launched.fresh.as_ref());
        Self { launched, fresh, arguments, body: OnceLock::new() }
    }

    /// The line with which `main` or the test ended, and how many executions it took to find it.
    fn return_line(&self, failure: &Failure, trace: &Trace) -> (Option<Line>, u64) {
        let program = &self.launched.program;
        let is_harness = failure.thread.is_some() && failure.thread == program.harness();
        if !is_harness && failure.stack.iter().any(|&site| self.is_own(site)) {
            // The stack tells.
            return (None, 0);
        }
        let mut schedule: Vec<(Choice, OpKey)> = trace.schedule();
        if !is_harness {
            // Events of other threads after the failing thread's last one do not matter.
            let last = trace.steps.iter().rposition(|step| Some(step.event.id.thread) == failure.thread);
            schedule.truncate(last.map_or(0, |last| last + 1));
        }
        let body = self.body.get_or_init(|| Body::of(program, self.arguments));
        let (visit, executions) =
            body.last_visit(program, &schedule, &|| restore(self.launched.fresh.as_ref()));
        (visit.and_then(|visit| line(body.frame(&visit)?)), executions)
    }

    fn is_own(&self, site: Site) -> bool {
        let is_users = |file: &Path| file.is_absolute() && is_user_file(file);
        let frames = self.launched.program.locate(site);
        frames.iter().any(|frame| frame.file.as_deref().is_some_and(is_users))
    }
}

fn line(frame: &crate::program::source::Frame) -> Option<Line> {
    let function = Some(frame.function.clone());
    Some(Line { file: frame.file.clone()?, line: frame.line?, function })
}

impl Program for ExitAttribution<'_> {
    type Run = PtraceExecution;

    delegate! {
        to self.fresh {
            fn start(&self, scope: &Scope) -> Result<Self::Run, StartError>;
            fn epoch(&self) -> Epoch;
            fn describe(&self, obj: Obj) -> Option<ObjectDescription>;
            fn is_reference_count(&self, obj: Obj) -> bool;
            fn needs_audit(&self, trace: &Trace) -> bool;
        }
    }

    fn attribute(&self, failure: &mut Failure, trace: &Trace, summary: &ExecutionSummary) -> u64 {
        if !ended_with_code(failure) {
            return 0;
        }
        if let Some(failed) = failed_expectation(&summary.stdout) {
            failure.line = Some(Line { file: failed.file, line: failed.line, function: None });
            return 0;
        }
        let (line, executions) = self.return_line(failure, trace);
        failure.line = line;
        executions
    }
}
