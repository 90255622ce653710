//! The protocol's side: thin handlers, which put work into the mailbox of the state's owner.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedReceiver;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::{
    ClientCapabilities, CodeActionParams, CodeActionProviderCapability, CodeActionResponse, CodeLens,
    CodeLensOptions, CodeLensParams, CompletionOptions, CompletionParams, CompletionResponse,
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, ExecuteCommandOptions, ExecuteCommandParams, Hover, HoverParams,
    HoverProviderCapability, InitializeParams, InitializeResult, InitializedParams, InlayHint,
    InlayHintParams, OneOf, Registration, ServerCapabilities, ServerInfo, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, Uri,
    WorkDoneProgressCancelParams, WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use tower_lsp::{Client, LanguageServer};

use crate::commands::{self, Command};
use crate::documents;
use crate::input::Unreadable;
use crate::mailbox::{Mailbox, WeakMailbox};
use crate::outbox::{Changed, Message, Outbox, send_all};
use crate::settings::Settings;
use crate::show::{actions, configuration, hints, hover};
use crate::state::{ClientFeatures, ServerContext, State};
use crate::text::PositionEncoding;

/// Time between two looks for changes that no message has told of.
const TICK: Duration = Duration::from_secs(1);

/// One connection.
pub(crate) struct Interleaver {
    client: Client,
    mailbox: Mailbox<State>,
    /// Abilities of the client, and the messages that wait until it may be told anything.
    handshake: Mutex<Handshake>,
}

struct Handshake {
    messages: Option<UnboundedReceiver<Message>>,
    can: Changed,
    watches_files: bool,
}

impl Interleaver {
    pub(crate) fn new(client: Client, tool: PathBuf) -> Self {
        let runtime = Handle::current();
        let (outbox, messages) = Outbox::new();
        let its_client = client.clone();
        let mailbox = Mailbox::new(move |mailbox| {
            State::new(ServerContext { tool, runtime, client: its_client, mailbox, outbox })
        });
        let handshake = Handshake { messages: Some(messages), can: Changed::default(), watches_files: false };
        Self { client, mailbox, handshake: handshake.into() }
    }

    /// The box for work of the state's owner, as long as there is one.
    pub(crate) fn mailbox(&self) -> WeakMailbox<State> {
        self.mailbox.downgrade()
    }

    /// `window/workDoneProgress/cancel`.
    pub(crate) async fn progress_cancelled(&self, params: WorkDoneProgressCancelParams) {
        self.mailbox.send(move |state| state.progress_cancelled(&params.token));
    }

    /// Stands for a message that cannot be read.
    pub(crate) async fn unreadable(&self, message: Unreadable) -> Result<()> {
        message.answer()
    }

    async fn watch_files(&self) {
        let watchers = ["**/interleaver.toml", "**/.interleaver/**", "**/Cargo.toml", "**/CMakeLists.txt"];
        let watchers: Vec<Value> = watchers.iter().map(|glob| json!({ "globPattern": glob })).collect();
        let registration = Registration {
            id: "interleaver-files".to_owned(),
            method: "workspace/didChangeWatchedFiles".to_owned(),
            register_options: Some(json!({ "watchers": watchers })),
        };
        if let Err(error) = self.client.register_capability(vec![registration]).await {
            tracing::warn!("the client does not watch files: {error}");
        }
    }
}

impl LanguageServer for Interleaver {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let encoding = PositionEncoding::of_client(
            params.capabilities.general.as_ref().and_then(|general| general.position_encodings.as_deref()),
        );
        let window = params.capabilities.window.as_ref();
        let client_features = ClientFeatures {
            encoding,
            folders: folders(&params),
            shows_progress: window.and_then(|window| window.work_done_progress) == Some(true),
            shows_documents: window
                .and_then(|window| window.show_document.as_ref())
                .is_some_and(|show| show.support),
        };
        let settings = Settings::read(params.initialization_options);
        {
            let mut handshake = self.handshake.lock().unwrap_or_else(PoisonError::into_inner);
            let knows_us = settings.as_ref().is_ok_and(|settings| !settings.client_commands.is_empty());
            handshake.can = Changed { tree: knows_us, ..can(&params.capabilities) };
            handshake.watches_files = watches_files(&params.capabilities);
        }
        self.mailbox.send(move |state| state.begin(settings, client_features));
        let info = ServerInfo {
            name: "interleaver".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        };
        Ok(InitializeResult {
            server_info: Some(info),
            capabilities: capabilities(encoding),
            ..InitializeResult::default()
        })
    }

    async fn initialized(&self, _: InitializedParams) {
        let (messages, can, watches_files) = {
            let mut handshake = self.handshake.lock().unwrap_or_else(PoisonError::into_inner);
            (handshake.messages.take(), handshake.can, handshake.watches_files)
        };
        self.mailbox.send(State::ready);
        let Some(messages) = messages else { return };
        tokio::spawn(send_all(self.client.clone(), messages, can));
        let mailbox = self.mailbox.downgrade();
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(TICK);
            while mailbox.send(State::tick) {
                ticks.tick().await;
            }
        });
        if watches_files {
            self.watch_files().await;
        }
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        self.mailbox.send(move |state| {
            let uri = params.text_document.uri.clone();
            state.known.documents.open(params.text_document);
            state.document_changed(&uri);
        });
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.mailbox.send(move |state| state.edited(params));
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        self.mailbox.send(move |state| state.document_changed(&params.text_document.uri));
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.mailbox.send(move |state| {
            state.known.documents.close(&params.text_document.uri);
            state.document_changed(&params.text_document.uri);
        });
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        let settings = Settings::changed(params.settings);
        self.mailbox.send(move |state| state.configured(settings));
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        let added =
            params.event.added.iter().filter_map(|folder| documents::named_path(&folder.uri)).collect();
        let removed: Vec<PathBuf> =
            params.event.removed.iter().filter_map(|folder| documents::path(&folder.uri)).collect();
        self.mailbox.send(move |state| state.folders_changed(added, &removed));
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        let files: Vec<PathBuf> =
            params.changes.iter().filter_map(|change| documents::path(&change.uri)).collect();
        self.mailbox.send(move |state| state.files_changed(&files));
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let uri = params.text_document.uri;
        Ok(self.mailbox.ask_later(move |state, reply| state.lenses(uri, reply)).await)
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        let Some(file) = documents::path(&params.text_document.uri) else { return Ok(None) };
        Ok(self.mailbox.ask(move |state| hints::hints(&state.known, &file, params.range)).await)
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let at = params.text_document_position_params;
        let Some(file) = documents::path(&at.text_document.uri) else { return Ok(None) };
        let hover = self.mailbox.ask(move |state| match configuration::is_one(&file) {
            true => {
                configuration::hover(&state.known.documents.text(&file)?, at.position, state.known.encoding)
            }
            false => hover::hover(&state.known, &file, at.position),
        });
        Ok(hover.await.flatten())
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        let at = params.text_document_position;
        let file = documents::path(&at.text_document.uri).filter(|file| configuration::is_one(file));
        let Some(file) = file else { return Ok(None) };
        let items = self.mailbox.ask(move |state| {
            let text = state.known.documents.text(&file).unwrap_or_default();
            configuration::completions(&text, at.position, state.known.encoding)
        });
        Ok(items.await.map(CompletionResponse::Array))
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let uri: Uri = params.text_document.uri;
        let Some(file) = documents::path(&uri) else { return Ok(None) };
        Ok(self.mailbox.ask(move |state| actions::actions(&state.known, &uri, &file, params.range)).await)
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        let command = Command::read(&params.command, params.arguments).map_err(invalid)?;
        match self.mailbox.ask(move |state| state.command(command)).await {
            Some(answer) => answer.map(Some).map_err(failed),
            None => Ok(None),
        }
    }
}

fn invalid(sentence: String) -> Error {
    Error { code: ErrorCode::InvalidParams, message: sentence.into(), data: None }
}

fn failed(sentence: String) -> Error {
    // The protocol's RequestFailed: the request was right, and could not be done.
    Error { code: ErrorCode::ServerError(-32803), message: sentence.into(), data: None }
}

fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    let folders = params.workspace_folders.iter().flatten();
    folders.filter_map(|folder| documents::named_path(&folder.uri)).collect()
}

fn can(client: &ClientCapabilities) -> Changed {
    let workspace = client.workspace.as_ref();
    let lenses = workspace.and_then(|workspace| workspace.code_lens.as_ref()?.refresh_support);
    let hints = workspace.and_then(|workspace| workspace.inlay_hint.as_ref()?.refresh_support);
    Changed { lenses: lenses == Some(true), hints: hints == Some(true), tree: false }
}

fn watches_files(client: &ClientCapabilities) -> bool {
    let watched = client.workspace.as_ref().and_then(|workspace| workspace.did_change_watched_files.as_ref());
    watched.and_then(|watched| watched.dynamic_registration) == Some(true)
}

fn capabilities(encoding: PositionEncoding) -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::Supported(true)),
        ..TextDocumentSyncOptions::default()
    };
    let folders = WorkspaceFoldersServerCapabilities {
        supported: Some(true),
        change_notifications: Some(OneOf::Left(true)),
    };
    ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        inlay_hint_provider: Some(OneOf::Left(true)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions::default()),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: commands::names(),
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(folders),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    }
}
