// Stands between an editor and the server that is packed into the extension, and changes what they say to each other.

import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { StreamMessageReader, StreamMessageWriter, type Message } from "vscode-jsonrpc/node";

const INTERLEAVER = resolve(import.meta.dirname, "../../../server/interleaver");

/** A message of either protocol: both have the same frames. */
export type Said = Message & Record<string, unknown>;

/** What is sent to the other side and what goes back, instead of a message. */
export interface Instead {
  on?: object[];
  back?: object[];
}

/** What becomes of the messages of either side; nothing special if a function gives nothing. */
export interface Defect {
  fromEditor?: (said: Said) => Instead | undefined;
  fromServer?: (said: Said) => Instead | undefined;
}

/** Runs the server as it was called, with a defect in one of its two modes. */
export function runWith(mode: "lsp" | "dap", defect: Defect): void {
  const words = process.argv.slice(2);
  const { fromEditor, fromServer } = words[0] === mode ? defect : {};
  const server = spawn(INTERLEAVER, words, { stdio: ["pipe", "pipe", "inherit"] });
  const [toServer, toEditor] = [new StreamMessageWriter(server.stdin), new StreamMessageWriter(process.stdout)];
  pass(process.stdin, toServer, toEditor, fromEditor);
  pass(server.stdout, toEditor, toServer, fromServer);
  process.stdin.on("end", () => server.stdin.end());
  process.on("SIGTERM", () => server.kill("SIGTERM"));
  server.on("exit", (code) => process.exit(code ?? 1));
}

function pass(
  from: NodeJS.ReadableStream,
  on: StreamMessageWriter,
  back: StreamMessageWriter,
  change: (said: Said) => Instead | undefined = () => undefined,
): void {
  new StreamMessageReader(from).listen((message) => {
    const instead: Instead = change(message) ?? { on: [message] };
    for (const said of instead.on ?? []) void on.write(said as Message);
    for (const said of instead.back ?? []) void back.write(said as Message);
  });
}
