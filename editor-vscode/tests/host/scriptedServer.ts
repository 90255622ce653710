// A language server that does what a test says: it keeps what it was told, and asks the client what the test wants asked.
// What the editor shows of a real exploration is tested in tests/workbench with the real server.

import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { readFileSync } from "node:fs";
import { ServerCommand, type ExploreArguments } from "../../src/protocol";
import { SCRIPT, type Received } from "./script";

const connection = createMessageConnection(
  new StreamMessageReader(process.stdin),
  new StreamMessageWriter(process.stdout),
);
const received: Received[] = [];
const answers = new Map<string, unknown>();

connection.onRequest("initialize", (params: { initializationOptions: unknown }) => {
  received.push({ method: "initialize", params: params.initializationOptions });
  const commands = [...Object.values(ServerCommand), ...Object.values(SCRIPT)];
  const textDocumentSync = { openClose: true, change: 1 };
  return { capabilities: { executeCommandProvider: { commands }, textDocumentSync } };
});

connection.onRequest("shutdown", () => null);
connection.onNotification("exit", () => process.exit(0));
connection.onNotification((method, params) => {
  received.push({ method, params });
});

connection.onRequest("workspace/executeCommand", async (params: { command: string; arguments: unknown[] }) => {
  const [argument] = params.arguments;
  switch (params.command) {
    case SCRIPT.received:
      return { process: process.pid, messages: received };
    case SCRIPT.answer: {
      const { command, answer } = argument as { command: string; answer: unknown };
      answers.set(command, answer);
      return null;
    }
    case SCRIPT.ask: {
      const { method, params } = argument as { method: string; params: unknown };
      return connection.sendRequest(method, params);
    }
    default:
      received.push({ method: params.command, params: argument, onDisk: onDisk(argument) });
      return answers.get(params.command) ?? (params.command === ServerCommand.tree ? { targets: [] } : null);
  }
});

function onDisk(argument: unknown): string | undefined {
  const uri = (argument as Partial<ExploreArguments> | undefined)?.uri;
  return uri === undefined ? undefined : readFileSync(new URL(uri), "utf8");
}

connection.listen();
