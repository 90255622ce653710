// Activation: which parts there are, and in which order they start.

import * as vscode from "vscode";
import { registerBuilds } from "./builds";
import { registerCommands } from "./commands";
import { registerReplay } from "./debugging/replay";
import { registerSwitches } from "./debugging/switches";
import { unsupportedHost } from "./core/host";
import { Server } from "./server";
import { registerStatusBar } from "./statusBar";
import { registerTree } from "./tree";

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const unsupported = unsupportedHost(process.platform, process.arch);
  if (unsupported !== undefined) {
    void vscode.window.showWarningMessage(unsupported);
    return;
  }
  server = new Server(context);
  registerBuilds(context, server);
  registerStatusBar(context, server);
  registerTree(context, server);
  registerReplay(context, server);
  registerSwitches(context);
  registerCommands(context, server);
  await server.start();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
