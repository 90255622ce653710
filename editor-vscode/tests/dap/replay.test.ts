// A real finding, replayed through the debug adapter that is packed into the extension.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Project } from "../support/project";
import { ReplaySession, type Launch, type Stand } from "../support/replaySession";

// A move of this kind is one of any thread.
const KEY_POINT = { threadId: 1, granularity: "instruction" } as const;

let project: Project;
let launch: Launch;
let session: ReplaySession;

beforeAll(async () => {
  project = await Project.copy("make-c");
  await project.run("make");
  const program = project.path("build/bank");
  launch = { schedule: await project.explore("build/bank"), program, folder: project.folder };
});

afterAll(async () => {
  await project.remove();
});

beforeEach(async () => {
  session = await ReplaySession.start(launch);
});

afterEach(async () => {
  await session.end();
});

test("it can go both ways", () => {
  expect(session.capabilities).toMatchObject({ supportsStepBack: true, supportsConfigurationDoneRequest: true });
});

test("it starts at the failure, in the user's line", async () => {
  const line = await project.line("src/main.c", "assert(shared.balance");
  expect(session.first).toMatchObject({ reason: "exception", thread: 1, function: "main", place: `main.c:${line}` });
  expect((await session.threads())[0]).toMatch(/^T1 main/);
});

test("it never runs off either end", async () => {
  expect(await session.go("continue", { threadId: 1 })).toMatchObject({ step: session.first.step });
  expect(await session.go("next", KEY_POINT)).toMatchObject({
    step: session.first.step,
  });
  expect(await session.go("reverseContinue", { threadId: 1 })).toMatchObject({ step: 0 });
  expect(await session.go("stepBack", KEY_POINT)).toMatchObject({ step: 0 });
});

test("from switch to switch, the thread changes each time", async () => {
  await session.go("reverseContinue", { threadId: 1 });
  const switches = await all(() => session.go("nextSwitch"));
  const threads = switches.slice(0, -1).map(({ thread }) => thread);
  expect(threads.length).toBeGreaterThanOrEqual(3);
  for (const [index, thread] of threads.entries()) expect(thread).not.toBe(threads[index + 1]);
  const back = await all(() => session.go("previousSwitch"));
  expect(back.at(-1)?.step).toBe(0);
});

test("going to a step is the same place whatever came before", async () => {
  const middle = Math.floor(session.first.step / 2);
  const fromTheEnd = await session.goToStep(middle);
  await session.go("reverseContinue", { threadId: 1 });
  expect(await session.goToStep(middle)).toEqual(fromTheEnd);
});

/** Every stand of a move until it goes no further, with the first. */
async function all(move: () => Promise<Stand>): Promise<Stand[]> {
  const stands: Stand[] = [];
  let stand = await move();
  while (stand.step !== stands.at(-1)?.step) {
    stands.push(stand);
    stand = await move();
  }
  return stands;
}
