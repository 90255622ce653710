//! The protocol's side: thin handlers.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{InitializeParams, InitializeResult, ServerInfo};
use tower_lsp::{Client, LanguageServer};

/// One connection.
pub(crate) struct Interleaver {
    _client: Client,
}

impl Interleaver {
    pub(crate) fn new(client: Client) -> Self {
        Self { _client: client }
    }
}

impl LanguageServer for Interleaver {
    async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
        let info = ServerInfo {
            name: "interleaver".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        };
        Ok(InitializeResult { server_info: Some(info), ..InitializeResult::default() })
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }
}
