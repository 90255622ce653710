// The tests in tests/host run inside a real extension host, and each of them is reported here.

import { execFile } from "node:child_process";
import { on } from "node:events";
import { watch } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WATCHDOG } from "../support/watchdog.mts";
import { HOST_RESULTS, type HostResult } from "../host/results";
import { CodeServer } from "../support/codeServer";
import { EXTENSION } from "../support/paths";
import { Workbench } from "../support/workbench";

const TESTS = join(EXTENSION, "dist/host-tests");

let scratch: string;
let server: CodeServer;
let workbench: Workbench;

beforeAll(async () => {
  await promisify(execFile)("npm", ["run", "--silent", "build:host-tests"], { cwd: EXTENSION });
  scratch = await mkdtemp(join(tmpdir(), "interleaver-host-"));
  await writeFile(results(), "");
  server = await CodeServer.start({
    trusted: true,
    runsTests: true,
    machineSettings: { "interleaver.serverPath": await scriptedServer() },
    environment: { [HOST_RESULTS]: results() },
  });
});

afterAll(async () => {
  await workbench.screenshot("host");
  await workbench.close();
  await server.stop();
  await rm(scratch, { recursive: true });
});

// Each of them has its own watchdog, so that there is none here.
test("every test inside the extension host passes", { timeout: 0 }, async () => {
  const changes = watch(results());
  workbench = await Workbench.open(server.url, await twoFolders(), {
    extensionDevelopmentPath: EXTENSION,
    extensionTestsPath: join(TESTS, "index.js"),
  });
  let lines: string[] = [];
  // Changes that come while the file is read wait for their turn.
  const told = on(changes, "change", { signal: AbortSignal.timeout(4 * WATCHDOG) });
  while (lines.at(-1) !== "") {
    await told.next();
    lines = (await readFile(results(), "utf8")).split("\n").slice(0, -1);
  }
  changes.close();
  const outcomes = lines.slice(0, -1).map((line) => JSON.parse(line) as HostResult);
  expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
  expect(outcomes.length).toBeGreaterThan(10);
});

function results(): string {
  return join(scratch, "results.json");
}

/** The setting wants one executable. */
async function scriptedServer(): Promise<string> {
  const path = join(scratch, "interleaver");
  await writeFile(path, `#!/bin/sh\nexec node ${join(TESTS, "scriptedServer.js")} "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

async function twoFolders(): Promise<string> {
  for (const name of ["one", "two"]) await mkdir(join(scratch, name));
  await writeFile(join(scratch, "two/other.c"), "int other;\n");
  const path = join(scratch, "both.code-workspace");
  await writeFile(path, JSON.stringify({ folders: [{ path: "one" }, { path: "two" }] }));
  return path;
}
