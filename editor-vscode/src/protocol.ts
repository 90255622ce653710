// What docs/protocol.md adds to LSP and DAP, as types: keep the two in step.

import { NotificationType0, NotificationType, RequestType } from "vscode-jsonrpc";

/** What the client says of itself when it starts, and again when a setting changes. */
export interface ClientOptions {
  clientCommands: string[];
  runsBuilds: boolean;
  trusted: boolean;
  lenses: boolean;
  hints: boolean;
  switchHints: boolean;
  budget: Budget;
}

export interface Budget {
  maxPreemptions: number;
  maxSchedules: number;
  timeLimitSeconds: number;
}

/** Commands that the server runs. The language client registers them with the editor by itself. */
export const ServerCommand = {
  explore: "interleaver.server.explore",
  check: "interleaver.server.check",
  cancel: "interleaver.server.cancel",
  select: "interleaver.server.select",
  dismiss: "interleaver.server.dismiss",
  restore: "interleaver.server.restore",
  whyNoLens: "interleaver.server.whyNoLens",
  programs: "interleaver.server.programs",
  tree: "interleaver.server.tree",
  configuration: "interleaver.server.configuration",
} as const;

/** Commands of this extension that the server may name in lenses, hints and actions. */
export const ClientCommand = {
  replay: "interleaver.replay",
  pickProgram: "interleaver.pickProgram",
  whyNoLens: "interleaver.whyNoLens",
  openConfiguration: "interleaver.openConfiguration",
  copySchedule: "interleaver.copySchedule",
  showFinding: "interleaver.showFinding",
} as const;

/** What starts a run. Where nothing has been built yet, the server's lenses name a test instead of a target. */
export interface ExploreArguments {
  target: string;
  uri?: string;
  further?: boolean;
}

/** What a lens, a hint or an action hands to {@link ClientCommand.replay}. */
export interface ReplayArguments {
  finding: string;
  schedule: string;
  /** Nothing fails in it. */
  passes: boolean;
  program: string;
  folder: string;
}

/** What an action hands to {@link ClientCommand.copySchedule}. */
export interface CopyScheduleArguments {
  finding: string;
  schedule: string;
}

/** What a lens hands to {@link ClientCommand.showFinding}: a finding, and its target, which may have more. */
export interface ShowFindingArguments {
  target: string;
  finding: string;
}

export interface ProgramChoice {
  target: string;
  label: string;
  detail: string;
}

export interface ConfigurationAnswer {
  path: string;
  text: string;
  line: number;
}

export interface WhyNoLensAnswer {
  sentence: string;
}

export interface Tree {
  targets: Target[];
}

export type TargetState = "idle" | "building" | "running" | "found" | "clean" | "inconclusive" | "error";

export interface Target {
  id: string;
  label: string;
  uri: string;
  line: number;
  state: TargetState;
  status: string;
  /** Seconds since 1970. */
  explored: number | null;
  findings: Finding[];
}

export interface Finding {
  id: string;
  kind: string;
  message: string;
  uri: string;
  line: number;
  preemptions: number;
  /** Whether fewer preemptions are known not to suffice. */
  fewest: boolean;
  stale: boolean;
  /** Seconds since 1970. */
  found: number;
  /** Seconds since 1970. */
  fixed: number | null;
  /** What the last look for it came to. */
  checked: string | null;
  schedule: string;
  /** The schedule that passes, if there is one. */
  passing: string | null;
  program: string;
  /** Where relative paths of the schedule start. */
  folder: string;
  switches: Switch[];
}

export interface Switch {
  number: number;
  text: string;
  uri: string;
  line: number;
  thread: string;
}

export interface BuildParams {
  command: string;
  directory: string;
  confirmed: boolean;
}

export interface BuildResult {
  ran: boolean;
  /** What was run, where the user has changed it. */
  command?: string;
  exitCode?: number;
  output?: string;
}

export interface StatusParams {
  text: string;
  tooltip: string;
  running: number;
}

export const BuildRequest = new RequestType<BuildParams, BuildResult, void>("interleaver/build");
export const ChangedNotification = new NotificationType0("interleaver/changed");
export const StatusNotification = new NotificationType<StatusParams>("interleaver/status");

/** Custom requests of the debug adapter; each is followed by a `stopped` event. */
export const DebugRequest = {
  nextSwitch: "interleaver/nextSwitch",
  previousSwitch: "interleaver/previousSwitch",
  goToStep: "interleaver/goToStep",
  position: "interleaver/position",
} as const;

export interface Position {
  step: number;
  steps: number;
}
