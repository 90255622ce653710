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
    return this.list().includes(name(build));
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
