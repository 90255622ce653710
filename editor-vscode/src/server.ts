// The language server: one for the window, whatever the number of folders.

import { isDeepStrictEqual } from "node:util";
import * as vscode from "vscode";
import {
  DidChangeConfigurationNotification,
  ExecuteCommandRequest,
  LanguageClient,
  type LanguageClientOptions,
  type Executable,
} from "vscode-languageclient/node";
import {
  BuildRequest,
  ChangedNotification,
  ServerCommand,
  StatusNotification,
  type BuildParams,
  type BuildResult,
  type StatusParams,
} from "./protocol";
import { saveSources } from "./saving";
import { clientOptions, onSettingsChange, serverEnvironment, serverExecutable, serverSettings } from "./settings";

type BuildHandler = (build: BuildParams, token: vscode.CancellationToken) => Promise<BuildResult>;

// Commands that run what is on disk.
const RUNS: string[] = [ServerCommand.explore, ServerCommand.check, ServerCommand.restore];

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  /** What it was started with. */
  private started: ReturnType<typeof serverSettings> | undefined;
  /** Ends when what was begun last has. */
  private turn = Promise.resolve();
  private build: BuildHandler | undefined;
  private readonly channel = vscode.window.createOutputChannel("Interleaver", { log: true });
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly statusChanged = new vscode.EventEmitter<StatusParams | undefined>();

  /** The tree is another one, or the server has just started or stopped. */
  readonly onChanged = this.changed.event;
  /** What the status bar should say; nothing while no server runs. */
  readonly onStatus = this.statusChanged.event;

  constructor(private readonly context: vscode.ExtensionContext) {
    context.subscriptions.push(
      this,
      this.channel,
      this.changed,
      this.statusChanged,
      onSettingsChange((executable) => void this.settingsChanged(executable)),
    );
  }

  /** Who answers `interleaver/build`. */
  onBuild(handler: BuildHandler): void {
    this.build = handler;
  }

  get running(): boolean {
    return this.client?.isRunning() ?? false;
  }

  async start(): Promise<void> {
    return this.inTurn(() => this.startNow());
  }

  async stop(): Promise<void> {
    return this.inTurn(() => this.stopNow());
  }

  async restart(): Promise<void> {
    return this.inTurn(() => this.restartNow());
  }

  private async startNow(): Promise<void> {
    const executable = this.configuredExecutable();
    const client = new LanguageClient("interleaver", "Interleaver", executable, this.languageClientOptions());
    this.client = client;
    this.started = serverSettings();
    client.onNotification(ChangedNotification, () => {
      this.changed.fire();
    });
    client.onNotification(StatusNotification, (status) => {
      this.statusChanged.fire(status);
    });
    client.onRequest(BuildRequest, (build, token) => this.build?.(build, token) ?? { ran: false });
    try {
      await client.start();
    } catch (error) {
      void this.failedToStart(error);
      return;
    }
    this.changed.fire();
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.needsStop()) await client.stop();
    this.statusChanged.fire(undefined);
    this.changed.fire();
  }

  private async restartNow(): Promise<void> {
    await this.stopNow();
    await this.startNow();
  }

  /** Runs a server command. Rejects with the server's sentence if it cannot. */
  async execute<T>(command: string, argument: object): Promise<T> {
    if (!this.client?.isRunning()) {
      throw new Error('The Interleaver server is not running: see the output channel "Interleaver".');
    }
    if (RUNS.includes(command)) await saveSources(argument);
    return (await this.client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [argument] })) as T;
  }

  /** Writes to the output channel. */
  log(sentence: string): void {
    this.channel.warn(sentence);
  }

  showOutput(): void {
    this.channel.show();
  }

  dispose(): void {
    void this.stop();
  }

  private configuredExecutable(): Executable {
    const options = { env: serverEnvironment() };
    return { command: serverExecutable(this.context), args: ["lsp"], options };
  }

  private languageClientOptions(): LanguageClientOptions {
    return {
      documentSelector: [
        { scheme: "file", language: "c" },
        { scheme: "file", language: "cpp" },
        { scheme: "file", language: "rust" },
        { scheme: "file", pattern: "**/interleaver.toml" },
      ],
      initializationOptions: clientOptions(),
      outputChannel: this.channel,
      middleware: {
        // A click on a lens comes here.
        executeCommand: async (command, args, next) => {
          if (RUNS.includes(command)) await saveSources(args[0]);
          return (await next(command, args)) as unknown;
        },
      },
    };
  }

  /** Two that start or stop at a time would leave two servers. */
  private inTurn(work: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(work, work);
    return this.turn;
  }

  private async settingsChanged(executable: boolean): Promise<void> {
    // While it loads a folder, an editor forgets the folder's settings for a moment: a server that would be started again
    // as it was goes on, with what it is doing.
    if (executable && this.isOutdated()) {
      return this.inTurn(async () => {
        // Another event of the same change may have had its turn.
        if (this.isOutdated()) await this.restartNow();
      });
    }
    if (!this.client?.isRunning()) return;
    await this.client.sendNotification(DidChangeConfigurationNotification.type, {
      settings: { interleaver: clientOptions() },
    });
  }

  private isOutdated(): boolean {
    return !isDeepStrictEqual(serverSettings(), this.started);
  }

  private async failedToStart(error: unknown): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error);
    const show = "Show Output";
    const sentence = `The Interleaver server ${serverExecutable(this.context)} does not start: ${reason}`;
    if ((await vscode.window.showErrorMessage(sentence, show)) === show) this.showOutput();
  }
}
