#!/usr/bin/env node
// A debug adapter that agrees to step back, and stays where it is.

import { runWith } from "./proxy.mts";

runWith("dap", {
  fromEditor: ({ command, seq, arguments: given }) => {
    if (command !== "stepBack") return undefined;
    const { threadId } = given as { threadId: number };
    const answer = { seq: 0, type: "response", request_seq: seq, command, success: true };
    const body = { reason: "step", threadId, allThreadsStopped: true };
    return { back: [answer, { seq: 0, type: "event", event: "stopped", body }] };
  },
});
