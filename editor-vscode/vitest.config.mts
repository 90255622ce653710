// The tests that run outside the editor: plain logic, the debug adapter, and a browser that drives a real workbench.
import { defineConfig } from "vitest/config";
import { WATCHDOG } from "./tests/support/watchdog.mts";

const watched = { testTimeout: WATCHDOG, hookTimeout: WATCHDOG, teardownTimeout: WATCHDOG };

export default defineConfig({
  test: {
    // In the workbench, each test goes on where the one before it ended.
    bail: 1,
    projects: [
      { test: { ...watched, name: "unit", include: ["tests/unit/*.test.ts"] } },
      { test: { ...watched, name: "dap", include: ["tests/dap/*.test.ts"] } },
      {
        test: {
          ...watched,
          // Each of the waits of a test has the watchdog's time.
          testTimeout: 4 * WATCHDOG,
          hookTimeout: 4 * WATCHDOG,
          name: "workbench",
          include: ["tests/workbench/*.test.ts"],
          globalSetup: "tests/support/serve.ts",
          fileParallelism: false,
        },
      },
    ],
  },
});
