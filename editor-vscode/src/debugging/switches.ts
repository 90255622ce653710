// Moves that the debug protocol has no name for: the toolbar's previous and next switch, and any step.

import * as vscode from "vscode";
import { DebugRequest, type Position } from "../protocol";
import { DEBUG_TYPE } from "./replay";

export function registerSwitches(context: vscode.ExtensionContext): void {
  const commands: [string, (session: vscode.DebugSession) => Promise<void>][] = [
    ["interleaver.previousSwitch", (session) => move(session, DebugRequest.previousSwitch)],
    ["interleaver.nextSwitch", (session) => move(session, DebugRequest.nextSwitch)],
    ["interleaver.goToStep", goToStep],
  ];
  for (const [name, run] of commands) {
    context.subscriptions.push(
      vscode.commands.registerCommand(name, async () => {
        const session = vscode.debug.activeDebugSession;
        if (session?.type === DEBUG_TYPE) await run(session);
        else void vscode.window.showInformationMessage("Replay a failing interleaving first.");
      }),
    );
  }
}

async function move(session: vscode.DebugSession, request: string, argument?: object): Promise<void> {
  await session.customRequest(request, argument);
}

async function goToStep(session: vscode.DebugSession): Promise<void> {
  const { step, steps } = (await session.customRequest(DebugRequest.position)) as Position;
  const text = await vscode.window.showInputBox({
    title: `Go to step, from 0 (nothing has run) to ${steps}`,
    value: String(step),
    validateInput: (value) =>
      /^\d+$/.test(value) && Number(value) <= steps ? undefined : `A number from 0 to ${steps}, please.`,
  });
  if (text !== undefined) await move(session, DebugRequest.goToStep, { step: Number(text) });
}
