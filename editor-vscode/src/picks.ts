// Pick lists: programs that use a file, findings, explorations that run.

import * as vscode from "vscode";
import { depth, headline, moment } from "./core/words";
import { ServerCommand, type Finding, type ProgramChoice, type Tree } from "./protocol";
import type { Server } from "./server";

/** Asks for one of the saved findings; says what to do where there is none. */
export async function pickFinding(server: Server, title: string): Promise<Finding | undefined> {
  const { targets } = await server.execute<Tree>(ServerCommand.tree, {});
  const now = new Date();
  const choices = targets.flatMap((target) =>
    target.findings.map((finding) => ({
      label: headline(finding.message),
      description: target.label,
      detail: `${depth(finding)} · found ${moment(finding.found, now)}`,
      finding,
    })),
  );
  if (choices.length === 0) {
    const sentence = 'No failing interleaving was found yet: click "Explore interleavings" above main or a test first.';
    void vscode.window.showInformationMessage(sentence);
    return undefined;
  }
  if (choices.length === 1) return choices[0]?.finding;
  return (await vscode.window.showQuickPick(choices, { title, matchOnDescription: true }))?.finding;
}

/** The finding that stands, or the user's choice where a target has several. */
export async function pickOpenFinding(
  server: Server,
  { target, finding }: { target: string; finding: string },
): Promise<Finding | undefined> {
  const { targets } = await server.execute<Tree>(ServerCommand.tree, {});
  const of = targets.find(({ id }) => id === target);
  const open = of?.findings.filter(({ fixed }) => fixed === null) ?? [];
  if (open.length < 2) return open[0];
  const first = open.filter(({ id }) => id === finding);
  const choices = [...first, ...open.filter((one) => !first.includes(one))].map((one) => ({
    label: headline(one.message),
    description: depth(one),
    finding: one,
  }));
  return (await vscode.window.showQuickPick(choices, { title: `Findings of ${of?.label ?? target}` }))?.finding;
}

/** Asks for one of the programs that a file is part of. */
export async function pickProgram(server: Server, uri: vscode.Uri): Promise<ProgramChoice | undefined> {
  const choices = await server.execute<ProgramChoice[]>(ServerCommand.programs, { uri: uri.toString() });
  const file = vscode.workspace.asRelativePath(uri);
  if (choices.length === 0) {
    const why = await server.execute<{ sentence: string }>(ServerCommand.whyNoLens, { uri: uri.toString() });
    void vscode.window.showInformationMessage(why.sentence);
    return undefined;
  }
  return vscode.window.showQuickPick(choices, { title: `Explore a program that uses ${file}`, matchOnDetail: true });
}

/** Asks which of the running explorations is meant, if there are several. A first build is of no target yet. */
export async function pickRunning(server: Server): Promise<{ target?: string } | undefined> {
  const { targets } = await server.execute<Tree>(ServerCommand.tree, {});
  const running = targets.filter((target) => target.state === "running" || target.state === "building");
  const [first, second] = running;
  if (first === undefined) return {};
  if (second === undefined) return { target: first.id };
  const choices = running.map(({ id, label, status }) => ({ label, description: status, id }));
  const picked = await vscode.window.showQuickPick(choices, { title: "Cancel which exploration?" });
  return picked && { target: picked.id };
}
