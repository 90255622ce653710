// The status bar's entry: the server's words; a click cancels what runs, or shows the tree.

import * as vscode from "vscode";
import type { Server } from "./server";

export function registerStatusBar(context: vscode.ExtensionContext, server: Server): void {
  const item = vscode.window.createStatusBarItem("interleaver.status", vscode.StatusBarAlignment.Left, 10);
  item.name = "Interleaver";
  context.subscriptions.push(
    item,
    server.onStatus((status) => {
      if (status === undefined || status.text === "") {
        item.hide();
        return;
      }
      // How far it is stands beside it: the progress that the editor shows.
      item.text = status.running > 0 ? "$(debug-stop) Cancel" : `$(git-compare) ${status.text}`;
      item.tooltip = status.running > 0 ? `Cancel\n${status.tooltip}` : status.tooltip;
      item.command = status.running > 0 ? "interleaver.cancel" : "interleaver.tree.focus";
      item.show();
    }),
  );
}
