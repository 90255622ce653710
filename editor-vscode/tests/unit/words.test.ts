import { expect, test } from "vitest";
import { depth, headline, moment } from "../../src/core/words";

const noon = Date.UTC(2026, 10, 21, 12) / 1000;
const now = new Date(Date.UTC(2026, 10, 21, 18));

test.each([
  [noon, "12:00"],
  [noon - 86_400, "20 Nov 2026, 12:00"],
])("the day is left out today (%i)", (seconds, text) => {
  expect(moment(seconds, now, "en-GB", "UTC")).toBe(text);
});

test("it is the day where the user is that counts", () => {
  expect(moment(noon - 11 * 3600, now, "en-GB", "America/New_York")).toBe("20 Nov 2026, 20:00");
});

test.each([
  [0, true, "0 preemptions"],
  [1, true, "1 preemption"],
  [2, false, "≤ 2 preemptions"],
])("%i preemptions, fewest %s: %s", (preemptions, fewest, text) => {
  expect(depth({ preemptions, fewest })).toBe(text);
});

test.each([
  ["bank: src/main.c:35: main: Assertion `a == b' failed.", "Assertion `a == b' failed."],
  ["t: a.cpp:3: void n::f(int): Assertion `n::x' failed.", "Assertion `n::x' failed."],
  ["T2 waits for lock `a`: it is held by T1", "T2 waits for lock `a`: it is held by T1"],
])("%s is headed %s", (message, text) => {
  expect(headline(message)).toBe(text);
});
