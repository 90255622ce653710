// What is run is what is on disk: a run saves the file's editors first.

import * as vscode from "vscode";

const LANGUAGES = new Set(["c", "cpp", "rust", "interleaver-configuration"]);

/** Saves the unsaved sources of the folder that a run is about; of all folders where it names no file. */
export async function saveSources(argument: unknown): Promise<void> {
  const folder = folderOf(argument);
  const unsaved = vscode.workspace.textDocuments.filter(
    (document) =>
      document.isDirty &&
      document.uri.scheme === "file" &&
      LANGUAGES.has(document.languageId) &&
      (folder === undefined || vscode.workspace.getWorkspaceFolder(document.uri) === folder),
  );
  const saved = await Promise.all(unsaved.map(async (document) => ({ document, ok: await document.save() })));
  const failed = saved.find(({ ok }) => !ok);
  if (failed) throw new Error(`${failed.document.fileName} could not be saved, so nothing was run.`);
}

function folderOf(argument: unknown): vscode.WorkspaceFolder | undefined {
  if (typeof argument !== "object" || argument === null || !("uri" in argument)) return undefined;
  if (typeof argument.uri !== "string") return undefined;
  return vscode.workspace.getWorkspaceFolder(vscode.Uri.parse(argument.uri));
}
