// A test that fails where two threads look before either acts.

import { expect } from "vitest";
import type { Step } from "../support/journey";

const TEST = "TEST(Limits, AreKept)";
const FAILING = "EXPECT_LE(queue.size(), 1u)";
const LOCKED = "std::lock_guard<std::mutex> guard(lock_);\nif (jobs_.size() >= limit_)";
const BUILD = "cmake -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build";

/** From the lens above a test to its fix. */
export const QUEUE: readonly Step[] = [
  [
    "each test has a lens",
    async ({ workbench, project }) => {
      await workbench.openFile("tests/queue_test.cpp");
      await workbench.editor.goTo(await project.line("tests/queue_test.cpp", FAILING));
      await workbench.editor.lensAbove(TEST, "▶ Build, then explore interleavings").waitFor();
    },
  ],
  [
    "a click builds what was never built",
    async ({ workbench, project }) => {
      await workbench.editor.lensAbove(TEST, "▶ Build").click();
      await workbench.allowBuild(BUILD);
      await workbench.editor.lensAbove(TEST, "✗ 1 bug · 1 preemption").waitFor();
      expect(project.hasStore).toBe(true);
    },
  ],
  [
    "the line that the framework reports has a problem",
    async ({ workbench, project, picture }) => {
      await workbench.problems.show();
      await workbench.problems.row("queue.size()").waitFor();
      await workbench.editor.goTo(await project.line("tests/queue_test.cpp", FAILING));
      await workbench.editor.line(FAILING, "· 1 preemption").waitFor();
      await picture("gtest");
    },
  ],
  [
    "a replay begins at the expectation, and leads back to the switch between the look and the push",
    async ({ workbench, project }) => {
      await workbench.editor.lensAbove(FAILING, "⏮ Replay").click();
      await workbench.debug.at("queue_test.cpp", await project.line("tests/queue_test.cpp", FAILING));
      await workbench.debug.press("Previous Thread Switch");
      await workbench.debug.at("queue.cpp", (await project.line("src/queue.cpp", "if (size()")) + 2);
      await workbench.debug.stop();
    },
  ],
  [
    "with the look and the push under one lock, checking again finds it fixed",
    async ({ workbench, project }) => {
      await workbench.openFile("src/queue.cpp");
      const look = await project.line("src/queue.cpp", "if (size()");
      await workbench.editor.replaceLine(look + 2, "");
      await workbench.editor.replaceLine(look, LOCKED);
      await workbench.openFile("tests/queue_test.cpp");
      await workbench.editor.goTo(await project.line("tests/queue_test.cpp", FAILING));
      await workbench.editor.lensAbove(TEST, "Check again").click();
      await workbench.toast(/fixed: no failure up to 1 preemption/).waitFor();
      await workbench.problems.none();
    },
  ],
];
