// The view "Interleavings": the rows of core/treeModel in the editor's terms.

import * as vscode from "vscode";
import { openFindings, rows, type Row } from "./core/treeModel";
import { plural } from "./core/words";
import { ServerCommand, type Tree } from "./protocol";
import type { Server } from "./server";

const VIEW = "interleaver.tree";

export function registerTree(context: vscode.ExtensionContext, server: Server): void {
  const provider = new Interleavings(server);
  const view = vscode.window.createTreeView(VIEW, { treeDataProvider: provider, showCollapseAll: true });
  view.message = vscode.workspace.isTrusted ? "" : "Restricted Mode: nothing is built, run or loaded.";
  context.subscriptions.push(
    view,
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      view.message = "";
    }),
    provider,
    provider.onTree((tree) => {
      const count = openFindings(tree);
      view.badge = count === 0 ? undefined : { value: count, tooltip: plural(count, "failing interleaving") };
    }),
    vscode.commands.registerCommand("interleaver.refresh", () => provider.refresh()),
  );
}

class Interleavings implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  private readonly rowsChanged = new vscode.EventEmitter<void>();
  private readonly treeRead = new vscode.EventEmitter<Tree>();
  private readonly subscription: vscode.Disposable;
  private roots: Row[] = [];
  private readings = 0;

  readonly onDidChangeTreeData = this.rowsChanged.event;
  readonly onTree = this.treeRead.event;

  constructor(private readonly server: Server) {
    this.subscription = server.onChanged(() => void this.refresh());
  }

  async refresh(): Promise<void> {
    const reading = ++this.readings;
    const tree = await this.read();
    // Answers may overtake one another: the last question counts.
    if (reading !== this.readings) return;
    this.roots = rows(tree, new Date());
    this.treeRead.fire(tree);
    this.rowsChanged.fire();
  }

  getChildren(row?: Row): Row[] {
    return row === undefined ? this.roots : row.children;
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const item = new vscode.TreeItem(row.label, collapsibleState(row));
    item.id = row.id;
    item.description = row.description;
    item.tooltip = row.tooltip;
    item.contextValue = row.context;
    item.iconPath = new vscode.ThemeIcon(
      row.icon.id,
      row.icon.color ? new vscode.ThemeColor(row.icon.color) : undefined,
    );
    const command = commandOf(row);
    if (command !== undefined) item.command = command;
    return item;
  }

  dispose(): void {
    this.subscription.dispose();
    this.rowsChanged.dispose();
    this.treeRead.dispose();
  }

  private async read(): Promise<Tree> {
    if (!this.server.running) return { targets: [] };
    try {
      return await this.server.execute<Tree>(ServerCommand.tree, {});
    } catch (error) {
      this.server.log(`The tree could not be read: ${String(error)}`);
      return { targets: [] };
    }
  }
}

function collapsibleState(row: Row): vscode.TreeItemCollapsibleState {
  if (row.children.length === 0) return vscode.TreeItemCollapsibleState.None;
  return row.expanded ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed;
}

function commandOf(row: Row): vscode.Command | undefined {
  if (row.finding !== undefined) return { command: "interleaver.showFinding", title: "Show", arguments: [row] };
  if (row.schedule !== undefined) return { command: "interleaver.openSchedule", title: "Open", arguments: [row] };
  if (row.place === undefined) return undefined;
  const position = new vscode.Position(row.place.line, 0);
  const options: vscode.TextDocumentShowOptions = {
    selection: new vscode.Range(position, position),
    preserveFocus: true,
  };
  return { command: "vscode.open", title: "Show", arguments: [vscode.Uri.parse(row.place.uri), options] };
}
