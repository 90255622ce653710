// The packaged extension comes up in a real workbench.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Workbench } from "../support/workbench";

let folder: string;
let workbench: Workbench;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "interleaver-project-"));
  await writeFile(join(folder, "main.c"), "int main(void) { return 0; }\n");
  workbench = await Workbench.open(inject("workbench"), folder);
});

afterAll(async () => {
  await workbench.screenshot("opens");
  await workbench.close();
  await rm(folder, { recursive: true });
});

test("its view says how to begin", async () => {
  await workbench.page.getByRole("tab", { name: "Interleaver" }).click();
  await workbench.page.getByText("Nothing was explored here yet").waitFor();
});

test("its server starts and its output tells of no error", async () => {
  await workbench.run("Interleaver: Show Output");
  await workbench.page.getByRole("tab", { name: "Output" }).waitFor();
  expect(await workbench.toasts.allTextContents()).toEqual([]);
});

test("nothing leaves the machine", () => {
  expect(workbench.strayRequests).toEqual([]);
});
