// The only time in the tests: what has not happened by then never will.

export const WATCHDOG = 30_000;
