// The commands of lens, tree and palette that have no module of their own.

import * as vscode from "vscode";
import type { Row } from "./core/treeModel";
import { pickOpenFinding, pickProgram, pickRunning } from "./picks";
import {
  ClientCommand,
  ServerCommand,
  type ConfigurationAnswer,
  type CopyScheduleArguments,
  type ExploreArguments,
  type Finding,
  type ShowFindingArguments,
  type WhyNoLensAnswer,
} from "./protocol";
import type { Server } from "./server";
import { requireTrust } from "./trust";

export function registerCommands(context: vscode.ExtensionContext, server: Server): void {
  const commands: Record<string, (argument?: never) => unknown> = {
    [ClientCommand.pickProgram]: (argument?: { uri?: string }) => exploreFrom(server, argument),
    [ClientCommand.whyNoLens]: (argument?: { uri?: string; line?: number }) => whyNoLens(server, argument),
    [ClientCommand.openConfiguration]: (argument?: Row | { target?: string; uri?: string }) =>
      openConfiguration(server, argument),
    "interleaver.explore": (row?: Row) => explore(server, row, false),
    "interleaver.exploreFurther": (row?: Row) => explore(server, row, true),
    "interleaver.check": (row?: Row) => check(server, row?.finding),
    "interleaver.cancel": (row?: Row) => cancel(server, row),
    "interleaver.dismiss": (row?: Row) =>
      onFinding(row, (finding) => server.execute(ServerCommand.dismiss, { finding: finding.id })),
    [ClientCommand.showFinding]: (argument?: Row | ShowFindingArguments) => openFinding(server, argument),
    "interleaver.openSchedule": (row?: Row) => openSchedule(row),
    [ClientCommand.copySchedule]: (argument?: Row | CopyScheduleArguments) => copySchedule(argument),
    "interleaver.showOutput": () => {
      server.showOutput();
    },
    "interleaver.restartServer": () => server.restart(),
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
}

async function exploreFrom(server: Server, argument: { uri?: string } | undefined): Promise<void> {
  const uri = uriOf(argument);
  if (uri === undefined || !(await requireTrust("Exploring runs the program"))) return;
  const choice = await pickProgram(server, uri);
  if (choice === undefined) return;
  const run: ExploreArguments = { target: choice.target, uri: uri.toString() };
  await server.execute(ServerCommand.explore, run);
}

async function explore(server: Server, row: Row | undefined, further: boolean): Promise<void> {
  if (row?.target === undefined || !(await requireTrust("Exploring runs the program"))) return;
  const { id, uri } = row.target;
  const run: ExploreArguments = { target: id, ...(uri !== "" && { uri }), ...(further && { further }) };
  await server.execute(ServerCommand.explore, run);
}

async function check(server: Server, finding: Finding | undefined): Promise<void> {
  if (finding === undefined || !(await requireTrust("Checking runs the program"))) return;
  await server.execute(ServerCommand.check, { finding: finding.id });
}

async function cancel(server: Server, row: Row | undefined): Promise<void> {
  const wish = row?.target === undefined ? await pickRunning(server) : { target: row.target.id };
  if (wish !== undefined) await server.execute(ServerCommand.cancel, wish);
}

async function whyNoLens(server: Server, argument: { uri?: string; line?: number } | undefined): Promise<void> {
  const uri = uriOf(argument);
  if (uri === undefined) return;
  const line = argument?.line ?? vscode.window.activeTextEditor?.selection.active.line;
  const place = { uri: uri.toString(), ...(line !== undefined && { line }) };
  const answer = await server.execute<WhyNoLensAnswer>(ServerCommand.whyNoLens, place);
  void vscode.window.showInformationMessage(answer.sentence);
}

/**
 * Opens `interleaver.toml` with a place for the target's arguments, or for the command that builds a file; the user saves it,
 * or does not.
 */
async function openConfiguration(
  server: Server,
  argument: Row | { target?: string; uri?: string } | undefined,
): Promise<void> {
  const target = typeof argument?.target === "string" ? argument.target : argument?.target?.id;
  const uri = argument !== undefined && "uri" in argument ? argument.uri : undefined;
  if (target === undefined && uri === undefined) return;
  const wanted = target === undefined ? { uri } : { target };
  const { path, text, line } = await server.execute<ConfigurationAnswer>(ServerCommand.configuration, wanted);
  const file = vscode.Uri.file(path);
  const exists = await vscode.workspace.fs.stat(file).then(
    () => true,
    () => false,
  );
  const document = await vscode.workspace.openTextDocument(exists ? file : file.with({ scheme: "untitled" }));
  const editor = await vscode.window.showTextDocument(document);
  const everything = document.validateRange(new vscode.Range(0, 0, document.lineCount, 0));
  if (document.getText() !== text)
    await editor.edit((edit) => {
      edit.replace(everything, text);
    });
  const place = new vscode.Position(line, document.lineAt(Math.min(line, document.lineCount - 1)).text.length);
  editor.selection = new vscode.Selection(place, place);
  editor.revealRange(new vscode.Range(place, place), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

async function openFinding(server: Server, argument: Row | ShowFindingArguments | undefined): Promise<void> {
  if (argument === undefined) return;
  const finding = isNamed(argument) ? await pickOpenFinding(server, argument) : argument.finding;
  if (finding !== undefined) await showFinding(server, finding);
}

function isNamed(argument: Row | ShowFindingArguments): argument is ShowFindingArguments {
  return typeof argument.finding === "string";
}

async function showFinding(server: Server, finding: Finding): Promise<void> {
  const place = new vscode.Position(finding.line, 0);
  const options: vscode.TextDocumentShowOptions = { selection: new vscode.Range(place, place), preserveFocus: true };
  await vscode.window.showTextDocument(vscode.Uri.parse(finding.uri), options);
  await server.execute(ServerCommand.select, { finding: finding.id });
}

async function openSchedule(row: Row | undefined): Promise<void> {
  if (row?.schedule !== undefined) await vscode.window.showTextDocument(vscode.Uri.file(row.schedule));
}

async function copySchedule(argument: Row | CopyScheduleArguments | undefined): Promise<void> {
  if (argument?.schedule === undefined) return;
  await vscode.env.clipboard.writeText(argument.schedule);
  void vscode.window.setStatusBarMessage("The path of the schedule file was copied.", 4000);
}

function onFinding(row: Row | undefined, act: (finding: Finding) => unknown): unknown {
  return row?.finding && act(row.finding);
}

function uriOf(argument: { uri?: string } | undefined): vscode.Uri | undefined {
  if (argument?.uri !== undefined) return vscode.Uri.parse(argument.uri);
  const uri = vscode.window.activeTextEditor?.document.uri;
  if (uri === undefined) void vscode.window.showInformationMessage("Open a C, C++ or Rust file first.");
  return uri;
}
