// Which build commands the user has allowed in this workspace.

import type { BuildParams } from "../protocol";

/** The part of an editor's workspace state that is needed here. */
export interface Memento {
  get<T>(key: string, fallback: T): T;
  update(key: string, value: unknown): PromiseLike<void>;
}

const KEY = "allowedBuilds";
const CHANGED = "changedBuilds";

/** Remembers, per workspace, what may be run without another question. */
export class AllowedBuilds {
  constructor(private readonly state: Memento) {}

  has(build: BuildParams): boolean {
    return this.list().some((allowed) => allowed === name(build) || covers(allowed, build));
  }

  /** What runs for a build: the user's own command where there is one. */
  commandOf(build: BuildParams): string {
    return this.changed()[name(build)] ?? build.command;
  }

  /** Allows a build, as it is or with another command in its place. */
  async add(build: BuildParams, command = build.command): Promise<void> {
    if (!this.has(build)) await this.state.update(KEY, [...this.list(), name(build)]);
    if (command !== build.command) await this.state.update(CHANGED, { ...this.changed(), [name(build)]: command });
  }

  async forget(): Promise<number> {
    const count = this.list().length;
    await this.state.update(KEY, []);
    await this.state.update(CHANGED, {});
    return count;
  }

  private changed(): Record<string, string> {
    return this.state.get<Record<string, string>>(CHANGED, {});
  }

  private list(): string[] {
    return this.state.get<string[]>(KEY, []);
  }
}

// Another command, or the same one elsewhere, is another question.
function name(build: BuildParams): string {
  return `${build.directory}\n${build.command}`;
}

// Who has allowed to configure and build has allowed to build, and who has allowed to build everything has allowed to build
// a part of it, as options say.
function covers(allowed: string, build: BuildParams): boolean {
  if (!allowed.startsWith(`${build.directory}\n`)) return false;
  const command = allowed.slice(build.directory.length + 1);
  const options = build.command.startsWith(command) ? build.command.slice(command.length) : "";
  return command.endsWith(` && ${build.command}`) || /^ --[\w ./:@=-]+$/.test(options);
}
