// A replay driven through the debug adapter's own protocol, as an editor drives it.

import { DebugClient } from "@vscode/debugadapter-testsupport";
import type { DebugProtocol } from "@vscode/debugprotocol";
import { DebugRequest } from "../../src/protocol";
import { INTERLEAVER } from "./paths";
import { WATCHDOG } from "./watchdog.mts";

/** Where a session stands. */
export interface Stand {
  step: number;
  reason: string;
  description: string | undefined;
  thread: number;
  function: string;
  /** `FILE:LINE`, or nothing where there is no source. */
  place: string | undefined;
}

export interface Launch {
  schedule: string;
  program: string;
  folder: string;
}

type Move =
  "next" | "stepIn" | "stepOut" | "stepBack" | "continue" | "reverseContinue" | "nextSwitch" | "previousSwitch";

export class ReplaySession {
  private constructor(
    readonly client: DebugClient,
    /** What the adapter says it can do. */
    readonly capabilities: DebugProtocol.Capabilities,
    readonly first: Stand,
  ) {}

  static async start(launch: Launch): Promise<ReplaySession> {
    const client = new DebugClient(INTERLEAVER, "dap", "interleaver");
    client.defaultTimeout = WATCHDOG;
    await client.start();
    const { body } = await client.initializeRequest();
    await Promise.all([client.waitForEvent("initialized"), client.launchRequest(launch as never)]);
    const [stopped] = await Promise.all([stop(client), client.configurationDoneRequest()]);
    return new ReplaySession(client, body ?? {}, await stand(client, stopped));
  }

  async end(): Promise<void> {
    await this.client.stop();
  }

  /** Moves a thread, or everything, and waits until the session stands again. */
  async go(
    move: Move,
    argument: { threadId?: number; granularity?: DebugProtocol.SteppingGranularity } = {},
  ): Promise<Stand> {
    return this.request(move in DebugRequest ? DebugRequest[move as keyof typeof DebugRequest] : move, argument);
  }

  async goToStep(step: number): Promise<Stand> {
    return this.request(DebugRequest.goToStep, { step });
  }

  async threads(): Promise<string[]> {
    return (await this.client.threadsRequest()).body.threads.map(({ name }) => name);
  }

  /** The variables of a scope of a thread's innermost frame, as `NAME = VALUE`. */
  async variables(thread: number, scope: string): Promise<string[]> {
    const { stackFrames } = (await this.client.stackTraceRequest({ threadId: thread })).body;
    const frameId = stackFrames[0]?.id ?? 0;
    const { scopes } = (await this.client.scopesRequest({ frameId })).body;
    const reference = scopes.find(({ name }) => name === scope)?.variablesReference;
    if (reference === undefined) throw new Error(`there is no scope ${scope} among ${JSON.stringify(scopes)}`);
    const { variables } = (await this.client.variablesRequest({ variablesReference: reference })).body;
    return variables.map(({ name, value }) => `${name} = ${value}`);
  }

  private async request(command: string, argument: object): Promise<Stand> {
    const [stopped] = await Promise.all([stop(this.client), this.client.customRequest(command, argument)]);
    return stand(this.client, stopped);
  }
}

async function stop(client: DebugClient): Promise<DebugProtocol.StoppedEvent["body"]> {
  return ((await client.waitForEvent("stopped")) as DebugProtocol.StoppedEvent).body;
}

async function stand(client: DebugClient, stopped: DebugProtocol.StoppedEvent["body"]): Promise<Stand> {
  const thread = stopped.threadId ?? 0;
  const position = (await client.customRequest(DebugRequest.position)).body as { step: number };
  const { stackFrames } = (await client.stackTraceRequest({ threadId: thread })).body;
  // An editor opens on the first frame that is not played down.
  const frame = stackFrames.find(({ source, presentationHint }) => source && presentationHint !== "subtle");
  return {
    step: position.step,
    reason: stopped.reason,
    description: stopped.description,
    thread,
    function: frame?.name ?? "",
    place: frame?.source && `${frame.source.name ?? ""}:${frame.line}`,
  };
}
