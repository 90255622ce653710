// Steps that every journey takes, whatever language and build it is about. `shown` is the name of a picture, if one is taken.

import { expect } from "vitest";
import type { Button } from "../support/debugView";
import type { Scene, Step } from "../support/journey";

/** A line of a file, by a part of its text that no other line has, or so many lines below such a line. */
export interface Place {
  file: string;
  text: string;
  below?: number;
}

/** Where a step of a replay leads, and what private variables are there. */
export type Stop = readonly [button: Button, place: Place, values: Readonly<Record<string, number>>];

/** Where nothing was explored: the view says how to begin, and a lens above the place offers to build. */
export function begins({ file, text }: Place, failing: string, shown?: string): Step {
  return [
    "where nothing has been explored, the view says how to begin, and a lens offers to build",
    async ({ workbench, project, picture }) => {
      await workbench.tree();
      await workbench.page.getByText("Nothing was explored here yet").waitFor();
      await workbench.openFile(file);
      await workbench.editor.goTo(await project.line(file, failing));
      await workbench.editor.lensAbove(text, "▶ Build, then explore interleavings").waitFor();
      expect(project.hasStore).toBe(false);
      if (shown !== undefined) await picture(shown);
    },
  ];
}

/** After an exploration: all executions are accounted for. */
export function counts(least: number): Step {
  return [
    "the store has counted every execution that the program counted itself",
    async ({ project }) => {
      expect(await project.recorded()).toBe(await project.executed());
      expect(await project.executed()).toBeGreaterThan(least);
    },
  ];
}

/** What is said of the first of three accesses to blame; how many schedules were compared is not the journey's concern. */
export function blamed(access: string): unknown {
  const counts = /^pattern 1\/3 \(in \d+ of \d+ failing schedules, and in \d+ of \d+ that pass\): /.source;
  return expect.stringMatching(new RegExp(`${counts}${access} \``));
}

/** Takes a replay from line to line. */
export async function walk({ workbench: { debug }, project }: Scene, stops: readonly Stop[]): Promise<void> {
  for (const [button, { file, text, below = 0 }, values] of stops) {
    await debug.press(button);
    await debug.at(file.slice(file.lastIndexOf("/") + 1), (await project.line(file, text)) + below);
    for (const [name, value] of Object.entries(values)) await debug.variable(name, `${value}`);
  }
}

/** Steps back from a thread switch to what has the same line and the same values: the stack alone tells that the step is over. */
export async function leaveSwitch(scene: Scene, place: Place, values: Stop[2]): Promise<void> {
  await walk(scene, [["Step Back", place, values]]);
  await scene.workbench.debug.stack("switched to").waitFor({ state: "hidden" });
}

/** Explores what no budget is enough for, and cancels it. */
export function cancels({ file, text }: Place, name: string, shown?: string): Step[] {
  return [
    [
      "a long exploration tells how far it is",
      async ({ workbench, picture }) => {
        await workbench.openFile(file);
        await workbench.editor.lensAbove(text, "▶ Explore interleavings").click();
        await workbench.editor.lens(/^● [\d,]+ schedules · c = \d/).waitFor();
        const progress = new RegExp(`Exploring ${name}: [\\d,]+ schedules · [\\d,]+/s · c = \\d`);
        await workbench.statusBar.filter({ hasText: progress }).waitFor();
        await workbench.statusBar.filter({ hasText: "Cancel" }).waitFor();
        if (shown !== undefined) await picture(shown);
      },
    ],
    [
      "it ends when it is cancelled, and what it knows is kept",
      async ({ workbench }) => {
        await workbench.editor.lensAbove(text, "Cancel").click();
        await workbench.editor.lens(/^\? no failure.*it was stopped/).waitFor();
      },
    ],
  ];
}

/** Steps that depend on no language, and that the journey of a program in C takes in every run: here they are part of `./test full`. */
export function again(...steps: readonly Step[]): readonly Step[] {
  return process.env["INTERLEAVER_TEST_FULL"] === undefined ? [] : steps;
}

/** Loads the window anew. */
export function reloads({ file, text }: Place, problem: string): Step {
  return [
    "after a reload everything is there",
    async ({ workbench, project }) => {
      await workbench.reload();
      await workbench.statusBar.filter({ hasText: "✗ 1 bug" }).waitFor();
      await workbench.openFile(file);
      await workbench.editor.goTo(await project.line(file, text));
      await workbench.editor.lens(/^✗ 1 bug · 1 preemption/).waitFor();
      await workbench.editor.line(text, "bug depth 2 · 1 preemption").waitFor();
      await workbench.problems.show();
      await workbench.problems.row(problem).waitFor();
      const rows = await workbench.tree();
      await rows.filter({ hasText: problem }).waitFor();
    },
  ];
}
