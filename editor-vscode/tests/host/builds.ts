// The extension runs the builds that its server asks for.

import { strict as assert } from "node:assert";
import { once } from "node:events";
import { existsSync, readFileSync, watch } from "node:fs";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import * as vscode from "vscode";
import type { BuildParams, BuildResult } from "../../src/protocol";
import { activated, ask, folder } from "./support";

describe("a build", () => {
  before(activated);

  function build(command: string): Promise<BuildResult> {
    const params: BuildParams = { command, directory: folder().fsPath, confirmed: true };
    return ask<BuildResult>("interleaver/build", params);
  }

  it("runs in its directory, and says how it ended and what it wrote", async () => {
    const result = await build("pwd; echo to stderr >&2");
    assert.equal(result.ran, true);
    assert.equal(result.exitCode, 0);
    assert.deepEqual(result.output?.trim().split("\n").sort(), [folder().fsPath, "to stderr"].sort());
  });

  it("that fails says so, without the colours that the terminal shows", async () => {
    const result = await build("printf '\\033[31merror:\\033[0m no\\n'; exit 3");
    const { command, ...rest } = result;
    assert.deepEqual(rest, { ran: true, exitCode: 3, output: "error: no\n" });
    assert.match(command ?? "", /exit 3$/);
  });

  it("of a command that does not exist is one that fails", async () => {
    const result = await build("no-such-command-anywhere");
    assert.equal(result.exitCode, 127);
    assert.match(result.output ?? "", /no-such-command-anywhere/);
  });

  it("is a task in a terminal", async () => {
    const started = new Promise<vscode.TaskStartEvent>((resolve) => {
      vscode.tasks.onDidStartTask(resolve);
    });
    const [{ execution }] = await Promise.all([started, build("true")]);
    assert.equal(execution.task.definition.type, "interleaver");
    assert.equal(execution.task.name, "build");
    const names = vscode.window.terminals.map((terminal) => terminal.name);
    assert.deepEqual(names, ["Interleaver: build (one)"]);
  });

  it("whose task is ended ends with everything that it started", async () => {
    const started = new Promise<vscode.TaskStartEvent>((resolve) => {
      vscode.tasks.onDidStartTask(resolve);
    });
    const ended = build("echo $$ > group.new; mv group.new group; sleep 1000 & wait");
    const { execution } = await started;
    const group = Number(await content(vscode.Uri.joinPath(folder(), "group").fsPath));
    execution.terminate();
    assert.equal((await ended).exitCode, 130);
    await gone(group);
  });
});

/** A file's content once it is there. */
async function content(path: string): Promise<string> {
  const changes = watch(dirname(path));
  while (!existsSync(path)) await once(changes, "change");
  changes.close();
  return readFileSync(path, "utf8");
}

/** Resolves once no process of the group is left. */
async function gone(group: number): Promise<void> {
  for (;;) {
    try {
      process.kill(-group, 0);
    } catch {
      return;
    }
    await setImmediate();
  }
}
