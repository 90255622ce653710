// A scratch copy of one of the projects in tests/workspaces, so that every test starts from nothing.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { INTERLEAVER, REPOSITORY } from "./paths";

const run = promisify(execFile);

/** How executions are counted in the store's `target.json`. */
interface Counts {
  schedules: number;
  redundant: number;
  pruned: number;
  other: number;
}

/** What compilers write is not what somebody opens by name. */
const NO_OUTPUT = { "search.exclude": { build: true, target: true } };

export class Project {
  private constructor(
    private readonly scratch: string,
    readonly folder: string,
  ) {}

  /** A copy with these settings of its workspace. */
  static async copy(name: string, settings: Record<string, unknown> = {}): Promise<Project> {
    const scratch = await mkdtemp(join(tmpdir(), "interleaver-project-"));
    const folder = join(scratch, name);
    const project = new Project(scratch, folder);
    await cp(join(REPOSITORY, "tests/workspaces", name), folder, { recursive: true });
    await project.write(
      ".vscode/settings.json",
      JSON.stringify({ ...NO_OUTPUT, ...project.countsExecutions, ...settings }),
    );
    return project;
  }

  async remove(): Promise<void> {
    await rm(this.scratch, { recursive: true, maxRetries: 3 });
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async read(name: string): Promise<string> {
    return readFile(this.path(name), "utf8");
  }

  /** The number of the one line with some text, from 1. */
  async line(name: string, part: string): Promise<number> {
    const lines = (await this.read(name)).split("\n");
    const found = lines.flatMap((line, index) => (line.includes(part) ? [index + 1] : []));
    const [line] = found;
    if (line === undefined || found.length > 1) throw new Error(`${found.length} lines of ${name} contain ${part}`);
    return line;
  }

  async write(name: string, text: string): Promise<void> {
    await mkdir(dirname(this.path(name)), { recursive: true });
    await writeFile(this.path(name), text);
  }

  /** Runs a command in the project's folder; resolves to what it wrote. */
  async run(command: string, ...words: string[]): Promise<string> {
    return (await run(command, words, { cwd: this.folder })).stdout;
  }

  /** Explores a program from the command line; resolves to the schedule file of its one finding. */
  async explore(program: string): Promise<string> {
    const code = await run(INTERLEAVER, ["explore", "--", program], { cwd: this.folder }).then(
      () => 0,
      (error: unknown) => (error as { code: unknown }).code,
    );
    if (code !== 1) throw new Error(`exploring ${program} ended with ${String(code)}, not with a finding`);
    const [target] = await this.targets();
    const schedules = join(target ?? "", "schedules");
    const [file] = await readdir(schedules);
    return join(schedules, file ?? "");
  }

  /** The setting that makes the programs count their executions. */
  get countsExecutions(): Record<string, unknown> {
    return { "interleaver.serverEnvironment": { COUNT_EXECUTIONS: this.executions } };
  }

  /** How many executions the programs have counted themselves. */
  async executed(): Promise<number> {
    return existsSync(this.executions) ? (await readFile(this.executions)).length : 0;
  }

  /** Whether anything was explored here, ever. */
  get hasStore(): boolean {
    return existsSync(this.path(".interleaver"));
  }

  /** How many executions the store knows of. */
  async recorded(): Promise<number> {
    let sum = 0;
    for (const target of await this.targets()) {
      const { last } = JSON.parse(await readFile(join(target, "target.json"), "utf8")) as { last: Counts };
      sum += last.schedules + last.redundant + last.pruned + last.other;
    }
    return sum;
  }

  private get executions(): string {
    return join(this.scratch, "executions");
  }

  private async targets(): Promise<string[]> {
    const entries = await readdir(this.path(".interleaver"), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  }
}
