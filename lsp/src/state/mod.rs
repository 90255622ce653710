//! All that the server knows, and its one owner's work on it.

mod building;
mod exploring;
mod machine_support;
mod progress;
mod revealing;
mod scanning;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tower_lsp::Client;
use tower_lsp::ls_types::{CodeLens, Diagnostic, DidChangeTextDocumentParams, MessageType, Uri};

use crate::commands::{Command, Explore};
use crate::documents;
use crate::explore::folder::Folder;
use crate::explore::key::Key;
use crate::explore::machine::MachineSupport;
use crate::known::Known;
use crate::mailbox::WeakMailbox;
use crate::outbox::{Changed, Message, Outbox};
use crate::refusals::{NOT_TRUSTED, no_finding, no_target};
use crate::settings::Settings;
use crate::show::diagnostics::Diagnosing;
use crate::show::why_no_lens::why_no_lens;
use crate::show::{configuration, diagnostics, tree, warnings};
use crate::text::PositionEncoding;

/// The handles that the state is made with.
pub(crate) struct ServerContext {
    /// The `interleaver` executable.
    pub(crate) tool: PathBuf,
    pub(crate) runtime: Handle,
    pub(crate) client: Client,
    pub(crate) mailbox: WeakMailbox<State>,
    pub(crate) outbox: Outbox,
}

/// Abilities that a client has told of.
#[derive(Default)]
pub(crate) struct ClientFeatures {
    pub(crate) encoding: PositionEncoding,
    pub(crate) folders: Vec<PathBuf>,
    /// It shows the progress of work.
    pub(crate) shows_progress: bool,
    /// It opens a document at a place when it is asked to.
    pub(crate) shows_documents: bool,
}

/// All that the server knows, and what it is about to do.
pub(crate) struct State {
    context: ServerContext,
    pub(crate) known: Known,
    /// The client shows the progress of work.
    shows_progress: bool,
    /// The client opens documents.
    shows_documents: bool,
    /// Number of times that more than usual was asked for, by target.
    budget_level: HashMap<Key, u32>,
    /// Requests that wait for the first look at their folder.
    waiting: Vec<(Uri, oneshot::Sender<Vec<CodeLens>>)>,
    /// The client's messages have ended.
    has_heard_all: bool,
    published: HashMap<Uri, Vec<Diagnostic>>,
    /// Knowledge of whether this machine permits explorations.
    machine_support: MachineSupport,
    /// Builds that the user has agreed to: the command, and where it is run.
    approved_builds: HashSet<(String, PathBuf)>,
}

impl State {
    pub(crate) fn new(context: ServerContext) -> Self {
        Self {
            context,
            known: Known::default(),
            shows_progress: false,
            shows_documents: false,
            budget_level: HashMap::new(),
            waiting: Vec::new(),
            has_heard_all: false,
            published: HashMap::new(),
            machine_support: MachineSupport::default(),
            approved_builds: HashSet::new(),
        }
    }

    /// A client has said what it is.
    pub(crate) fn begin(&mut self, settings: Result<Settings, String>, client: ClientFeatures) {
        self.settled(settings);
        self.known.folders = client.folders.iter().cloned().map(Folder::new).collect();
        self.known.documents.name_folders(self.known.folders.iter().map(|folder| folder.named.as_path()));
        (self.known.encoding, self.shows_progress) = (client.encoding, client.shows_progress);
        self.shows_documents = client.shows_documents;
    }

    /// It is ready to be told things.
    pub(crate) fn ready(&mut self) {
        let is_new = self.look_at_stores();
        self.look_at_all();
        self.publish();
        // As long as nothing may be looked into, nothing more is to come.
        if is_new {
            self.changed(Changed::ALL);
        }
    }

    /// A client's settings are others.
    pub(crate) fn configured(&mut self, settings: Result<Settings, String>) {
        let was_trusted = self.known.settings.may_run();
        self.settled(settings);
        if self.known.settings.may_run() && !was_trusted {
            self.look_at_all();
        }
        self.changed(Changed::ALL);
    }

    fn settled(&mut self, settings: Result<Settings, String>) {
        match settings {
            Ok(settings) => self.known.settings = settings,
            Err(sentence) => self.show(MessageType::ERROR, sentence),
        }
    }

    /// A document was edited.
    pub(crate) fn edited(&mut self, params: DidChangeTextDocumentParams) {
        let before = self.known.stale_findings();
        let (document, encoding) = (params.text_document, self.known.encoding);
        let is_open =
            self.known.documents.change(&document.uri, document.version, params.content_changes, encoding);
        if !is_open {
            tracing::warn!("`{}` was edited and is not open", document.uri.as_str());
            return;
        }
        self.publish();
        if self.known.stale_findings() != before {
            self.changed(Changed::ALL);
        }
    }

    /// A document was opened, closed, or saved.
    pub(crate) fn document_changed(&mut self, uri: &Uri) {
        if let Some(file) = documents::path(uri) {
            self.known.texts.forget(&file);
            self.look_at_folder_of(&file);
        }
        self.publish();
    }

    /// # Errors
    /// A sentence.
    pub(crate) fn command(&mut self, command: Command) -> Result<Value, String> {
        match command {
            Command::Explore(wanted) => self.explore(&wanted).map(|job| json!({ "job": job })),
            Command::Check(wanted) => self.check(&wanted.finding).map(|job| json!({ "job": job })),
            Command::Minimise(wanted) => self.minimise(&wanted.finding).map(|job| json!({ "job": job })),
            Command::Cancel(wanted) => Ok(json!({ "cancelled": self.cancel(&wanted) })),
            Command::Select(wanted) => self.select(wanted.finding).map(|()| Value::Null),
            Command::Show(wanted) => self.reveal(&wanted.finding).map(|()| Value::Null),
            Command::Dismiss(wanted) => self.dismiss(&wanted.finding).map(|()| Value::Null),
            Command::Restore(wanted) => self.restore(wanted.target).map(|job| json!({ "job": job })),
            Command::WhyNoLens(place) => Ok(json!({ "sentence": why_no_lens(&self.known, &place) })),
            Command::Programs(file) => Ok(self.programs(&file.uri)),
            Command::Tree => Ok(tree::tree(&self.known)),
            Command::Configuration(wanted) => configuration::place(&self.known, &wanted),
        }
    }

    fn show(&self, kind: MessageType, sentence: String) {
        self.context.outbox.put(Message::Show(kind, sentence));
    }

    pub(crate) fn changed(&self, changed: Changed) {
        self.context.outbox.put(Message::Changed(changed));
        self.context.outbox.put(Message::Status(tree::status(&self.known)));
    }

    /// Tells the client about the diagnostics that have changed.
    pub(crate) fn publish(&mut self) {
        let diagnosing = Diagnosing {
            documents: &self.known.documents,
            texts: &self.known.texts,
            encoding: self.known.encoding,
        };
        let mut now: HashMap<Uri, Vec<Diagnostic>> = diagnosing.all(self.known.findings.open());
        for (uri, diagnostic) in
            self.marked_tests(&diagnosing).chain(self.compile_errors()).chain(warnings::all(&self.known))
        {
            now.entry(uri).or_default().push(diagnostic);
        }
        now.extend(
            self.known.folders.iter().filter_map(|folder| configuration::problems(&self.known, &folder.path)),
        );
        let gone = self.published.keys().filter(|uri| !now.contains_key(uri));
        let gone = gone.map(|uri| (uri.clone(), Vec::new()));
        let changed = now.iter().filter(|(uri, diagnostics)| self.published.get(uri) != Some(diagnostics));
        let changed = changed.map(|(uri, diagnostics)| (uri.clone(), diagnostics.clone()));
        for (uri, diagnostics) in gone.chain(changed) {
            let version =
                documents::path(&uri).and_then(|path| Some(self.known.documents.get(&path)?.version));
            self.context.outbox.put(Message::Diagnostics { uri, diagnostics, version });
        }
        self.published = now;
    }

    /// The tests whose failing lines are in other files.
    fn marked_tests<'a>(
        &'a self,
        diagnosing: &'a Diagnosing<'a>,
    ) -> impl Iterator<Item = (Uri, Diagnostic)> + 'a {
        let all = self.known.findings.open();
        all.filter_map(|finding| diagnosing.of_test(finding, self.known.test_of(finding)?))
    }

    fn compile_errors(&self) -> impl Iterator<Item = (Uri, Diagnostic)> {
        let all = self.known.compile_errors.values().flatten();
        all.filter_map(|error| diagnostics::of_build(&self.known, error))
    }

    /// Opens the failing line of a finding, and shows its hints.
    ///
    /// # Errors
    /// When there is no such finding, or no line of it is known.
    fn reveal(&mut self, id: &str) -> Result<(), String> {
        self.select(id.to_owned())?;
        let (location, message) = revealing::failing_line(&self.known, id)?;
        if self.shows_documents {
            self.context.runtime.spawn(revealing::open(self.context.client.clone(), location));
        } else {
            let place = format!("{}:{}", location.uri.path().as_str(), location.range.start.line + 1);
            self.show(MessageType::INFO, format!("{place}: {message}"));
        }
        Ok(())
    }

    /// # Errors
    /// When there is no such finding.
    pub(super) fn select(&mut self, finding: String) -> Result<(), String> {
        self.known.findings.get(&finding).ok_or_else(|| no_finding(&finding))?;
        self.known.selected = Some(finding);
        self.changed(Changed { lenses: false, hints: true, tree: false });
        Ok(())
    }

    /// # Errors
    /// When the store cannot be written.
    pub(super) fn dismiss(&mut self, finding: &str) -> Result<(), String> {
        let found = self.known.findings.get(finding).ok_or_else(|| no_finding(finding))?;
        found.folder.dismiss(&found.kept.id).map_err(|error| error.to_string())?;
        self.look_at_stores();
        self.publish();
        self.changed(Changed::ALL);
        Ok(())
    }
    /// Findings that were dismissed are shown again: the target is explored for them.
    ///
    /// # Errors
    /// When the store cannot be written, or the target cannot be explored.
    fn restore(&mut self, target: String) -> Result<u64, String> {
        if !self.known.settings.may_run() {
            return Err(NOT_TRUSTED.to_owned());
        }
        let key = self.known.explored_before(&target).ok_or_else(|| no_target(&target))?;
        let folder = self.known.findings.folder(&key).ok_or_else(|| no_target(&target))?;
        folder.restore().map_err(|error| error.to_string())?;
        self.explore(&Explore { target: Some(target), ..Explore::default() })
    }
}
