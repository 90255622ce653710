//! The progress of jobs, as the protocol has it: numbers in words, and no percentages.

use explorer::escaping::escaped_line;
use tower_lsp::ls_types::{
    NumberOrString, ProgressParams, ProgressParamsValue, ProgressToken, WorkDoneProgress,
    WorkDoneProgressBegin, WorkDoneProgressEnd, WorkDoneProgressReport,
};

use super::ServerContext;
use crate::explore::job::{Job, Jobs, Phase, Purpose};
use crate::outbox::{Message, Outbox};
use crate::show::words;

/// Asks the client to show a job; it is shown once the client agrees.
pub(super) fn show(context: &ServerContext, id: u64) {
    let (client, mailbox) = (context.client.clone(), context.mailbox.clone());
    context.runtime.spawn(async move {
        if client.create_work_done_progress(token(id)).await.is_ok() {
            mailbox.send(move |state| begin(&mut state.known.jobs, &state.context.outbox, id));
        }
    });
}

fn begin(jobs: &mut Jobs, outbox: &Outbox, id: u64) {
    let Some(job) = jobs.get_mut(id) else { return };
    job.is_shown = true;
    let begin = WorkDoneProgressBegin {
        title: match job.request.purpose {
            Purpose::Minimise { .. } => {
                format!("Minimising a schedule of {}", escaped_line(&job.request.label))
            }
            Purpose::Explore { .. } | Purpose::Check { .. } => {
                format!("Exploring {}", escaped_line(&job.request.label))
            }
        },
        cancellable: Some(true),
        message: Some(message(job)),
        percentage: None,
    };
    put(outbox, id, WorkDoneProgress::Begin(begin));
}

pub(super) fn report(jobs: &mut Jobs, outbox: &Outbox, id: u64) {
    let Some(job) = jobs.get_mut(id).filter(|job| job.is_shown) else { return };
    let report = WorkDoneProgressReport { cancellable: None, message: Some(message(job)), percentage: None };
    put(outbox, id, WorkDoneProgress::Report(report));
}

pub(super) fn end(outbox: &Outbox, job: &Job) {
    if job.is_shown {
        let end = WorkDoneProgressEnd { message: Some(message(job)) };
        put(outbox, job.id, WorkDoneProgress::End(end));
    }
}

fn put(outbox: &Outbox, id: u64, value: WorkDoneProgress) {
    let value = ProgressParamsValue::WorkDone(value);
    outbox.put(Message::Progress(ProgressParams { token: token(id), value }));
}

pub(super) fn token(id: u64) -> ProgressToken {
    NumberOrString::String(format!("interleaver/{id}"))
}

fn message(job: &Job) -> String {
    match (&job.phase, &job.progress) {
        (Phase::Building, _) => "building".to_owned(),
        (_, Some(progress)) => words::progress(progress, job.bugs()),
        (_, None) => "starting".to_owned(),
    }
}
