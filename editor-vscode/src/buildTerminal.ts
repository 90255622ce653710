// A terminal that runs one command and keeps what it wrote: an ordinary shell task keeps its output to itself.

import { spawn, type ChildProcess } from "node:child_process";
import * as vscode from "vscode";
import { BoundedText, plainText, terminalText } from "./core/output";
import type { BuildParams } from "./protocol";

export interface BuildEnd {
  exitCode: number;
  output: string;
}

// Compilers write colours for people only where they see a terminal; here they are told.
const COLOURS = { CARGO_TERM_COLOR: "always", CLICOLOR_FORCE: "1", GCC_COLORS: "error=01;31:warning=01;35:note=01;36" };

export class BuildTerminal implements vscode.Pseudoterminal {
  private readonly writer = new vscode.EventEmitter<string>();
  private readonly closer = new vscode.EventEmitter<number>();
  private readonly kept = new BoundedText(100_000);
  private process: ChildProcess | undefined;
  private end: (end: BuildEnd) => void = () => undefined;

  readonly onDidWrite = this.writer.event;
  readonly onDidClose = this.closer.event;
  /** How the command ended; a terminal that is closed ends it. */
  readonly ended = new Promise<BuildEnd>((resolve) => {
    this.end = resolve;
  });

  constructor(private readonly build: BuildParams) {}

  open(): void {
    this.writer.fire(terminalText(`\u001b[1m$ ${this.build.command}\u001b[0m\n`));
    const child = spawn(this.build.command, {
      cwd: this.build.directory,
      detached: true,
      env: { ...process.env, ...COLOURS },
      shell: "/bin/sh",
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.kept.add(text);
        this.writer.fire(terminalText(text));
      });
    }
    child.on("error", (error) => {
      this.finish(127, `${error.message}\n`);
    });
    child.on("close", (code) => {
      this.finish(code ?? 130, "");
    });
  }

  close(): void {
    // The command and what it started.
    if (this.process?.pid !== undefined && this.process.exitCode === null) {
      try {
        process.kill(-this.process.pid, "SIGTERM");
      } catch {
        // It has just ended by itself.
      }
    }
    this.finish(130, "");
  }

  private finish(exitCode: number, message: string): void {
    this.kept.add(message);
    if (message !== "") this.writer.fire(terminalText(message));
    this.end({ exitCode, output: plainText(this.kept.toString()) });
    this.closer.fire(exitCode);
  }
}
