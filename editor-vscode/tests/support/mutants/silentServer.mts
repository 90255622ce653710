#!/usr/bin/env node
// A server that publishes no diagnostics.

import { runWith } from "./proxy.mts";

runWith("lsp", {
  fromServer: ({ method }) => (method === "textDocument/publishDiagnostics" ? {} : undefined),
});
