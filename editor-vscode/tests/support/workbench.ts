// A window of the workbench in a headless browser, and what a user can do in it.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type Locator, type Page } from "playwright-core";
import { DebugView } from "./debugView";
import { EditorPane } from "./editorPane";
import { SCREENSHOTS } from "./paths";
import { ProblemsView } from "./problemsView";
import { WATCHDOG } from "./watchdog.mts";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
const QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"];
// A window is gone before its code would run the faster for having been optimised.
const SHORT = "--js-flags=--no-opt";
// No other machine has an address.
const ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1";

/** A part of the window, in pixels. */
export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

export class Workbench {
  /** Requests that would have left this machine. */
  readonly strayRequests: string[] = [];
  readonly editor: EditorPane;
  readonly problems: ProblemsView;
  readonly debug: DebugView;

  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
  ) {
    this.editor = new EditorPane(page);
    this.problems = new ProblemsView(page);
    this.debug = new DebugView(page);
  }

  /** Opens a folder or a workspace file, with what else the window is given (paths on the server). */
  static async open(server: string, path: string, payload: Record<string, string> = {}): Promise<Workbench> {
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...QUIET, SHORT, ALONE] });
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(WATCHDOG);
    const workbench = new Workbench(browser, page);
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.hostname !== "127.0.0.1" && url.protocol.startsWith("http")) workbench.strayRequests.push(request.url());
    });
    await page.goto(address(server, path, payload));
    await workbench.ready();
    return workbench;
  }

  async close(): Promise<void> {
    await this.browser.close();
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.ready();
  }

  /** Runs a command as from the palette. */
  async run(title: string): Promise<void> {
    await this.page.keyboard.press("F1");
    await this.page.locator(".quick-input-widget input[type=text]").fill(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
  }

  /** Opens a file by a part of its path that no other file has. */
  async openFile(name: string): Promise<void> {
    await this.page.keyboard.press("Control+P");
    await this.page.locator(".quick-input-widget input[type=text]").fill(name);
    const base = name.slice(name.lastIndexOf("/") + 1);
    // Rows move under a pointer when more of them are found; the first one, which is chosen already, stays.
    await this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: base }).waitFor();
    await this.page.keyboard.press("Enter");
    await this.page.locator(".tab.active", { hasText: base }).waitFor();
  }

  /** Shows the view "Interleavings"; its rows from top to bottom. */
  async tree(): Promise<Locator> {
    const tab = this.page.getByRole("tab", { name: /^Interleaver/ });
    // A click on a view that is shown hides it.
    if ((await tab.getAttribute("aria-expanded")) !== "true") await tab.click();
    return this.page.locator(".part.sidebar .monaco-list-row");
  }

  get statusBar(): Locator {
    return this.page.locator(".statusbar-item");
  }

  get dialog(): Locator {
    return this.page.locator(".monaco-dialog-box");
  }

  /** Agrees to the build that is asked for. */
  async allowBuild(command: string): Promise<void> {
    await this.dialog.filter({ hasText: `Build with "${command}"?` }).waitFor();
    await this.dialog.getByRole("button", { name: "Build", exact: true }).click();
  }

  /** A notification that has come to rest, by a part of its words. */
  toast(words: string | RegExp): Locator {
    return this.page.locator(".notification-toast.notification-fade-in-done", { hasText: words }).first();
  }

  get toasts(): Locator {
    return this.page.locator(".notifications-toasts .notification-toast");
  }

  /** What the window shows, for whoever reads of a test that failed. */
  async inWords(): Promise<string> {
    const parts: [title: string, selector: string][] = [
      ["lenses", ".codelens-decoration"],
      ["dialogs", ".monaco-dialog-box"],
      ["notifications", ".notification-toast"],
      ["status bar", ".statusbar-item"],
      ["terminal", ".terminal-wrapper.active .xterm-accessibility-tree, .terminal-wrapper.active .xterm-rows"],
      ["editor", ".editor-group-container.active .view-line"],
    ];
    const lines: string[] = [];
    for (const [title, selector] of parts) {
      const texts = await this.page.locator(selector).allInnerTexts();
      lines.push(`${title}:`, ...texts.filter((text) => text.trim() !== "").map((text) => `  ${text}`));
    }
    return lines.join("\n");
  }

  async screenshot(name: string, clip?: Area): Promise<void> {
    mkdirSync(SCREENSHOTS, { recursive: true });
    // It fades away.
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    await this.page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), ...(clip && { clip }) });
  }

  /** Makes the side bar wider than an editor begins with. */
  async widenSideBar(pixels: number): Promise<void> {
    const bar = await this.page.locator(".part.sidebar").boundingBox();
    if (bar === null) throw new Error("there is no side bar");
    const [edge, middle] = [bar.x + bar.width, bar.y + bar.height / 2];
    await this.page.mouse.move(edge, middle);
    await this.page.mouse.down();
    await this.page.mouse.move(edge + pixels, middle, { steps: 4 });
    await this.page.mouse.up();
  }

  private async ready(): Promise<void> {
    await this.page.locator(".monaco-workbench .statusbar-item").first().waitFor();
  }
}

function address(server: string, path: string, payload: Record<string, string>): string {
  const { host } = new URL(server);
  const entries = Object.entries(payload).map(([name, value]) => [name, `vscode-remote://${host}${value}`]);
  const query = new URLSearchParams({ [path.endsWith(".code-workspace") ? "workspace" : "folder"]: path });
  if (entries.length > 0) query.set("payload", JSON.stringify(entries));
  return `${server}/?${query.toString()}`;
}
