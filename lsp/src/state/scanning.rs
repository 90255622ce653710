//! Looking at what is there: programs in the folders, findings in the stores.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use explorer::input::project_root::root_of;
use explorer::store::findings;
use tokio::sync::oneshot;
use tower_lsp::ls_types::{CodeLens, Uri};

use super::State;
use crate::documents;
use crate::explore::folder::{Folder, FolderScan, FolderScanResult};
use crate::outbox::Changed;
use crate::show::lenses::lenses_of_file;

/// Whether a folder can be looked through: not that of the whole system, or a user's home.
fn is_small(folder: &Path) -> bool {
    folder.parent().is_some() && std::env::home_dir().is_none_or(|home| home != folder)
}

impl State {
    /// Folders have come or gone.
    pub(crate) fn folders_changed(&mut self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        self.known.folders.retain(|folder| !removed.contains(&folder.path));
        // These folders are not looked at any more.
        for job in removed
            .iter()
            .flat_map(|folder| self.known.jobs.waiting_for(folder, u64::MAX))
            .collect::<Vec<_>>()
        {
            self.cancel_job(job);
        }
        self.known.folders.extend(added.into_iter().map(Folder::new));
        self.known.documents.name_folders(self.known.folders.iter().map(|folder| folder.named.as_path()));
        self.ready();
    }

    pub(super) fn look_at_all(&mut self) {
        for path in self.known.folders.iter().map(|folder| folder.path.clone()).collect::<Vec<_>>() {
            self.look_at(&path);
        }
    }

    /// A file that lies in no folder opens the one around it.
    pub(super) fn look_at_folder_of(&mut self, file: &Path) {
        let is_alone = self.known.folder_of(file).is_none() && self.known.documents.get(file).is_some();
        if let Some(around) = file.parent().filter(|around| is_alone && file.is_file() && is_small(around)) {
            self.known.folders.push(Folder::new(around.to_owned()));
        }
        if let Some(path) = self.known.folder_of(file).map(|folder| folder.path.clone()) {
            self.look_at(&path);
        }
    }

    /// Has a folder looked at; gives the number of the look that sees what is there now.
    pub(super) fn look_at(&mut self, path: &Path) -> Option<u64> {
        if !self.known.settings.may_run() {
            return None;
        }
        let (look, number) = self.known.folder_mut(path)?.look();
        look.into_iter().for_each(|look| self.take(look));
        Some(number)
    }

    fn take(&self, look: FolderScan) {
        let mailbox = self.context.mailbox.clone();
        self.context.runtime.spawn_blocking(move || {
            let looked = look.take();
            mailbox.send(|state| state.looked(looked));
        });
    }

    fn looked(&mut self, looked: FolderScanResult) {
        let Some(folder) = self.known.folder_mut(&looked.path) else { return };
        let next = folder.looked(&looked);
        next.into_iter().for_each(|look| self.take(look));
        if looked.changed {
            self.look_at_stores();
            self.publish();
            self.changed(Changed { lenses: true, hints: false, tree: true });
        }
        for (uri, reply) in std::mem::take(&mut self.waiting) {
            self.lenses(uri, reply);
        }
        for job in self.known.jobs.waiting_for(&looked.path, looked.number) {
            self.looked_for(job);
        }
    }

    /// Now and then: looks whether anything has changed without a message.
    pub(crate) fn tick(&mut self) {
        if self.look_at_stores() {
            self.publish();
            self.changed(Changed::ALL);
        }
        let is_used =
            |folder: &&Folder| self.known.documents.paths().any(|file| file.starts_with(&folder.path));
        let due = self.known.folders.iter().filter(is_used).filter(|folder| folder.is_due());
        for path in due.map(|folder| folder.path.clone()).collect::<Vec<_>>() {
            self.look_at(&path);
        }
    }

    /// Files have changed, says the client.
    pub(crate) fn files_changed(&mut self, files: &[PathBuf]) {
        if files.iter().any(|file| findings::stores_of(file).is_some()) && self.look_at_stores() {
            self.changed(Changed::ALL);
        }
        let sources = files.iter().filter(|file| findings::stores_of(file).is_none());
        let folders: BTreeSet<PathBuf> =
            sources.filter_map(|file| Some(self.known.folder_of(file)?.path.clone())).collect();
        for path in folders {
            self.look_at(&path);
        }
        self.publish();
    }

    /// Reads what has changed in the stores of all folders, and says whether anything has.
    pub(super) fn look_at_stores(&mut self) -> bool {
        let mut roots: BTreeSet<PathBuf> = self.known.folders.iter().map(Folder::root).collect();
        for folder in &self.known.folders {
            let programs = folder.workspace.iter().flat_map(|workspace| workspace.candidates());
            roots.extend(programs.map(|program| root_of(&program.path, &folder.path)));
        }
        let is_less = self.known.findings.forget_others(&roots);
        let changed = roots.iter().filter(|root| self.known.findings.look_at(root));
        changed.count() > 0 || is_less
    }

    /// The client sends nothing any more: requests that wait are answered with what is known by now, and the server can
    /// end.
    pub(crate) fn no_more_messages(&mut self) {
        self.has_heard_all = true;
        for (uri, reply) in std::mem::take(&mut self.waiting) {
            self.lenses(uri, reply);
        }
    }

    /// The lenses of a file; those of a folder that was not looked at yet come when it was.
    pub(crate) fn lenses(&mut self, uri: Uri, reply: oneshot::Sender<Vec<CodeLens>>) {
        let file = documents::path(&uri).filter(|_| self.known.settings.lenses);
        let folder = file.as_ref().and_then(|file| self.known.folder_of(file));
        let is_to_come = !self.has_heard_all && self.known.settings.may_run();
        if is_to_come && folder.is_some_and(|folder| folder.workspace.is_none()) {
            self.waiting.push((uri, reply));
            return;
        }
        let lenses = file.map(|file| lenses_of_file(&self.known, &uri, &file)).unwrap_or_default();
        // The request may have been given up.
        let _ = reply.send(lenses);
    }
}
