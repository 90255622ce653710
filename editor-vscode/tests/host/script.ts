// What a test and the scripted server say to one another.

/** Commands of the scripted server alone. */
export const SCRIPT = {
  /** What it was told so far. */
  received: "interleaver.server.script.received",
  /** `{command, answer}`: how a command is answered from now on. */
  answer: "interleaver.server.script.answer",
  /** `{method, params}`: sends the request to the client, and answers with the client's answer. */
  ask: "interleaver.server.script.ask",
} as const;

export interface Received {
  method: string;
  params: unknown;
  /** The content of the file that a command names, when the command arrived. */
  onDisk?: string | undefined;
}

export interface Log {
  process: number;
  messages: Received[];
}
