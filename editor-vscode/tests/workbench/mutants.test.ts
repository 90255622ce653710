// The journey is worth something: with a defect in the server or in the adapter it ends where the defect shows. It is a test of
// tests, and part of `./test full`.

import { join } from "node:path";
import { expect, test } from "vitest";
import { BANK, FINDS, STEPS_BACK } from "../journeys/bank";
import { firstFailure } from "../support/journey";
import { MUTANTS } from "../support/paths";
import { WATCHDOG } from "../support/watchdog.mts";

// Each of them waits, at last, for what never comes: a watchdog's time after everything before it.
const TIME = 4 * WATCHDOG;

test.runIf(process.env["INTERLEAVER_TEST_FULL"]).concurrent.for([
  ["a server that publishes nothing", "silentServer.mts", FINDS],
  ["an adapter that ignores stepping back", "deafAdapter.mts", STEPS_BACK],
] as const)("%s is noticed", { timeout: TIME }, async ([, mutant, step]) => {
  const settings = { "interleaver.serverPath": join(MUTANTS, mutant) };
  expect(await firstFailure("make-c", settings, BANK)).toBe(step);
});
