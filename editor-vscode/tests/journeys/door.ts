// A test that is behind an option of the build, and fails in a header.

import { expect } from "vitest";
import type { Step } from "../support/journey";
import { begins } from "./common";

const FILE = "door_test.cpp";
const TEST = "TEST(Door, CountsBoth)";
const QUIET = "TEST(Door, StaysShut)";
const HEADER = "passing.hpp";
const FAILING = "EXPECT_EQ(passed, 2)";
const BUILD = "cmake -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build";
const WITH_TESTS = "cmake -B build -DCMAKE_BUILD_TYPE=Debug -DDOOR_TESTS=ON && cmake --build build";
const DISMISSED = "? 1 failure dismissed";

/** From a build that makes no program of the test to a finding that stays dismissed. */
export const DOOR: readonly Step[] = [
  begins({ file: FILE, text: TEST }, TEST),
  [
    "a build that makes no program of the file says so, and leads to where another command can be set",
    async ({ workbench }) => {
      await workbench.editor.lensAbove(TEST, "▶ Build").click();
      await workbench.allowBuild(BUILD);
      await workbench.editor.lensAbove(TEST, `⚠ the build \`${BUILD}\` has made no program of`).waitFor();
      await workbench.editor.lensAbove(TEST, "Set the build command…").click();
      await workbench.page.locator(".tab.active", { hasText: "interleaver.toml" }).waitFor();
      await workbench.editor.line('build = "cmake --build build"').waitFor();
      await workbench.run("View: Revert and Close Editor");
      await workbench.page.locator(".tab.active", { hasText: FILE }).waitFor();
    },
  ],
  [
    "the command can be changed where it is asked for",
    async ({ workbench }) => {
      await workbench.run("Interleaver: Forget Allowed Build Commands");
      await workbench.toast("Interleaver will ask again before it builds here.").waitFor();
      await workbench.editor.lensAbove(TEST, "▶ Build").click();
      await workbench.dialog.filter({ hasText: 'Build with "cmake --build build"?' }).waitFor();
      await workbench.dialog.getByRole("button", { name: "Edit…" }).click();
      await workbench.page.locator(".quick-input-widget input[type=text]").fill(WITH_TESTS);
      await workbench.page.keyboard.press("Enter");
      await workbench.editor.lensAbove(TEST, "✗ 1 bug").waitFor();
    },
  ],
  [
    "the test has a problem as well as the line of the header that fails",
    async ({ workbench }) => {
      await workbench.problems.show();
      await workbench.problems.row("`Door.CountsBoth` fails elsewhere").waitFor();
      expect(await workbench.problems.count()).toBe(2);
    },
  ],
  [
    "a click on the result leads to the failing line, and starts nothing",
    async ({ workbench, project }) => {
      await workbench.editor.lensAbove(TEST, "Explore again").waitFor();
      const executed = await project.recorded();
      await workbench.editor.lensAbove(TEST, "✗ 1 bug").click();
      await workbench.page.locator(".tab.active", { hasText: HEADER }).waitFor();
      const line = await project.line(HEADER, FAILING);
      await workbench.statusBar.filter({ hasText: `Ln ${line},` }).waitFor();
      expect(await project.recorded()).toBe(executed);
    },
  ],
  [
    "a test that creates no threads is told as that",
    async ({ workbench }) => {
      await workbench.openFile(FILE);
      await workbench.editor.lensAbove(QUIET, "▶ Explore interleavings").click();
      await workbench.editor.lensAbove(QUIET, "creates no threads: nothing to explore").waitFor();
    },
  ],
  [
    "what is dismissed stays dismissed when it is found again",
    async ({ workbench, project }) => {
      await workbench.openFile(HEADER);
      await workbench.editor.act(await project.line(HEADER, FAILING), "Dismiss this finding");
      await workbench.problems.none();
      await workbench.openFile(FILE);
      await workbench.editor.lensAbove(TEST, DISMISSED).click();
      await workbench.editor.lens("Cancel").waitFor();
      await workbench.editor.lensAbove(TEST, DISMISSED).waitFor();
      await workbench.editor.lensAbove(TEST, "Restore what was dismissed").waitFor();
      await workbench.problems.none();
    },
  ],
  [
    "an error of the compiler is a problem in its line",
    async ({ workbench, project }) => {
      const line = await project.line(FILE, QUIET);
      await workbench.editor.replaceLine(line, "TEST(Door, StaysShut) { EXPECT_EQ(nobody, 0); }");
      await workbench.editor.lensAbove(QUIET, "creates no threads").click();
      await workbench.editor.lensAbove(QUIET, "⚠ the build").waitFor();
      // The output of a build that fails is in front.
      await workbench.problems.show();
      await workbench.problems.row(/nobody.* was not declared/).waitFor();
    },
  ],
];
