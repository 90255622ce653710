//! The build that a job begins with.

use std::path::{Path, PathBuf};

use explorer::discover::BuildStep;

use super::State;
use crate::explore::build::{Build, Built};
use crate::explore::job::{Job, Phase, Purpose};
use crate::outbox::Changed;
use crate::refusals::NO_FOLDER;

impl State {
    /// The build that a job begins with: it has one at the most.
    pub(super) fn first_build(&mut self, id: u64) -> Option<Build> {
        let job = self.known.jobs.get_mut(id)?;
        // A schedule is that of the program as it was.
        let builds = !job.has_built && !matches!(job.request.purpose, Purpose::Minimise { .. });
        let (request, known) = builds.then(|| (job.request.clone(), job.known_build.clone()))?;
        let step = match self.known.is_gone(&request) {
            true => known,
            false => self.known.build_step(&request).filter(|step| step.needed),
        };
        let BuildStep { command, directory, .. } = step?;
        let confirmed = self.approved_builds.contains(&(command.clone(), directory.clone()));
        Some(Build { command, directory, confirmed })
    }

    pub(super) fn build(&mut self, id: u64, build: Build) {
        let Some(cancelled) = self.known.jobs.get_mut(id).and_then(Job::build) else { return };
        self.changed(Changed { lenses: true, hints: false, tree: true });
        let (client, mailbox) = (self.context.client.clone(), self.context.mailbox.clone());
        let by_client = self.known.settings.runs_builds;
        // A client that builds remembers it by itself.
        let approved_builds = (!by_client).then(|| (build.command.clone(), build.directory.clone()));
        let directory = build.directory.clone();
        self.known.compile_errors.remove(&directory);
        self.publish();
        self.context.runtime.spawn(async move {
            let (built, command) = build.run(&client, by_client, cancelled).await;
            mailbox.send(move |state| {
                state.approved_builds.extend(approved_builds.filter(|_| built != Built::Declined));
                state.built(id, built, command, directory);
            });
        });
    }

    fn built(&mut self, id: u64, built: Built, command: String, directory: PathBuf) {
        let Some(job) = self.known.jobs.get_mut(id) else { return };
        job.built_by = Some(command);
        let folder = job.request.folder.clone();
        match built {
            Built::Done => self.look_again(id, &folder),
            Built::Declined => {
                self.end(id);
            }
            Built::Failed(sentence, errors) => {
                self.known.compile_errors.insert(directory, errors);
                self.publish();
                self.fail(id, sentence);
            }
        }
    }

    fn look_again(&mut self, id: u64, folder: &Path) {
        let number = self.look_at(folder);
        match (self.known.jobs.get_mut(id), number) {
            (Some(job), Some(number)) => job.phase = Phase::Looking(number),
            _ => self.fail(id, NO_FOLDER.to_owned()),
        }
    }
}
