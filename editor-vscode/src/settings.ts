// The user's settings, as the rest of the extension wants them.

import { homedir } from "node:os";
import * as vscode from "vscode";
import { serverPath } from "./core/serverPath";
import { ClientCommand, type ClientOptions } from "./protocol";

const SECTION = "interleaver";

/** The executable that is language server and debug adapter. */
export function serverExecutable(context: vscode.ExtensionContext): string {
  return serverPath(serverSettings().path, {
    extension: context.extensionPath,
    home: homedir(),
    workspaceFolder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
  });
}

/** The settings that decide what is started, and how. */
export function serverSettings(): { path: string; environment: Record<string, string> } {
  const settings = configuration();
  return {
    path: settings.get("serverPath", ""),
    environment: { ...settings.get<Record<string, string>>("serverEnvironment", {}) },
  };
}

/** The environment of the executable. */
export function serverEnvironment(): Record<string, string> {
  const own = serverSettings().environment;
  return Object.fromEntries(
    Object.entries({ ...process.env, ...own }).filter(([, value]) => value !== undefined),
  ) as Record<string, string>;
}

/** What the server is told, now. */
export function clientOptions(): ClientOptions {
  const settings = configuration();
  return {
    clientCommands: Object.values(ClientCommand),
    runsBuilds: true,
    trusted: vscode.workspace.isTrusted,
    lenses: settings.get("lenses", true),
    hints: settings.get("hints.depth", true),
    switchHints: settings.get("hints.switches", true),
    budget: {
      maxPreemptions: settings.get("budget.maxPreemptions", 2),
      maxSchedules: settings.get("budget.maxSchedules", 10_000),
      timeLimitSeconds: settings.get("budget.timeLimitSeconds", 60),
    },
  };
}

/** Calls back when what {@link clientOptions} says may have changed, or, with `true`, what {@link serverSettings} does. */
export function onSettingsChange(changed: (executable: boolean) => void): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      changed(false);
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration(SECTION)) return;
      changed(
        event.affectsConfiguration(`${SECTION}.serverPath`) ||
          event.affectsConfiguration(`${SECTION}.serverEnvironment`),
      );
    }),
  );
}

function configuration(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(SECTION);
}
