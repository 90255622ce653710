// Runs the tests of this folder inside the extension host, and writes down what comes of each.

import { appendFileSync } from "node:fs";
import Mocha from "mocha";
import { HOST_RESULTS, type HostResult } from "./results";

export async function run(): Promise<void> {
  try {
    await runMocha();
  } catch (error) {
    report({ title: "the tests start", error: String(error) });
  } finally {
    write("");
  }
}

async function runMocha(): Promise<void> {
  const mocha = new Mocha({ ui: "bdd", timeout: 30_000 });
  mocha.suite.emit("pre-require", globalThis, null, mocha);
  await import("./extension");
  await import("./builds");
  await new Promise<void>((resolve) => {
    mocha
      .run(() => {
        resolve();
      })
      .on("pass", (test) => {
        report({ title: test.fullTitle() });
      })
      .on("fail", (test, error: Error) => {
        report({ title: test.fullTitle(), error: error.stack ?? error.message });
      });
  });
}

function report(result: HostResult): void {
  write(JSON.stringify(result));
}

function write(line: string): void {
  appendFileSync(process.env[HOST_RESULTS] ?? "", `${line}\n`);
}
