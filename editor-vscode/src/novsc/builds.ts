// Which build commands the user has allowed in this workspace.

import type { BuildParams } from "../protocol";

/** The part of an editor's workspace state that is needed here. */
export interface Memento {
  get<T>(key: string, fallback: T): T;
  update(key: string, value: unknown): PromiseLike<void>;
}

const KEY = "allowedBuilds";

/** Remembers, per workspace, what may be run without another question. */
export class AllowedBuilds {
  constructor(private readonly state: Memento) {}

  has(build: BuildParams): boolean {
    return this.list().some((allowed) => allowed === name(build) || covers(allowed, build));
  }

  async add(build: BuildParams): Promise<void> {
    if (!this.has(build)) await this.state.update(KEY, [...this.list(), name(build)]);
  }

  async forget(): Promise<number> {
    const count = this.list().length;
    await this.state.update(KEY, []);
    return count;
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
