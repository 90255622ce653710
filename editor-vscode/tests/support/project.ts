// A scratch copy of one of the projects in tests/workspaces, so that every test starts from nothing.

import { execFile } from "node:child_process";
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

export class Project {
  private constructor(
    private readonly scratch: string,
    readonly folder: string,
  ) {}

  static async copy(name: string): Promise<Project> {
    const scratch = await mkdtemp(join(tmpdir(), "interleaver-project-"));
    const folder = join(scratch, name);
    const project = new Project(scratch, folder);
    await cp(join(REPOSITORY, "tests/workspaces", name), folder, { recursive: true });
    const settings = { "interleaver.serverEnvironment": { COUNT_EXECUTIONS: project.executions } };
    await project.write(".vscode/settings.json", JSON.stringify(settings));
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

  /** How many executions the programs have counted themselves. */
  async executed(): Promise<number> {
    return (await readFile(this.executions)).length;
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
