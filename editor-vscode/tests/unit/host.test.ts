import { expect, test } from "vitest";
import { unsupportedHost } from "../../src/core/host";

test("Linux on x86-64 needs no sentence", () => {
  expect(unsupportedHost("linux", "x64")).toBeUndefined();
});

test.each([
  ["darwin", "arm64", "macOS on arm64", "Remote-SSH"],
  ["win32", "x64", "Windows on x64", "WSL"],
  ["linux", "arm64", "Linux on arm64", "dev container"],
  ["freebsd", "x64", "freebsd on x64", "Remote-SSH"],
])("%s on %s is told where to open the folder instead", (platform, architecture, name, instead) => {
  const sentence = unsupportedHost(platform, architecture);
  expect(sentence).toContain(name);
  expect(sentence).toContain(instead);
});
