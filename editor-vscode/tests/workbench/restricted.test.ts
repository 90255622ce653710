// Restricted Mode: what was found is shown; nothing is built, run or loaded until the workspace is trusted.

import { stat } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CodeServer } from "../support/codeServer";
import { Project } from "../support/project";
import { WATCHDOG } from "../support/watchdog.mts";
import { Workbench } from "../support/workbench";

let project: Project;
let server: CodeServer;
let workbench: Workbench;
let built: number;

beforeAll(async () => {
  project = await Project.copy("make-c");
  await project.run("make");
  await project.explore("build/bank");
  // The sources are newer than the program: a click would build.
  await project.write("src/crowd.c", await project.read("src/crowd.c"));
  built = await buildTime();
  server = await CodeServer.start({ trusted: false, machineSettings: project.countsExecutions });
  workbench = await Workbench.open(server.url, project.folder);
});

afterAll(async () => {
  await workbench.screenshot("end-of-restricted");
  await workbench.close();
  await server.stop();
  await project.remove();
});

test("the finding is a problem, with the switches that lead there", async () => {
  await workbench.statusBar.filter({ hasText: "Restricted Mode" }).waitFor();
  await workbench.openFile("src/main.c");
  await workbench.problems.show();
  await workbench.problems.row(/Assertion .*shared\.balance/).waitFor();
  expect((await workbench.problems.explained()).length).toBeGreaterThan(2);
});

test("the view shows it, and says what is not done here", async () => {
  const rows = await workbench.tree();
  await rows.filter({ hasText: "Assertion" }).first().waitFor();
  // By the name that it has wherever it is shown, and counted as elsewhere.
  await rows
    .filter({ hasText: /^bank\s*✗ 1 bug/ })
    .first()
    .waitFor();
  await workbench.statusBar.filter({ hasText: "✗ 1 bug" }).waitFor();
  await workbench.page.getByText("Restricted Mode: nothing is built, run or loaded.").waitFor();
});

test("hovering over the failing line tells where the threads were", async () => {
  const failing = await project.line("src/main.c", "assert(shared.balance");
  await workbench.editor.hover(failing, "⏮ Replay", "bug depth");
  const hover = workbench.editor.hoverText("T1 failed · src/main.c:35");
  await hover.waitFor();
  // Every thread comes into view, once the editor has given the hover its size, and what failed is said once.
  const options = { timeout: WATCHDOG };
  await expect.poll(() => workbench.editor.isWithin(hover.getByText("T3"), hover), options).toBe(true);
  expect((await hover.innerText()).match(/Assertion/g)).toHaveLength(1);
  await workbench.screenshot("hover");
  await workbench.page.keyboard.press("Escape");
  await hover.waitFor({ state: "hidden" });
});

test("no lens offers to explore", async () => {
  await workbench.editor.lens("⏮ Replay").waitFor();
  expect(await workbench.editor.lens("Explore interleavings").count()).toBe(0);
});

test("a replay says that it would run the program, and leads to trust", async () => {
  await workbench.editor.button("⏮ Replay").click();
  const toast = workbench.toast("A replay runs the program, and this workspace is in Restricted Mode: trust it first.");
  await toast.waitFor();
  await workbench.screenshot("restricted");
  await toast.getByRole("button", { name: "Manage Workspace Trust" }).click();
  await workbench.page.locator(".workspace-trust-editor").waitFor();
});

test("nothing was built and nothing was run", async () => {
  expect(await buildTime()).toBe(built);
  expect(await project.executed()).toBe(0);
});

test("once it is trusted, its programs are looked for", async () => {
  const trust = workbench.page.locator(".workspace-trust-editor");
  await trust.getByRole("button", { name: "Trust", exact: true }).click();
  const rows = await workbench.tree();
  await rows.filter({ hasText: "crowd" }).waitFor();
  await workbench.page.getByText("Restricted Mode: nothing is built").waitFor({ state: "hidden" });
});

/** When the program was built, in milliseconds. */
async function buildTime(): Promise<number> {
  return (await stat(project.path("build/bank"))).mtimeMs;
}
