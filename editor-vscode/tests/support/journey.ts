// Journeys: what a developer does in a window, step by step, each going on where the one before it ended.

import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Project } from "./project";
import { Workbench, type Area } from "./workbench";

/** Where a journey takes place. */
export interface Scene {
  workbench: Workbench;
  project: Project;
  /** Takes a picture for the documentation, on the journeys that it is taken from. */
  readonly picture: (name: string, area?: Area) => Promise<void>;
}

/** What happens, as a sentence, and how. */
export type Step = readonly [sentence: string, go: (scene: Scene) => Promise<void>];

/** Makes a test of each step, in a window of its own on a copy of a project. */
export function travel(name: string, steps: readonly Step[]): void {
  let scene: Scene | undefined;

  beforeAll(async () => {
    scene = await begin(name);
  });

  afterAll(async () => {
    if (scene === undefined) return;
    await scene.workbench.screenshot(`end-of-${name}`);
    await end(scene);
  });

  for (const [sentence, go] of steps) {
    test(sentence, async () => {
      if (scene === undefined) return;
      try {
        await go(scene);
      } catch (error) {
        // The test ends on a machine that nobody can look at: its window is told about in words.
        throw new Error(`${String(error)}\n${await scene.workbench.inWords()}`, { cause: error });
      }
    });
  }

  test("nothing leaves the machine", () => {
    expect(scene?.workbench.strayRequests).toEqual([]);
  });
}

/** The first step that cannot be taken; nothing where all can. */
export async function firstFailure(
  name: string,
  settings: Record<string, unknown>,
  steps: readonly Step[],
): Promise<string | undefined> {
  const scene = { ...(await begin(name, settings)), picture: () => Promise.resolve() };
  try {
    for (const [sentence, go] of steps) {
      try {
        await go(scene);
      } catch {
        return sentence;
      }
    }
    return undefined;
  } finally {
    await end(scene);
  }
}

async function begin(name: string, settings: Record<string, unknown> = {}): Promise<Scene> {
  const project = await Project.copy(name, settings);
  const workbench = await Workbench.open(inject("workbench"), project.folder);
  await workbench.widenSideBar(80);
  return { workbench, project, picture: (picture, area) => workbench.screenshot(picture, area) };
}

async function end({ workbench, project }: Scene): Promise<void> {
  await workbench.close();
  await project.remove();
}
