// Two tests in one binary: one loses a view, the other does not.

import { expect } from "vitest";
import type { Step } from "../support/journey";

const BUGGY = "fn views_are_lost()";
const FAILING = "assert_eq!(views_of_two(Views::add), 2)";
const FIXED = "self.0.fetch_add(1, Ordering::SeqCst);";
const CORRECT = "fn views_are_counted()";

/** Explores both, and fixes the one. */
export const VIEWS: readonly Step[] = [
  [
    "exploring the test with the bug finds it",
    async ({ workbench, project }) => {
      await workbench.openFile("src/lib.rs");
      await workbench.editor.goTo(await project.line("src/lib.rs", BUGGY));
      await workbench.editor.lensAbove(BUGGY, "▶ Build").click();
      await workbench.allowBuild("cargo test --no-run");
      await workbench.editor.lensAbove(BUGGY, "✗ 1 bug · 1 preemption").waitFor();
    },
  ],
  [
    "exploring the other one reports nothing, and nothing of the first",
    async ({ workbench }) => {
      await workbench.editor.lensAbove(CORRECT, "▶ Explore interleavings").click();
      await workbench.editor.lensAbove(CORRECT, "✓ no failure up to 2 preemptions").waitFor();
      await workbench.problems.show();
      await workbench.problems.row("assertion `left == right` failed").waitFor();
      expect(await workbench.problems.count()).toBe(1);
    },
  ],
  [
    "a replay begins at the assertion, and leads back to the thread that lost what the other one had added",
    async ({ workbench, project, picture }) => {
      const line = await project.line("src/lib.rs", FAILING);
      await workbench.editor.goTo(line);
      await workbench.editor.lensAbove(FAILING, "⏮ Replay").click();
      await workbench.debug.at("lib.rs", line);
      await workbench.debug.press("Previous Thread Switch");
      await workbench.debug.at("lib.rs", await project.line("src/lib.rs", "store(seen + 1"));
      await workbench.debug.variable("seen", "0");
      await picture("rust");
      await workbench.debug.stop();
    },
  ],
  [
    "with one atomic update, checking again finds it fixed",
    async ({ workbench, project }) => {
      await workbench.editor.replaceLine(await project.line("src/lib.rs", "store(seen + 1"), "");
      await workbench.editor.replaceLine(await project.line("src/lib.rs", "let seen ="), FIXED);
      await workbench.editor.goTo(await project.line("src/lib.rs", BUGGY));
      await workbench.editor.lensAbove(BUGGY, "Check again").click();
      await workbench.toast(/fixed: no failure up to 1 preemption/).waitFor();
      await workbench.problems.none();
    },
  ],
];
