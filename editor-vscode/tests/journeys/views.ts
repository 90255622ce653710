// Two tests in one binary: one loses a view, the other does not.

import { expect } from "vitest";
import type { Step } from "../support/journey";
import { again, begins, blamed, cancels, counts, leaveSwitch, reloads, walk, type Place } from "./common";

const FILE = "src/lib.rs";
const BUGGY = "fn views_are_lost()";
const FAILING = "assert_eq!(views_of_two(Views::add), 4)";
const FIXED = "self.0.fetch_add(1, Ordering::SeqCst);";
const CORRECT = "fn views_are_counted()";
const COUNTER = "`Views`";
const PROBLEM = "assertion `left == right` failed";

const STORE: Place = { file: FILE, text: "store(seen + 1" };
const LOAD: Place = { file: FILE, text: "let seen =" };
const HEAD: Place = { file: FILE, text: "for _ in 0..2" };
const ADD: Place = { file: FILE, text: "add(views);" };
const VIEWED: Place = { file: FILE, text: "viewed += 1;" };
const CROWD: Place = { file: "tests/crowd.rs", text: "fn a_crowd_is_counted()" };

/** Explores both, and fixes the one. */
export const VIEWS: readonly Step[] = [
  begins({ file: FILE, text: BUGGY }, BUGGY),
  [
    "exploring the test with the bug finds it",
    async ({ workbench }) => {
      await workbench.editor.lensAbove(BUGGY, "▶ Build").click();
      await workbench.allowBuild("cargo test --no-run");
      await workbench.editor.lensAbove(BUGGY, "✗ 1 bug · 1 preemption").waitFor();
    },
  ],
  counts(10),
  [
    "exploring the other one reports nothing, and nothing of the first",
    async ({ workbench }) => {
      await workbench.editor.lensAbove(CORRECT, "▶ Explore interleavings").click();
      await workbench.editor.lensAbove(CORRECT, "✓ no failure up to 2 preemptions").waitFor();
      await workbench.problems.show();
      await workbench.problems.row(PROBLEM).waitFor();
      expect(await workbench.problems.count()).toBe(1);
    },
  ],
  counts(20),
  [
    "the failing line has a problem, with why it fails, the switches that lead there, and the depth of the bug",
    async ({ workbench, project }) => {
      expect(await workbench.problems.explained()).toEqual([
        `it fails where this comes first: T2 updates ${COUNTER}`,
        `it passes where this comes first: T1 updates ${COUNTER}`,
        blamed("T1 writes"),
        `pattern 2/3: T2 writes ${COUNTER}`,
        `pattern 3/3: T1 writes ${COUNTER}`,
        `1/2 T2 reads ${COUNTER}`,
        `2/2 T1 updates ${COUNTER}`,
      ]);
      await workbench.editor.goTo(await project.line(FILE, FAILING));
      await workbench.editor.line(FAILING, "bug depth 2 · 1 preemption").waitFor();
    },
  ],
  [
    "a replay begins at the assertion, and leads back to the thread that lost what the other one had added",
    async (scene) => {
      const { debug, editor } = scene.workbench;
      await editor.lensAbove(FAILING, "⏮ Replay").click();
      await debug.at("lib.rs", await scene.project.line(FILE, FAILING));
      await walk(scene, [["Previous Thread Switch", STORE, { seen: 1 }]]);
      await scene.picture("rust");
    },
  ],
  [
    "steps back lead out of the function and around the loop, where the private variable has its old values",
    async (scene) => {
      await leaveSwitch(scene, STORE, { seen: 1 });
      await walk(scene, [
        ["Step Back", LOAD, {}],
        ["Step Back", ADD, { viewed: 1 }],
        ["Step Back", HEAD, { viewed: 1 }],
        ["Step Back", VIEWED, { viewed: 0 }],
        ["Step Back", ADD, { viewed: 0 }],
      ]);
    },
  ],
  [
    "steps forward lead to the same lines and values, over the preemption",
    async (scene) => {
      await walk(scene, [
        ["Step Over", VIEWED, { viewed: 0 }],
        ["Step Over", HEAD, { viewed: 1 }],
        ["Step Over", ADD, { viewed: 1 }],
        ["Step Over", VIEWED, { viewed: 1 }],
      ]);
      await scene.workbench.debug.stop();
    },
  ],
  ...again(...cancels(CROWD, "a_crowd_is_counted"), reloads({ file: FILE, text: FAILING }, PROBLEM)),
  [
    "with one atomic update, checking again finds it fixed",
    async ({ workbench, project }) => {
      await workbench.editor.replaceLine(await project.line(FILE, "store(seen + 1"), "");
      await workbench.editor.replaceLine(await project.line(FILE, "let seen ="), FIXED);
      // A replay leaves its console in the place of the problems.
      await workbench.problems.show();
      await workbench.problems.row("before your edit").waitFor();
      await workbench.editor.goTo(await project.line(FILE, BUGGY));
      await workbench.editor.lensAbove(BUGGY, "Check again").click();
      await workbench.toast(/fixed: no failure up to 2 preemptions/).waitFor();
      await workbench.problems.none();
    },
  ],
];
