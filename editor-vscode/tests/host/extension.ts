// The extension in its host: what it registers, what it tells its server, what it opens.

import { strict as assert } from "node:assert";
import * as vscode from "vscode";
import { ClientCommand, ServerCommand, type ClientOptions } from "../../src/protocol";
import { activated, answerWith, editedFile, folder, log, messages, write } from "./support";

interface Manifest {
  contributes: { commands: { command: string }[]; configuration: { properties: Record<string, unknown> } };
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
}

describe("the extension", () => {
  let manifest: Manifest;

  before(async () => {
    manifest = (await activated()).packageJSON as Manifest;
  });

  it("registers every command that it contributes, and none of the server's", async () => {
    const registered = await vscode.commands.getCommands(true);
    const contributed = manifest.contributes.commands.map(({ command }) => command);
    assert.deepEqual(
      contributed.filter((command) => !registered.includes(command)),
      [],
    );
    assert.deepEqual(
      contributed.filter((command) => command.startsWith("interleaver.server.")),
      [],
    );
  });

  it("tells the server at once what it can do and what the user wants", async () => {
    const [initialize] = await messages("initialize");
    assert.deepEqual(initialize?.params, {
      clientCommands: Object.values(ClientCommand),
      runsBuilds: true,
      trusted: true,
      lenses: true,
      hints: true,
      switchHints: true,
      budget: { maxPreemptions: 2, maxSchedules: 10_000, timeLimitSeconds: 60 },
    } satisfies ClientOptions);
  });

  it("tells the server when a setting changes, each switch by itself", async () => {
    const settings = vscode.workspace.getConfiguration("interleaver");
    for (const [setting, member] of [
      ["lenses", "lenses"],
      ["hints.depth", "hints"],
      ["hints.switches", "switchHints"],
    ] as const) {
      for (const value of [false, undefined]) {
        await settings.update(setting, value, vscode.ConfigurationTarget.Workspace);
        const options = (await messages("workspace/didChangeConfiguration")).at(-1)?.params as {
          settings: { interleaver: ClientOptions };
        };
        assert.equal(options.settings.interleaver[member], value ?? true, setting);
      }
    }
  });

  it("starts one server for all folders", async () => {
    const before = (await log()).process;
    assert.equal(vscode.workspace.workspaceFolders?.length, 2);
    await vscode.window.showTextDocument(vscode.Uri.joinPath(folder(1), "other.c"));
    assert.equal((await log()).process, before);
    assert.equal((await messages("initialize")).length, 1);
    const opened = (await messages("textDocument/didOpen")).map(({ params }) => JSON.stringify(params));
    assert(opened.some((params) => params.includes("other.c")));
  });

  it("saves unsaved sources before a run, however it is asked for", async () => {
    for (const command of [ServerCommand.explore, ServerCommand.check]) {
      const document = await editedFile(`${command}.c`, "int main(void) { return 0; }\n", "/* typed */ ");
      await vscode.commands.executeCommand(command, { target: "app#", uri: document.uri.toString() });
      assert(!document.isDirty);
      const [run] = await messages(command);
      assert.equal(run?.onDisk, "/* typed */ int main(void) { return 0; }\n");
    }
  });

  it("saves nothing for what runs nothing", async () => {
    const document = await editedFile("unsaved.c", "int x;\n", "// typed\n");
    await vscode.commands.executeCommand(ServerCommand.whyNoLens, { uri: document.uri.toString() });
    assert(document.isDirty);
  });

  it("opens interleaver.toml with a place for the arguments, and does not write it", async () => {
    const path = vscode.Uri.joinPath(folder(), "interleaver.toml").fsPath;
    await answerWith(ServerCommand.configuration, { path, text: '[[target]]\nargs = [""]\n', line: 1 });
    await vscode.commands.executeCommand(ClientCommand.openConfiguration, { target: "app#" });
    const editor = vscode.window.activeTextEditor;
    assert.equal(editor?.document.getText(), '[[target]]\nargs = [""]\n');
    assert.equal(editor.selection.active.line, 1);
    assert(editor.document.isDirty);
    await assert.rejects(Promise.resolve(vscode.workspace.fs.stat(vscode.Uri.file(path))));
  });

  it("edits an interleaver.toml that is there, and does not save it", async () => {
    const uri = await write("interleaver.toml", "# mine\n");
    await answerWith(ServerCommand.configuration, { path: uri.fsPath, text: "# mine\nargs = []\n", line: 1 });
    await vscode.commands.executeCommand(ClientCommand.openConfiguration, { target: "app#" });
    assert.equal(vscode.window.activeTextEditor?.document.uri.toString(), uri.toString());
    assert.equal(vscode.window.activeTextEditor.document.getText(), "# mine\nargs = []\n");
    assert.equal(Buffer.from(await vscode.workspace.fs.readFile(uri)).toString(), "# mine\n");
  });

  it("restricts every setting that names a path, a program or how much is run", () => {
    const settings = Object.keys(manifest.contributes.configuration.properties);
    const harmless = [
      "interleaver.lenses",
      "interleaver.hints.depth",
      "interleaver.hints.switches",
      "interleaver.trace.server",
    ];
    assert.deepEqual(
      settings.filter((setting) => !harmless.includes(setting)).sort(),
      [...manifest.capabilities.untrustedWorkspaces.restrictedConfigurations].sort(),
    );
  });

  it("restarts the server on request", async () => {
    const before = (await log()).process;
    await vscode.commands.executeCommand("interleaver.restartServer");
    assert.notEqual((await log()).process, before);
  });
});
