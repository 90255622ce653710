import { expect, test } from "vitest";
import { AllowedBuilds, type Memento } from "../../src/core/builds";

class Memory implements Memento {
  private readonly values = new Map<string, unknown>();

  get<T>(key: string, fallback: T): T {
    return (this.values.get(key) as T | undefined) ?? fallback;
  }

  update(key: string, value: unknown): Promise<void> {
    this.values.set(key, value);
    return Promise.resolve();
  }
}

const make = { command: "make app", directory: "/src", confirmed: false };

test("a command is asked for once", async () => {
  const allowed = new AllowedBuilds(new Memory());
  expect(allowed.has(make)).toBe(false);
  await allowed.add(make);
  expect(allowed.has(make)).toBe(true);
});

test("what was allowed survives a reload, which makes a new object of the same state", async () => {
  const state = new Memory();
  await new AllowedBuilds(state).add(make);
  expect(new AllowedBuilds(state).has(make)).toBe(true);
});

test("another command, or another folder, is another question", async () => {
  const allowed = new AllowedBuilds(new Memory());
  await allowed.add(make);
  expect(allowed.has({ ...make, command: "make app; rm -r *" })).toBe(false);
  expect(allowed.has({ ...make, directory: "/src/sub" })).toBe(false);
});

test("who has allowed to configure and build has allowed to build, there", async () => {
  const allowed = new AllowedBuilds(new Memory());
  await allowed.add({ ...make, command: "configure && make app" });
  expect(allowed.has(make)).toBe(true);
  expect(allowed.has({ ...make, command: "app" })).toBe(false);
  expect(allowed.has({ ...make, directory: "/other" })).toBe(false);
});

test("who has allowed to build everything has allowed to build a part of it", async () => {
  const allowed = new AllowedBuilds(new Memory());
  await allowed.add({ ...make, command: "cargo test --no-run" });
  const part = (options: string) => allowed.has({ ...make, command: `cargo test --no-run${options}` });
  expect(part(" --package app --lib")).toBe(true);
  expect(part(" && rm -r *")).toBe(false);
  expect(part(" --lib; rm -r *")).toBe(false);
  expect(part(" --config $(rm)")).toBe(false);
});

test("a command that was changed runs in the place of the other one, until it is forgotten", async () => {
  const allowed = new AllowedBuilds(new Memory());
  await allowed.add(make, "make app TESTS=1");
  expect(allowed.has(make)).toBe(true);
  expect(allowed.commandOf(make)).toBe("make app TESTS=1");
  expect(allowed.commandOf({ ...make, directory: "/other" })).toBe("make app");
  await allowed.forget();
  expect(allowed.commandOf(make)).toBe("make app");
});

test("allowing twice remembers once; forgetting says how many there were", async () => {
  const allowed = new AllowedBuilds(new Memory());
  await allowed.add(make);
  await allowed.add(make);
  expect(await allowed.forget()).toBe(1);
  expect(allowed.has(make)).toBe(false);
});
