import { expect, test } from "vitest";
import { serverPath } from "../../src/core/serverPath";

const context = { extension: "/ext", home: "/home/me", workspaceFolder: "/src/app" };

test.each([
  ["", "/ext/server/interleaver"],
  ["  ", "/ext/server/interleaver"],
  ["/usr/bin/interleaver", "/usr/bin/interleaver"],
  ["~/bin/interleaver", "/home/me/bin/interleaver"],
  ["${workspaceFolder}/target/debug/interleaver", "/src/app/target/debug/interleaver"],
  ["target/debug/interleaver", "/src/app/target/debug/interleaver"],
  ["/odd/~name", "/odd/~name"],
])("%j is %s", (configured, path) => {
  expect(serverPath(configured, context)).toBe(path);
});

test("without a folder, a relative path starts at home", () => {
  expect(serverPath("bin/interleaver", { ...context, workspaceFolder: undefined })).toBe("/home/me/bin/interleaver");
});
