//! The progress of jobs, as the protocol has it: numbers in words, and no percentages.

use explorer::shown::escaped_line;
use tower_lsp::ls_types::{
    NumberOrString, ProgressParams, ProgressParamsValue, ProgressToken, WorkDoneProgress,
    WorkDoneProgressBegin, WorkDoneProgressEnd, WorkDoneProgressReport,
};

use super::State;
use crate::job::{Job, Phase, Purpose};
use crate::outbox::Message;
use crate::words;

impl State {
    /// Asks the client to show a job; it is shown once the client agrees.
    pub(super) fn show_progress(&self, id: u64) {
        if !self.hello.shows_progress {
            return;
        }
        let (client, mailbox) = (self.around.client.clone(), self.around.mailbox.clone());
        self.around.runtime.spawn(async move {
            if client.create_work_done_progress(token(id)).await.is_ok() {
                mailbox.send(move |state| state.begin_progress(id));
            }
        });
    }

    fn begin_progress(&mut self, id: u64) {
        let Some(job) = self.jobs.get_mut(id) else { return };
        job.is_shown = true;
        let begin = WorkDoneProgressBegin {
            title: match job.wish.purpose {
                Purpose::Minimise { .. } => {
                    format!("Minimising a schedule of {}", escaped_line(&job.wish.label))
                }
                Purpose::Explore { .. } | Purpose::Check { .. } => {
                    format!("Exploring {}", escaped_line(&job.wish.label))
                }
            },
            cancellable: Some(true),
            message: Some(message(job)),
            percentage: None,
        };
        self.put_progress(id, WorkDoneProgress::Begin(begin));
    }

    pub(super) fn report_progress(&mut self, id: u64) {
        let Some(job) = self.jobs.get_mut(id).filter(|job| job.is_shown) else { return };
        let report =
            WorkDoneProgressReport { cancellable: None, message: Some(message(job)), percentage: None };
        self.put_progress(id, WorkDoneProgress::Report(report));
    }

    pub(super) fn end_progress(&self, job: &Job) {
        if job.is_shown {
            let end = WorkDoneProgressEnd { message: Some(message(job)) };
            self.put_progress(job.id, WorkDoneProgress::End(end));
        }
    }

    fn put_progress(&self, id: u64, value: WorkDoneProgress) {
        let value = ProgressParamsValue::WorkDone(value);
        self.around.outbox.put(Message::Progress(ProgressParams { token: token(id), value }));
    }

    /// A client wants the work of a token to end.
    pub(crate) fn progress_cancelled(&mut self, cancelled: &ProgressToken) {
        let job = self.jobs.all().map(|job| job.id).find(|id| token(*id) == *cancelled);
        job.map(|job| self.cancel_job(job));
    }
}

fn token(id: u64) -> ProgressToken {
    NumberOrString::String(format!("interleaver/{id}"))
}

fn message(job: &Job) -> String {
    match (&job.phase, &job.progress) {
        (Phase::Building, _) => "building".to_owned(),
        (_, Some(progress)) => words::progress(progress, job.bugs()),
        (_, None) => "starting".to_owned(),
    }
}
