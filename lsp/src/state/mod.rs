//! All that the server knows, and its one owner's work on it.

mod building;
mod exploring;
mod fitness;
mod looking;
mod progress;
mod showing;
mod tree;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tower_lsp::Client;
use tower_lsp::ls_types::{CodeLens, Diagnostic, DidChangeTextDocumentParams, MessageType, Uri};

use self::fitness::Fitness;
use crate::commands::Command;
use crate::documents::{self, Documents};
use crate::findings::{Findings, Texts};
use crate::folder::Folder;
use crate::job::Jobs;
use crate::key::Key;
use crate::mailbox::WeakMailbox;
use crate::outbox::{Changed, Message, Outbox};
use crate::settings::Settings;
use crate::text::Encoding;

/// What the state is made with.
pub(crate) struct Surroundings {
    /// The `interleaver` executable.
    pub(crate) tool: PathBuf,
    pub(crate) runtime: Handle,
    pub(crate) client: Client,
    pub(crate) mailbox: WeakMailbox,
    pub(crate) outbox: Outbox,
}

/// What a client has said of itself.
#[derive(Default)]
pub(crate) struct Hello {
    pub(crate) encoding: Encoding,
    pub(crate) folders: Vec<PathBuf>,
    /// It shows the progress of work.
    pub(crate) shows_progress: bool,
}

/// All that the server knows.
pub(crate) struct State {
    around: Surroundings,
    hello: Hello,
    pub(crate) settings: Settings,
    folders: Vec<Folder>,
    pub(crate) documents: Documents,
    pub(crate) findings: Findings,
    pub(crate) texts: Texts,
    pub(crate) jobs: Jobs,
    /// The finding that hints belong to, if one was chosen.
    selected: Option<String>,
    /// Why targets could not be explored the last time.
    troubles: HashMap<Key, String>,
    /// How much more than usual was asked for, by target.
    further: HashMap<Key, u32>,
    /// Requests that wait for the first look at their folder.
    waiting: Vec<(Uri, oneshot::Sender<Vec<CodeLens>>)>,
    /// The client's messages have ended.
    has_heard_all: bool,
    published: HashMap<Uri, Vec<Diagnostic>>,
    /// Whether this machine permits explorations.
    fitness: Fitness,
    /// Builds that the user has agreed to: the command, and where it is run.
    agreed: HashSet<(String, PathBuf)>,
}

impl State {
    pub(crate) fn new(around: Surroundings) -> Self {
        Self {
            around,
            hello: Hello::default(),
            settings: Settings::default(),
            folders: Vec::new(),
            documents: Documents::default(),
            findings: Findings::default(),
            texts: Texts::default(),
            jobs: Jobs::default(),
            selected: None,
            troubles: HashMap::new(),
            further: HashMap::new(),
            waiting: Vec::new(),
            has_heard_all: false,
            published: HashMap::new(),
            fitness: Fitness::default(),
            agreed: HashSet::new(),
        }
    }

    /// A client has said what it is.
    pub(crate) fn begin(&mut self, settings: Result<Settings, String>, hello: Hello) {
        self.settled(settings);
        self.folders = hello.folders.iter().cloned().map(Folder::new).collect();
        self.documents.name_folders(self.folders.iter().map(|folder| folder.named.as_path()));
        self.hello = hello;
    }

    /// It is ready to be told things.
    pub(crate) fn ready(&mut self) {
        let is_new = self.look_at_stores();
        self.look_at_all();
        self.publish();
        // Where nothing may be looked into, nothing more is to come.
        if is_new {
            self.changed(Changed::ALL);
        }
    }

    /// A client's settings are others.
    pub(crate) fn configured(&mut self, settings: Result<Settings, String>) {
        let was_trusted = self.settings.may_run();
        self.settled(settings);
        if self.settings.may_run() && !was_trusted {
            self.look_at_all();
        }
        self.changed(Changed::ALL);
    }

    fn settled(&mut self, settings: Result<Settings, String>) {
        match settings {
            Ok(settings) => self.settings = settings,
            Err(sentence) => self.show(MessageType::ERROR, sentence),
        }
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.hello.encoding
    }

    /// A document was edited.
    pub(crate) fn edited(&mut self, params: DidChangeTextDocumentParams) {
        let before = self.stale_findings();
        let (document, encoding) = (params.text_document, self.hello.encoding);
        let is_open =
            self.documents.change(&document.uri, document.version, params.content_changes, encoding);
        if !is_open {
            tracing::warn!("`{}` was edited and is not open", document.uri.as_str());
            return;
        }
        self.publish();
        if self.stale_findings() != before {
            self.changed(Changed::ALL);
        }
    }

    /// How many findings are of another text than that of now.
    fn stale_findings(&self) -> usize {
        self.findings.open().filter(|finding| self.texts.is_stale(finding, &self.documents)).count()
    }

    /// A document was opened, closed, or saved.
    pub(crate) fn document_changed(&mut self, uri: &Uri) {
        if let Some(file) = documents::path(uri) {
            self.texts.forget(&file);
            self.look_at_folder_of(&file);
        }
        self.publish();
    }

    /// # Errors
    /// A sentence.
    pub(crate) fn command(&mut self, command: Command) -> Result<Value, String> {
        match command {
            Command::Explore(wish) => self.explore(&wish).map(|job| json!({ "job": job })),
            Command::Check(wish) => self.check(&wish.finding).map(|job| json!({ "job": job })),
            Command::Minimise(wish) => self.minimise(&wish.finding).map(|job| json!({ "job": job })),
            Command::Cancel(wish) => Ok(json!({ "cancelled": self.cancel(&wish) })),
            Command::Select(wish) => self.select(wish.finding).map(|()| Value::Null),
            Command::Dismiss(wish) => self.dismiss(&wish.finding).map(|()| Value::Null),
            Command::WhyNoLens(place) => Ok(json!({ "sentence": self.why_no_lens(&place) })),
            Command::Programs(file) => Ok(self.programs(&file.uri)),
            Command::Tree => Ok(self.tree()),
            Command::Configuration(wish) => self.configuration(&wish.target),
        }
    }

    fn show(&self, kind: MessageType, sentence: String) {
        self.around.outbox.put(Message::Show(kind, sentence));
    }

    pub(crate) fn changed(&self, changed: Changed) {
        self.around.outbox.put(Message::Changed(changed));
        self.around.outbox.put(Message::Status(self.status()));
    }

    /// The workspace folder that a file belongs to, be it by way of a symbolic link that its editor followed.
    pub(crate) fn folder_of(&self, file: &Path) -> Option<&Folder> {
        let opened_as = || documents::named_path(&self.documents.get(file)?.uri);
        let holding = |file: &Path| crate::folder::holding(&self.folders, file);
        holding(file).or_else(|| holding(&opened_as()?))
    }

    /// What clients call a target.
    pub(crate) fn name_of(&self, key: &Key) -> String {
        key.name(&self.folders.first().map(Folder::root).unwrap_or_default())
    }

    fn folder_mut(&mut self, path: &Path) -> Option<&mut Folder> {
        self.folders.iter_mut().find(|folder| folder.path == path)
    }
}
