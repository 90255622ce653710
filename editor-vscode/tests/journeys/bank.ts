// The whole way from a lens to a fix: two tellers pay into one account, and nobody takes its lock.

import { expect } from "vitest";
import type { Step } from "../support/journey";

const FAILING = "assert(shared.balance";

/** Where a server that publishes nothing is noticed. */
export const FINDS = "the failing line gets a problem, with the switches that lead there";

/** Where an adapter that ignores stepping back is noticed. */
export const STEPS_BACK = "steps back go through the lines again, and the private variable has its old values";

const EXPLORE: Step[] = [
  [
    "where nothing has been explored, the view says how to begin, and a lens offers to build",
    async ({ workbench, project, picture }) => {
      await workbench.tree();
      await workbench.page.getByText("Nothing was explored here yet").waitFor();
      await workbench.openFile("src/main.c");
      await workbench.editor.goTo(await project.line("src/main.c", FAILING));
      await workbench.editor.lensAbove("int main(void)", "▶ Build, then explore interleavings").waitFor();
      expect(project.hasStore).toBe(false);
      await picture("lens");
    },
  ],
  [
    "a click asks before it builds, once",
    async ({ workbench, picture }) => {
      await workbench.editor.button("▶ Build, then explore").click();
      await workbench.dialog.filter({ hasText: 'Build with "make"?' }).waitFor();
      await picture("build");
      await workbench.allowBuild("make");
    },
  ],
  [
    "the lens tells what was found, and the store has counted every execution",
    async ({ workbench, project }) => {
      await workbench.editor.lens(/^✗ 1 bug · 1 preemption · [\d,]+ schedules$/).waitFor();
      expect(await project.recorded()).toBe(await project.executed());
      expect(await project.executed()).toBeGreaterThan(10);
    },
  ],
  [
    FINDS,
    async ({ workbench, picture }) => {
      await workbench.problems.show();
      await workbench.problems.row("Assertion `shared.balance").waitFor();
      expect(await workbench.problems.related()).toEqual([
        "1/4 T3 reads `shared.balance`",
        "2/4 T2 reads `shared.balance`",
        "3/4 T3 writes `shared.balance`",
        "4/4 T1 joins T2",
      ]);
      await picture("problem");
    },
  ],
  [
    "the failing line tells the depth of the bug, and offers to replay it",
    async ({ workbench }) => {
      await workbench.editor.line(FAILING, "bug depth 2 · 1 preemption").waitFor();
      await workbench.editor.lensAbove(FAILING, "⏮ Replay").waitFor();
    },
  ],
  [
    "the line where a thread was preempted tells who ran instead",
    async ({ workbench, picture }) => {
      await workbench.openFile("src/account.c");
      await workbench.editor.line("account->balance = after;", "⇄ T2 runs here (1 of 1)").waitFor();
      await picture("switch");
    },
  ],
];

const REPLAY: Step[] = [
  [
    "a replay begins at the failure",
    async ({ workbench, project, picture }) => {
      await workbench.openFile("src/main.c");
      await workbench.editor.button("⏮ Replay").click();
      await workbench.debug.at("main.c", await project.line("src/main.c", FAILING));
      await workbench.debug.stack("main.c").waitFor();
      await workbench.debug.variable("first", "\\d+");
      await picture("replay");
    },
  ],
  [
    "going back stops at a breakpoint, in the thread that comes by there",
    async ({ workbench, project }) => {
      const { debug, editor } = workbench;
      await editor.toggleBreakpoint(await project.line("src/main.c", LOOP));
      await editor.breakpoints.waitFor();
      await debug.press("Reverse");
      await debug.at("main.c", await project.line("src/main.c", LOOP));
      await debug.unfold("Locals");
      await debug.variable("i", "1");
      await debug.variable("handled", "10");
      await debug.stack("switched to T3").waitFor();
      // Else it would stop the other threads that come by, too.
      await editor.toggleBreakpoint(await project.line("src/main.c", LOOP));
      await editor.breakpoints.waitFor({ state: "hidden" });
    },
  ],
  [
    STEPS_BACK,
    async ({ workbench, project, picture }) => {
      const { debug } = workbench;
      const line = await project.line("src/main.c", LOOP);
      for (const [back, handled, i] of [
        [line - 1, 10, 1],
        [line - 2, 10, 0],
        [line, 0, 0],
      ] as const) {
        await debug.press("Step Back");
        await debug.at("main.c", back);
        await debug.variable("i", `${i}`);
        await debug.variable("handled", `${handled}`);
      }
      await picture("step-back");
    },
  ],
  [
    "steps forward lead to the same lines and values, over the preemption",
    async ({ workbench, project }) => {
      const { debug } = workbench;
      const line = await project.line("src/main.c", LOOP);
      for (const [forward, handled, i] of [
        [line - 2, 10, 0],
        [line - 1, 10, 1],
        [line, 10, 1],
      ] as const) {
        await debug.press("Step Over");
        await debug.at("main.c", forward);
        await debug.variable("i", `${i}`);
        await debug.variable("handled", `${handled}`);
      }
    },
  ],
  [
    "the toolbar leads to the switch before",
    async ({ workbench, picture }) => {
      await workbench.debug.press("Previous Thread Switch");
      await workbench.debug.at("account.c", 10);
      await workbench.debug.stack("switched to T3").waitFor();
      await workbench.debug.variable("before", "10");
      await workbench.debug.variable("after", "20");
      await picture("switch-back");
      await workbench.debug.stop();
    },
  ],
];

const CANCEL: Step[] = [
  [
    "a long exploration tells how far it is",
    async ({ workbench, picture }) => {
      await workbench.openFile("src/crowd.c");
      await workbench.editor.button("▶ Explore interleavings").click();
      await workbench.editor.lens(/^● [\d,]+ schedules · c = \d/).waitFor();
      await workbench.statusBar.filter({ hasText: /Exploring crowd: [\d,]+ schedules · [\d,]+\/s · c = \d/ }).waitFor();
      await workbench.statusBar.filter({ hasText: "Cancel" }).waitFor();
      await picture("progress");
    },
  ],
  [
    "it ends when it is cancelled, and what it knows is kept",
    async ({ workbench }) => {
      await workbench.editor.button("Cancel").click();
      await workbench.editor.lens(/^\? no failure.*it was stopped/).waitFor();
    },
  ],
];

const FIX: Step[] = [
  [
    "after a reload everything is there",
    async ({ workbench, project }) => {
      await workbench.reload();
      await workbench.statusBar.filter({ hasText: "✗ 1 bug" }).waitFor();
      await workbench.openFile("src/main.c");
      await workbench.editor.goTo(await project.line("src/main.c", FAILING));
      await workbench.editor.lens(/^✗ 1 bug · 1 preemption/).waitFor();
      await workbench.editor.line(FAILING, "bug depth 2 · 1 preemption").waitFor();
      await workbench.problems.show();
      await workbench.problems.row("Assertion `shared.balance").waitFor();
      const rows = await workbench.tree();
      await rows.filter({ hasText: "Assertion `shared.balance" }).waitFor();
    },
  ],
  [
    "an edit makes the finding one of before",
    async ({ workbench, project, picture }) => {
      await workbench.openFile("src/account.c");
      const { editor } = workbench;
      await editor.replaceLine(await project.line("src/account.c", "= after;"), UNLOCKS);
      await editor.replaceLine(await project.line("src/account.c", "int before ="), LOCKS);
      await workbench.problems.row("before your edit: bank: src/main.c").waitFor();
      const rows = await workbench.tree();
      await rows.filter({ hasText: /Assertion.*before your edit/ }).waitFor();
      await picture("edit");
    },
  ],
  [
    "checking again builds and finds it fixed",
    async ({ workbench, picture }) => {
      await workbench.openFile("src/main.c");
      await workbench.editor.button("Check again").click();
      await workbench.toast(/^bank: fixed: no failure up to 1 preemption · [\d,]+ schedules/).waitFor();
      await workbench.problems.none();
      await workbench.editor.lens(/^✓ no failure up to 1 preemption/).waitFor();
      await picture("fixed");
    },
  ],
  [
    "the tree keeps the finding, with the time of the fix",
    async ({ workbench }) => {
      const rows = await workbench.tree();
      await rows.filter({ hasText: /Assertion.*fixed .* · found / }).waitFor();
    },
  ],
];

const LOOP = "handled += AMOUNT;";
const LOCKS = "pthread_mutex_lock(&account->lock);\nint before = account->balance;";
const UNLOCKS = "account->balance = after;\npthread_mutex_unlock(&account->lock);";

/** All of it. */
export const BANK: readonly Step[] = [...EXPLORE, ...REPLAY, ...CANCEL, ...FIX];
