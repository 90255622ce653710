// A VS Code workbench served on the loopback interface, with the packaged extension and nothing of the user's.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { CODE_SERVER, NODE, PACKAGE } from "./paths";

export interface CodeServerOptions {
  /** Whether workspaces are trusted without asking. */
  trusted: boolean;
  /** Settings of the machine that the workbench is served from: the only place for paths of executables. */
  machineSettings?: Record<string, unknown>;
  /** More environment variables, for the extension host as well. */
  environment?: Record<string, string>;
  /** Whether the workbench may run tests inside its extension host. */
  runsTests?: boolean;
}

const SETTINGS = {
  "chat.disableAIFeatures": true,
  // What the tests type is what is in the file.
  "editor.autoClosingBrackets": "never",
  "editor.formatOnType": false,
  "editor.minimap.enabled": false,
  "editor.quickSuggestions": { other: "off", comments: "off", strings: "off" },
  "editor.suggestOnTriggerCharacters": false,
  // As in a window of the desktop: what a click on a lens runs is saved by it, and the lens stays where it is until then.
  "files.autoSave": "off",
  "security.workspace.trust.startupPrompt": "never",
  "security.workspace.trust.banner": "never",
  "telemetry.telemetryLevel": "off",
  "workbench.colorTheme": "Default Dark Modern",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

export class CodeServer {
  private constructor(
    private readonly home: string,
    private readonly process: ChildProcess,
    readonly url: string,
  ) {}

  static async start(options: CodeServerOptions): Promise<CodeServer> {
    const home = await mkdtemp(join(tmpdir(), "interleaver-workbench-"));
    await writeSettings(join(home, "data/User"), SETTINGS);
    await writeSettings(join(home, "data/Machine"), options.machineSettings ?? {});
    // Extensions get the environment of a login shell.
    await writeFile(join(home, ".profile"), `export PATH='${environment(home, options)["PATH"] ?? ""}'\n`);
    await promisify(execFile)(NODE, [CODE_SERVER, ...folders(home), "--install-extension", PACKAGE, "--force"], {
      env: environment(home, options),
    });
    const child = spawn(NODE, [CODE_SERVER, ...folders(home), ...flags(options)], {
      env: environment(home, options),
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stderr.resume();
    return new CodeServer(home, child, await address(child));
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null) {
      this.process.kill("SIGTERM");
      await once(this.process, "exit");
    }
    await rm(this.home, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function writeSettings(folder: string, settings: Record<string, unknown>): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "settings.json"), JSON.stringify(settings));
}

function folders(home: string): string[] {
  const config = join(home, "config.yaml");
  return ["--config", config, "--user-data-dir", join(home, "data"), "--extensions-dir", join(home, "extensions")];
}

function flags(options: CodeServerOptions): string[] {
  const all = [
    ...["--auth", "none", "--bind-addr", "127.0.0.1:0"],
    ...["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"],
    ...["--disable-proxy", "--disable-file-downloads"],
  ];
  if (options.trusted) all.push("--disable-workspace-trust");
  if (options.runsTests) all.push("--vscode-option", "enable-smoke-test-driver");
  return all;
}

function environment(home: string, options: CodeServerOptions): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...options.environment,
    PATH: `${dirname(NODE)}:${process.env["PATH"] ?? ""}`,
    // It is no window of an editor that these tests may have been started from.
    VSCODE_IPC_HOOK_CLI: undefined,
    // A project's programs are looked for in the project, wherever these tests themselves were built.
    CARGO_TARGET_DIR: undefined,
    HOME: home,
    // Compilers installed for the user stay usable under another home.
    CARGO_HOME: process.env["CARGO_HOME"] ?? join(process.env["HOME"] ?? "", ".cargo"),
    RUSTUP_HOME: process.env["RUSTUP_HOME"] ?? join(process.env["HOME"] ?? "", ".rustup"),
    XDG_CACHE_HOME: join(home, "cache"),
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_DATA_HOME: join(home, "share"),
    // No marketplace.
    EXTENSIONS_GALLERY: '{"serviceUrl":"","itemUrl":"","resourceUrlTemplate":""}',
  };
}

// It says where it listens once it does.
async function address(child: ChildProcess): Promise<string> {
  let log = "";
  return new Promise((resolve, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      const url = /HTTP server listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(log)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", (code) => {
      reject(new Error(`code-server ended with ${code}:\n${log}`));
    });
  });
}
