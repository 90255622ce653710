//! The language server: results of the explorer as lenses, diagnostics and hints. See `docs/protocol.md`.

#![warn(clippy::unwrap_used)]
#![forbid(unsafe_code)]

mod commands;
mod documents;
mod explore;
mod findings;
mod input;
mod known;
mod mailbox;
mod outbox;
mod refusals;
mod server;
mod settings;
mod show;
mod state;
mod text;

use std::io;
use std::path::PathBuf;

use tokio::io::{AsyncRead, AsyncWrite};
use tower_lsp::{LspService, Server};

use crate::server::Interleaver;
use crate::state::State;

/// The largest number of requests that wait at a time: some wait for the first look at a workspace, and no request should
/// wait for them.
const REQUESTS_AT_ONCE: usize = 64;

/// The largest part of the client's messages that waits to be read, in bytes.
const PIPE: usize = 64 << 10;

/// Serves one client over standard input and output, until it says `exit` or goes away. Standard error is its log.
///
/// # Errors
/// When the runtime cannot start.
pub fn serve() -> io::Result<()> {
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false);
    // Only a second log fails.
    let _ = log.with_max_level(tracing::Level::INFO).try_init();
    let tool = std::env::current_exe()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(serve_over(tokio::io::stdin(), tokio::io::stdout(), tool));
    // A read of standard input that is under way cannot be called back.
    runtime.shutdown_background();
    Ok(())
}

/// Serves one client, until it says `exit` or goes away. `tool` is the `interleaver` executable that explores.
pub async fn serve_over(input: impl AsyncRead + Unpin, output: impl AsyncWrite, tool: PathBuf) {
    let (service, socket) = LspService::build(|client| Interleaver::new(client, tool))
        .custom_method("window/workDoneProgress/cancel", Interleaver::progress_cancelled)
        .custom_method(input::UNREADABLE, Interleaver::unreadable)
        .finish();
    let mailbox = service.inner().mailbox();
    let (screened, messages) = tokio::io::duplex(PIPE);
    let server = Server::new(messages, output, socket).concurrency_level(REQUESTS_AT_ONCE);
    let screening = async {
        if let Err(error) = input::screen(input, screened).await {
            tracing::warn!("the client's messages end: {error}");
        }
        mailbox.send(State::no_more_messages);
        // The server ends once it has read all of them.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = server.serve(service) => {}
        () = screening => {}
    }
}
