//! The way to the client: messages in the order in which they were put here, and never a wait for the code that puts them.

use explorer::escaping::escaped;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Duration, Instant, sleep_until};
use tower_lsp::Client;
use tower_lsp::ls_types::notification::{Notification, Progress, PublishDiagnostics};
use tower_lsp::ls_types::{Diagnostic, MessageType, ProgressParams, PublishDiagnosticsParams, Uri};

/// The least time between two requests to ask for lenses or hints anew.
const REFRESH_PAUSE: Duration = Duration::from_millis(500);

/// A message to the client.
pub(crate) enum Message {
    Diagnostics {
        uri: Uri,
        diagnostics: Vec<Diagnostic>,
        version: Option<i32>,
    },
    Show(MessageType, String),
    Progress(ProgressParams),
    /// The line in a status bar.
    Status(Value),
    /// A view has changed: the client is told so twice a second at most.
    Changed(Changed),
}

/// The views that have changed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Changed {
    pub(crate) lenses: bool,
    pub(crate) hints: bool,
    pub(crate) tree: bool,
}

impl Changed {
    /// Everything.
    pub(crate) const ALL: Self = Self { lenses: true, hints: true, tree: true };

    fn or(self, other: Self) -> Self {
        Self {
            lenses: self.lenses || other.lenses,
            hints: self.hints || other.hints,
            tree: self.tree || other.tree,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            lenses: self.lenses && other.lenses,
            hints: self.hints && other.hints,
            tree: self.tree && other.tree,
        }
    }
}

/// Box for messages to the client.
#[derive(Clone)]
pub(crate) struct Outbox(mpsc::UnboundedSender<Message>);

impl Outbox {
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Message>) {
        let (sender, messages) = mpsc::unbounded_channel();
        (Self(sender), messages)
    }

    pub(crate) fn put(&self, message: Message) {
        // There is no reader any more when the server ends.
        let _ = self.0.send(message);
    }
}

/// Sends the messages that are put there, until no sender is left. `can`: the views that the client can be told to ask for
/// anew.
pub(crate) async fn send_all(client: Client, mut messages: mpsc::UnboundedReceiver<Message>, can: Changed) {
    let mut changed = Changed::default();
    let mut status = None;
    let mut earliest = Instant::now();
    loop {
        let nothing = changed == Changed::default() && status.is_none();
        let due = async {
            match nothing {
                true => std::future::pending().await,
                false => sleep_until(earliest).await,
            }
        };
        tokio::select! {
            message = messages.recv() => match message {
                None => return,
                Some(Message::Changed(also)) => changed = changed.or(also.and(can)),
                Some(Message::Status(line)) => status = Some(line).filter(|_| can.tree),
                Some(message) => send(&client, message).await,
            },
            () = due => {
                earliest = Instant::now() + REFRESH_PAUSE;
                if let Some(line) = status.take() {
                    client.send_notification::<Status>(line).await;
                }
                tell_changed(&client, std::mem::take(&mut changed)).await;
            }
        }
    }
}

async fn send(client: &Client, message: Message) {
    match message {
        Message::Diagnostics { uri, diagnostics, version } => {
            let params = PublishDiagnosticsParams { uri, diagnostics, version };
            client.send_notification::<PublishDiagnostics>(params).await;
        }
        Message::Show(kind, text) => client.show_message(kind, escaped(&text)).await,
        Message::Progress(params) => client.send_notification::<Progress>(params).await,
        Message::Status(_) | Message::Changed(_) => {}
    }
}

async fn tell_changed(client: &Client, changed: Changed) {
    if changed.tree {
        client.send_notification::<TreeChanged>(json!({})).await;
    }
    let client = client.clone();
    // The answers are not waited for; a client that cannot do it after all keeps what it shows.
    tokio::spawn(async move {
        if changed.lenses {
            let _ = client.code_lens_refresh().await;
        }
        if changed.hints {
            let _ = client.inlay_hint_refresh().await;
        }
    });
}

enum TreeChanged {}

impl Notification for TreeChanged {
    type Params = Value;
    const METHOD: &'static str = "interleaver/changed";
}

enum Status {}

impl Notification for Status {
    type Params = Value;
    const METHOD: &'static str = "interleaver/status";
}
