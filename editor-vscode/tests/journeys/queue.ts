// A test that fails where two threads look before either acts.

import { expect } from "vitest";
import type { Step } from "../support/journey";
import { again, begins, blamed, cancels, counts, leaveSwitch, reloads, walk, type Place } from "./common";

const FILE = "tests/queue_test.cpp";
const TEST = "TEST(Limits, AreKept)";
const FAILING = "EXPECT_LE(queue.size(), 3u)";
const LOCKED = "std::lock_guard<std::mutex> guard(lock_);\nif (jobs_.size() >= limit_)";
const BUILD = "cmake -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build";

const HEAD: Place = { file: FILE, text: "for (int job = 0;" };
const PUSH: Place = { file: FILE, text: "taken += queue.push(job)" };
const LOOK: Place = { file: "src/queue.cpp", text: "if (size()" };
const LOCK: Place = { ...LOOK, below: 2 };
const CROWD: Place = { file: "tests/crowd_test.cpp", text: "TEST(Crowd, IsCounted)" };

/** From the lens above a test to its fix. */
export const QUEUE: readonly Step[] = [
  begins({ file: FILE, text: TEST }, FAILING),
  [
    "a click builds what was never built",
    async ({ workbench }) => {
      await workbench.editor.lensAbove(TEST, "▶ Build").click();
      await workbench.allowBuild(BUILD);
      await workbench.editor.lensAbove(TEST, "✗ 1 bug · 1 preemption").waitFor();
    },
  ],
  counts(10),
  [
    "the line that the framework reports has a problem, with why it fails, the switches that lead there, and the depth of the bug",
    async ({ workbench, project, picture }) => {
      await workbench.problems.show();
      await workbench.problems.row("queue.size()").waitFor();
      const jobs = "`queue.jobs_._M_end_of_storage`";
      expect(await workbench.problems.explained()).toEqual([
        "it fails where this comes first: T2 locks `queue.lock_`",
        "it passes where this comes first: T1 locks `queue.lock_`",
        blamed("T1 writes"),
        `pattern 2/3: T2 writes ${jobs}`,
        `pattern 3/3: T1 reads ${jobs}`,
        "1/2 T2 locks `queue.lock_`",
        "2/2 T1 locks `queue.lock_`",
      ]);
      await workbench.editor.goTo(await project.line(FILE, FAILING));
      await workbench.editor.line(FAILING, "bug depth 2 · 1 preemption").waitFor();
      await picture("gtest");
    },
  ],
  [
    "a replay begins at the expectation, and leads back to the switch between the look and the push",
    async (scene) => {
      const { debug, editor } = scene.workbench;
      await editor.lensAbove(FAILING, "⏮ Replay").click();
      await debug.at("queue_test.cpp", await scene.project.line(FILE, FAILING));
      await walk(scene, [["Previous Thread Switch", LOCK, {}]]);
    },
  ],
  [
    "steps back lead out of the function and around the loop, where the private variable has its old values",
    async (scene) => {
      await leaveSwitch(scene, LOCK, {});
      await walk(scene, [
        ["Step Back", LOOK, {}],
        ["Step Back", PUSH, { job: 1, taken: 1 }],
        ["Step Back", HEAD, { job: 0, taken: 1 }],
        ["Step Back", PUSH, { job: 0, taken: 0 }],
      ]);
    },
  ],
  [
    "steps forward lead to the same lines and values, over the preemption",
    async (scene) => {
      await walk(scene, [
        ["Step Over", HEAD, { job: 0, taken: 1 }],
        ["Step Over", PUSH, { job: 1, taken: 1 }],
        ["Step Over", HEAD, { job: 1, taken: 2 }],
      ]);
      await scene.workbench.debug.stop();
    },
  ],
  ...again(...cancels(CROWD, "Crowd.IsCounted"), reloads({ file: FILE, text: FAILING }, "queue.size()")),
  [
    "with the look and the push under one lock, checking again finds it fixed",
    async ({ workbench, project }) => {
      await workbench.openFile("src/queue.cpp");
      const look = await project.line("src/queue.cpp", "if (size()");
      await workbench.editor.replaceLine(look + 2, "");
      await workbench.editor.replaceLine(look, LOCKED);
      // A replay leaves its console in the place of the problems.
      await workbench.problems.show();
      await workbench.problems.row("before your edit").waitFor();
      await workbench.openFile(FILE);
      await workbench.editor.goTo(await project.line(FILE, FAILING));
      await workbench.editor.lensAbove(TEST, "Check again").click();
      await workbench.toast(/fixed: no failure up to 2 preemptions/).waitFor();
      await workbench.problems.none();
    },
  ],
];
