//! The language server: what the explorer finds, as lenses, diagnostics and hints. See `docs/protocol.md`.

#![forbid(unsafe_code)]

mod server;

use std::io;

use tower_lsp::{LspService, Server};

/// Serves one client over standard input and output, until it says `exit` or goes away.
///
/// # Errors
/// When the runtime cannot start.
pub fn serve() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let (service, socket) = LspService::new(server::Interleaver::new);
        Server::new(tokio::io::stdin(), tokio::io::stdout(), socket).serve(service).await;
    });
    Ok(())
}
