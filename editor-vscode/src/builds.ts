// Building before a run: the command is shown, allowed once per workspace, and run as a task in a terminal.

import * as vscode from "vscode";
import { BuildTerminal } from "./buildTerminal";
import { AllowedBuilds } from "./core/builds";
import type { BuildParams, BuildResult } from "./protocol";
import type { Server } from "./server";

export function registerBuilds(context: vscode.ExtensionContext, server: Server): void {
  const allowed = new AllowedBuilds(context.workspaceState);
  server.onBuild((build, token) => answer(build, allowed, token));
  context.subscriptions.push(
    vscode.commands.registerCommand("interleaver.forgetBuilds", async () => {
      const count = await allowed.forget();
      void vscode.window.showInformationMessage(
        count === 0 ? "No build command was allowed here." : "Interleaver will ask again before it builds here.",
      );
    }),
  );
}

async function answer(
  build: BuildParams,
  allowed: AllowedBuilds,
  token: vscode.CancellationToken,
): Promise<BuildResult> {
  if (!vscode.workspace.isTrusted) return { ran: false };
  if (!build.confirmed && !allowed.has(build)) {
    const command = await agreedCommand(build);
    if (command === undefined) return { ran: false };
    await allowed.add(build, command);
  }
  return run({ ...build, command: allowed.commandOf(build) }, token);
}

/** The command as the user wants it; nothing where nothing is to be built. */
async function agreedCommand(build: BuildParams): Promise<string | undefined> {
  const [go, edit] = ["Build", "Edit…"];
  const detail =
    `Interleaver runs this command in ${folderName(build.directory)} whenever a source is newer than the program. ` +
    "It asks once per workspace.";
  const question = `Build with "${build.command}"?`;
  const choice = await vscode.window.showInformationMessage(question, { modal: true, detail }, go, edit);
  if (choice !== edit) return choice === go ? build.command : undefined;
  const prompt = "It takes the place of the other one in this workspace.";
  const title = `Build ${folderName(build.directory)} with`;
  const command = await vscode.window.showInputBox({ title, prompt, value: build.command, ignoreFocusOut: true });
  return command === undefined || command.trim() === "" ? undefined : command;
}

function folderName(directory: string): string {
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(directory));
  return folder?.uri.fsPath === directory ? folder.name : vscode.workspace.asRelativePath(directory);
}

async function run(build: BuildParams, token: vscode.CancellationToken): Promise<BuildResult> {
  const terminal = new BuildTerminal(build);
  const execution = await vscode.tasks.executeTask(task(build, terminal));
  const cancelled = token.onCancellationRequested(() => {
    execution.terminate();
  });
  try {
    const end = await terminal.ended;
    return { ran: true, exitCode: end.exitCode, output: end.output, command: build.command };
  } finally {
    cancelled.dispose();
  }
}

function task(build: BuildParams, terminal: BuildTerminal): vscode.Task {
  const definition = { type: "interleaver", command: build.command, directory: build.directory };
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(build.directory));
  const task = new vscode.Task(
    definition,
    folder ?? vscode.TaskScope.Workspace,
    "build",
    "Interleaver",
    new vscode.CustomExecution(() => Promise.resolve(terminal)),
  );
  task.presentationOptions = {
    // A build that fails comes to the front.
    reveal: vscode.TaskRevealKind.Silent,
    focus: false,
    panel: vscode.TaskPanelKind.Shared,
    showReuseMessage: false,
    clear: true,
  };
  return task;
}
