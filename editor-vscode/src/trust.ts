// Restricted Mode: saved findings are shown, nothing runs.

import * as vscode from "vscode";

/** Whether the workspace is trusted; if not, says so and offers to manage that. */
export async function requireTrust(what: string): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const manage = "Manage Workspace Trust";
  const sentence = `${what}, and this workspace is in Restricted Mode: trust it first.`;
  const choice = await vscode.window.showWarningMessage(sentence, manage);
  if (choice === manage) await vscode.commands.executeCommand("workbench.trust.manage");
  return false;
}
