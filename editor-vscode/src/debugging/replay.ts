// A replay is a debug session of type `interleaver`: it needs a schedule, and no launch.json.

import * as vscode from "vscode";
import { ClientCommand, ServerCommand, type Finding, type ReplayArguments, type Tree } from "../protocol";
import type { Row } from "../core/treeModel";
import type { Server } from "../server";
import { serverEnvironment, serverExecutable } from "../settings";
import { pickFinding } from "../picks";
import { requireTrust } from "../trust";

export const DEBUG_TYPE = "interleaver";

export function registerReplay(context: vscode.ExtensionContext, server: Server): void {
  const provider = new ReplayConfigurations(server);
  const { Initial, Dynamic } = vscode.DebugConfigurationProviderTriggerKind;
  context.subscriptions.push(
    vscode.commands.registerCommand(ClientCommand.replay, (what?: ReplayArguments | Row) => replay(server, what)),
    vscode.commands.registerCommand("interleaver.replayPassing", (row?: Row) => replayPassing(server, row)),
    vscode.debug.registerDebugConfigurationProvider(DEBUG_TYPE, provider, Initial),
    vscode.debug.registerDebugConfigurationProvider(DEBUG_TYPE, provider, Dynamic),
    vscode.debug.registerDebugAdapterDescriptorFactory(DEBUG_TYPE, {
      createDebugAdapterDescriptor: () =>
        new vscode.DebugAdapterExecutable(serverExecutable(context), ["dap"], { env: serverEnvironment() }),
    }),
  );
}

async function replay(server: Server, what: ReplayArguments | Row | undefined): Promise<void> {
  if (!(await requireTrust("A replay runs the program"))) return;
  const configuration = what === undefined ? await pickConfiguration(server) : configurationFor(what);
  if (configuration === undefined) return;
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(configuration.folder));
  if (configuration.finding !== undefined) {
    await server.execute(ServerCommand.select, { finding: configuration.finding });
  }
  // A replay shows the text as it was explored: the editors stay as they are.
  const started = await vscode.debug.startDebugging(folder, configuration, { suppressSaveBeforeStart: true });
  if (started) await vscode.commands.executeCommand("workbench.view.debug");
}

async function replayPassing(server: Server, row: Row | undefined): Promise<void> {
  const finding = row?.finding;
  if (typeof finding?.passing !== "string") return;
  const { id, passing, program, folder } = finding;
  await replay(server, { finding: id, schedule: passing, passes: true, program, folder });
}

interface ReplayConfiguration extends vscode.DebugConfiguration {
  schedule: string;
  program: string;
  folder: string;
  finding?: string;
}

function configurationFor(what: ReplayArguments | Row): ReplayConfiguration | undefined {
  if ("children" in what) return what.finding && configurationOf(what.finding);
  const { passes, ...launch } = what;
  return { ...base(passes ? "A schedule that passes" : "Replay"), ...launch };
}

function configurationOf(finding: Finding): ReplayConfiguration {
  const { id, schedule, program, folder, message } = finding;
  return { ...base(`Replay: ${message}`), finding: id, schedule, program, folder };
}

function base(name: string): { type: string; request: string; name: string } {
  return { type: DEBUG_TYPE, request: "launch", name };
}

async function pickConfiguration(server: Server): Promise<ReplayConfiguration | undefined> {
  const finding = await pickFinding(server, "Which failing interleaving should be replayed?");
  return finding && configurationOf(finding);
}

/** F5 without a launch.json asks which finding; the debug view's list has them all. */
class ReplayConfigurations implements vscode.DebugConfigurationProvider {
  constructor(private readonly server: Server) {}

  async provideDebugConfigurations(): Promise<vscode.DebugConfiguration[]> {
    if (!this.server.running) return [];
    const tree = await this.server.execute<Tree>(ServerCommand.tree, {});
    return tree.targets.flatMap((target) => target.findings).map(configurationOf);
  }

  async resolveDebugConfiguration(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (typeof configuration["schedule"] !== "string") return pickConfiguration(this.server);
    const trusted = vscode.workspace.isTrusted;
    return { folder: folder?.uri.fsPath, ...base(configuration.name), ...configuration, trusted };
  }
}
