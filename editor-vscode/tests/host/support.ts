// What the tests of this folder share.

import { strict as assert } from "node:assert";
import * as vscode from "vscode";
import { SCRIPT, type Log, type Received } from "./script";

export const ID = "interleaver.interleaver";

/** The extension, active; its server has answered. */
export async function activated(): Promise<vscode.Extension<unknown>> {
  const extension = vscode.extensions.getExtension(ID);
  assert(extension, "the extension is installed");
  await extension.activate();
  return extension;
}

export async function log(): Promise<Log> {
  return vscode.commands.executeCommand<Log>(SCRIPT.received, {});
}

/** What the server was told of one kind. */
export async function messages(method: string): Promise<Received[]> {
  return (await log()).messages.filter((message) => message.method === method);
}

export async function answerWith(command: string, answer: unknown): Promise<void> {
  await vscode.commands.executeCommand(SCRIPT.answer, { command, answer });
}

/** Lets the server send the client a request. */
export async function ask<T>(method: string, params: unknown): Promise<T> {
  return vscode.commands.executeCommand<T>(SCRIPT.ask, { method, params });
}

export function folder(index = 0): vscode.Uri {
  const found = vscode.workspace.workspaceFolders?.[index];
  assert(found, `there are more than ${index} folders`);
  return found.uri;
}

export async function write(name: string, text: string): Promise<vscode.Uri> {
  const uri = vscode.Uri.joinPath(folder(), name);
  await vscode.workspace.fs.writeFile(uri, Buffer.from(text));
  return uri;
}

/** A file in an editor, with text typed in front that is not saved. */
export async function editedFile(name: string, text: string, typed: string): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument(await write(name, text));
  const editor = await vscode.window.showTextDocument(document);
  await editor.edit((edit) => {
    edit.insert(new vscode.Position(0, 0), typed);
  });
  assert(document.isDirty);
  return document;
}
