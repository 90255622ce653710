// The whole way from a lens to a fix: two tellers pay into one account, and nobody takes its lock.

import { expect } from "vitest";
import type { Step } from "../support/journey";
import { begins, blamed, cancels, counts, reloads, walk, type Place } from "./common";

const FAILING = "assert(shared.balance";

/** Where a server that publishes nothing is noticed. */
export const FINDS = "the failing line gets a problem, with the order that decides and the switches that lead there";

/** Where an adapter that ignores stepping back is noticed. */
export const STEPS_BACK = "steps back go through the lines again, and the private variable has its old values";

const EXPLORE: Step[] = [
  begins({ file: "src/main.c", text: "int main(void)" }, FAILING, "lens"),
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
    "the lens tells what was found",
    async ({ workbench }) => {
      await workbench.editor.lens(/^✗ 1 bug · 1 preemption · [\d,]+ schedules$/).waitFor();
    },
  ],
  counts(10),
  [
    FINDS,
    async ({ workbench, picture }) => {
      await workbench.problems.show();
      await workbench.problems.row("Assertion `shared.balance").waitFor();
      expect(await workbench.problems.explained()).toEqual([
        "it fails where this comes first: T2 writes `shared.balance`",
        "it passes where this comes first: T3 writes `shared.balance`",
        blamed("T3 writes"),
        "pattern 2/3: T2 writes `shared.balance`",
        "pattern 3/3: T3 writes `shared.balance`",
        "2/4 T2 reads `shared.balance`",
        "3/4 T3 writes `shared.balance`",
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
    async (scene) => {
      await walk(scene, [
        ["Step Back", DEPOSIT, { handled: 10, i: 1 }],
        ["Step Back", HEAD, { handled: 10, i: 0 }],
        ["Step Back", ADD, { handled: 0, i: 0 }],
      ]);
      await scene.picture("step-back");
    },
  ],
  [
    "steps forward lead to the same lines and values, over the preemption",
    async (scene) => {
      await walk(scene, [
        ["Step Over", HEAD, { handled: 10, i: 0 }],
        ["Step Over", DEPOSIT, { handled: 10, i: 1 }],
        ["Step Over", ADD, { handled: 10, i: 1 }],
      ]);
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
  [
    "an action of the failing line shows a schedule that passes, from the order that makes it pass to its end",
    async ({ workbench, project }) => {
      const { debug, editor } = workbench;
      await workbench.openFile("src/main.c");
      await editor.act(await project.line("src/main.c", FAILING), "Show a schedule that passes");
      await debug.at("account.c", 10);
      await debug.stack("the order that makes it pass").waitFor();
      await debug.press("Continue");
      await debug.at("main.c", await project.line("src/main.c", "return 0;"));
      // Of a single thread, the state stands above the list.
      await workbench.page.getByText("the end: the execution passed").first().waitFor();
      await debug.stop();
    },
  ],
];

const FIX: Step[] = [
  reloads({ file: "src/main.c", text: FAILING }, "Assertion `shared.balance"),
  [
    "an edit makes the finding one of before",
    async ({ workbench, project, picture }) => {
      await workbench.openFile("src/account.c");
      const { editor } = workbench;
      await editor.replaceLine(await project.line("src/account.c", "= after;"), UNLOCKS);
      await editor.replaceLine(await project.line("src/account.c", "int before ="), LOCKS);
      await workbench.problems.row("before your edit: bank: src/main.c").waitFor();
      // The places have moved with both edits.
      await workbench.problems.row(/Ln 11,.*T3 writes|T3 writes.*Ln 11,/s).waitFor();
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
      await workbench.toast(/^bank: fixed: no failure up to 2 preemptions · [\d,]+ schedules/).waitFor();
      await workbench.problems.none();
      await workbench.editor.lens(/^✓ no failure up to 2 preemptions/).waitFor();
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
const ADD: Place = { file: "src/main.c", text: LOOP };
const DEPOSIT: Place = { file: "src/main.c", text: "deposit(&shared, AMOUNT);" };
const HEAD: Place = { file: "src/main.c", text: "for (int i = 0;" };
const CROWD: Place = { file: "src/crowd.c", text: "int main(void)" };
const LOCKS = "pthread_mutex_lock(&account->lock);\nint before = account->balance;";
const UNLOCKS = "account->balance = after;\npthread_mutex_unlock(&account->lock);";

/** All of it. */
export const BANK: readonly Step[] = [...EXPLORE, ...REPLAY, ...cancels(CROWD, "crowd", "progress"), ...FIX];
