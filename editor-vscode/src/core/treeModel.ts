// The tree "Interleavings" as plain data: targets, their findings, the switches of each.

import type { Finding, Switch, Target, TargetState, Tree } from "../protocol";
import { depth, headline, moment, plural } from "./words";

/** A place that a click goes to. */
export interface Place {
  uri: string;
  line: number;
}

/** One row. */
export interface Row {
  id: string;
  label: string;
  description: string;
  tooltip: string;
  icon: { id: string; color?: string };
  /** Selects the menu entries. */
  context: string;
  place?: Place;
  target?: Target;
  finding?: Finding;
  schedule?: string;
  children: Row[];
  expanded: boolean;
}

const STATES: Record<TargetState, { id: string; color?: string }> = {
  idle: { id: "circle-outline" },
  building: { id: "tools" },
  running: { id: "sync~spin", color: "charts.blue" },
  found: { id: "error", color: "testing.iconFailed" },
  clean: { id: "pass", color: "testing.iconPassed" },
  inconclusive: { id: "question", color: "charts.yellow" },
  error: { id: "warning", color: "list.warningForeground" },
};

/** Rows of the whole tree; what failed last stands first in a target. */
export function rows(tree: Tree, now: Date): Row[] {
  return tree.targets.map((target) => targetRow(target, now));
}

/** How many findings still stand: the number on the view's icon. */
export function openFindings(tree: Tree): number {
  return tree.targets.flatMap((target) => target.findings).filter((finding) => finding.fixed === null).length;
}

function targetRow(target: Target, now: Date): Row {
  const explored = target.explored === null ? "never explored" : `explored ${moment(target.explored, now)}`;
  const findings = [...target.findings].sort(byUrgency);
  return {
    // Editors keep a row as it was opened or closed: one with findings is another than one without.
    id: `target:${target.id}:${findings.length > 0 ? "found" : "empty"}`,
    label: target.label,
    description: target.status,
    tooltip: [target.label, target.status, explored].filter((text) => text !== "").join("\n"),
    icon: STATES[target.state],
    context: `target.${target.state}`,
    ...(target.uri !== "" && { place: { uri: target.uri, line: target.line } }),
    target,
    children: findings.map((finding) => findingRow(target, finding, now)),
    expanded: findings.some((finding) => finding.fixed === null),
  };
}

// Standing ones before fixed ones, newest first.
function byUrgency(a: Finding, b: Finding): number {
  return Number(a.fixed !== null) - Number(b.fixed !== null) || b.found - a.found;
}

function findingRow(target: Target, finding: Finding, now: Date): Row {
  const id = `finding:${target.id}:${finding.id}`;
  return {
    id,
    label: headline(finding.message),
    description: findingDescription(finding, now),
    tooltip: findingTooltip(finding, now),
    icon: findingIcon(finding),
    context: `finding.${findingState(finding)}${finding.passing === null ? "" : ".passing"}`,
    place: { uri: finding.uri, line: finding.line },
    target,
    finding,
    schedule: finding.schedule,
    children: [...finding.switches.map((step) => switchRow(id, step)), scheduleRow(id, finding)],
    expanded: false,
  };
}

function findingState(finding: Finding): "open" | "stale" | "fixed" {
  if (finding.fixed !== null) return "fixed";
  return finding.stale ? "stale" : "open";
}

function findingDescription(finding: Finding, now: Date): string {
  const found = `found ${moment(finding.found, now)}`;
  switch (findingState(finding)) {
    case "fixed":
      return `fixed ${moment(finding.fixed ?? finding.found, now)} · ${found}`;
    case "stale":
      return `before your edit · ${depth(finding)} · ${found}`;
    case "open":
      return `${depth(finding)} · ${found}`;
  }
}

function findingTooltip(finding: Finding, now: Date): string {
  const lines = [finding.message, `${finding.kind} · ${depth(finding)}`, `found ${moment(finding.found, now)}`];
  if (finding.checked !== null) lines.push(finding.checked);
  if (finding.fixed !== null) lines.push(`fixed ${moment(finding.fixed, now)}`);
  else if (finding.stale) lines.push("The sources have changed since: check again after building.");
  return lines.join("\n");
}

function findingIcon(finding: Finding): Row["icon"] {
  switch (findingState(finding)) {
    case "fixed":
      return { id: "pass", color: "testing.iconPassed" };
    case "stale":
      return { id: "history", color: "list.warningForeground" };
    case "open":
      return { id: "bug", color: "testing.iconFailed" };
  }
}

function switchRow(parent: string, step: Switch): Row {
  return {
    id: `${parent}:switch:${step.number}`,
    label: step.text,
    description: lineOf(step),
    tooltip: `Switch ${step.number} to ${step.thread}`,
    icon: { id: "arrow-swap" },
    context: "switch",
    place: { uri: step.uri, line: step.line },
    children: [],
    expanded: false,
  };
}

function scheduleRow(parent: string, finding: Finding): Row {
  const name = finding.schedule.slice(finding.schedule.lastIndexOf("/") + 1);
  return {
    id: `${parent}:schedule`,
    label: name,
    description: plural(finding.switches.length, "switch", "switches"),
    tooltip: finding.schedule,
    icon: { id: "file-code" },
    context: "schedule",
    schedule: finding.schedule,
    children: [],
    expanded: false,
  };
}

// Lines are counted from 0 in the protocol and from 1 on the screen.
function lineOf(place: Place): string {
  const file = decodeURIComponent(place.uri.slice(place.uri.lastIndexOf("/") + 1));
  return `${file}:${place.line + 1}`;
}
