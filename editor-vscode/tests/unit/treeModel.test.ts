import { expect, test } from "vitest";
import { openFindings, rows, type Row } from "../../src/core/treeModel";
import type { Finding, Target } from "../../src/protocol";

const now = new Date(Date.UTC(2026, 10, 21, 18));
const today = now.getTime() / 1000 - 60;

const finding: Finding = {
  id: "f1",
  kind: "assertion",
  message: "Assertion `counter == 2' failed",
  uri: "file:///src/a%20b.c",
  line: 21,
  preemptions: 1,
  fewest: true,
  stale: false,
  found: today,
  fixed: null,
  checked: null,
  schedule: "/src/.interleaver/runs/1/f1.schedule",
  passing: null,
  program: "/src/app",
  folder: "/src",
  switches: [{ number: 1, text: "T2 runs here", uri: "file:///src/a%20b.c", line: 9, thread: "T2" }],
};

const target: Target = {
  id: "app#",
  label: "app",
  uri: "file:///src/a%20b.c",
  line: 11,
  state: "found",
  status: "✗ 1 bug",
  explored: today,
  findings: [finding],
};

function only(part: Partial<Target>): Row {
  const [row] = rows({ targets: [{ ...target, ...part }] }, now);
  if (row === undefined) throw new Error("a target has a row");
  return row;
}

function findingRow(part: Partial<Finding>): Row {
  const [row] = only({ findings: [{ ...finding, ...part }] }).children;
  if (row === undefined) throw new Error("a finding has a row");
  return row;
}

test("a target has the words of its lens, its state in its icon, and opens where something fails", () => {
  const row = only({});
  expect(row).toMatchObject({ label: "app", description: "✗ 1 bug", context: "target.found", expanded: true });
  expect(row.icon.id).toBe("error");
});

test("a target that gets its first finding is another row, which opens", () => {
  expect(only({ findings: [] }).id).not.toBe(only({}).id);
  expect(only({ findings: [finding, { ...finding, id: "f2" }] }).id).toBe(only({}).id);
});

test("a finding's children are its switches in order, then its schedule file", () => {
  const row = findingRow({});
  expect(row.children.map(({ label, description, context }) => [label, description, context])).toEqual([
    ["T2 runs here", "a b.c:10", "switch"],
    ["f1.schedule", "1 switch", "schedule"],
  ]);
});

test("a standing finding says depth and date", () => {
  const row = findingRow({});
  expect(row.description).toMatch(/^1 preemption · found /);
  expect(row.context).toBe("finding.open");
  expect(findingRow({ passing: "/src/f1.passing.json" }).context).toBe("finding.open.passing");
});

test("a stale finding says so before anything else", () => {
  const row = findingRow({ stale: true });
  expect(row.description).toMatch(/^before your edit · 1 preemption · found /);
  expect(row.tooltip).toContain("check again");
});

test("a fixed finding keeps both dates, whether stale or not, and is no longer counted", () => {
  for (const stale of [false, true]) {
    const row = findingRow({ fixed: today + 30, stale });
    expect(row.description).toMatch(/^fixed .* · found /);
    expect(row.context).toBe("finding.fixed");
  }
  const tree = { targets: [{ ...target, findings: [finding, { ...finding, id: "f2", fixed: today }] }] };
  expect(openFindings(tree)).toBe(1);
});

test("what the last look for a finding came to is in its tooltip", () => {
  expect(findingRow({ checked: "still fails" }).tooltip).toContain("still fails");
});

test("standing findings come first, then newer ones", () => {
  const findings = [
    { ...finding, id: "fixed", fixed: today, found: today + 50 },
    { ...finding, id: "old", found: today - 50 },
    { ...finding, id: "new" },
  ];
  expect(only({ findings }).children.map((row) => row.finding?.id)).toEqual(["new", "old", "fixed"]);
});

test("rows of the same finding under two targets have different identities", () => {
  const both = rows({ targets: [target, { ...target, id: "app2#" }] }, now);
  const identities = both.flatMap((row) => [row, ...row.children, ...row.children.flatMap((child) => child.children)]);
  expect(new Set(identities.map((row) => row.id)).size).toBe(identities.length);
});

test("a target that was never explored, and stands in no file, says so and leads nowhere", () => {
  const row = only({ state: "idle", status: "", explored: null, uri: "", findings: [] });
  expect(row.tooltip).toBe("app\nnever explored");
  expect(row.place).toBeUndefined();
});
