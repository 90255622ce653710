// A debug session as the workbench shows it.

import type { Locator, Page } from "playwright-core";

export type Button =
  "Continue" | "Step Over" | "Step Back" | "Reverse" | "Stop" | "Previous Thread Switch" | "Next Thread Switch";

export class DebugView {
  constructor(private readonly page: Page) {}

  get toolbar(): Locator {
    return this.page.locator(".debug-toolbar");
  }

  async press(button: Button): Promise<void> {
    await this.toolbar.locator(`a[aria-label^="${button}"]`).click();
  }

  /** Ends the session. */
  async stop(): Promise<void> {
    await this.press("Stop");
    await this.toolbar.waitFor({ state: "hidden" });
  }

  /** Waits until the editor shows the program at a line of a file. */
  async at(file: string, line: number): Promise<void> {
    await this.page.locator(".tab.active", { hasText: file }).waitFor();
    await this.page.locator(".statusbar-item", { hasText: `Ln ${line},` }).waitFor();
    await this.page.locator(".debug-top-stack-frame-line").first().waitFor();
  }

  /** A row of the call stack, by a part of its words. */
  stack(words: string | RegExp): Locator {
    return this.list("Debug Call Stack", words);
  }

  /** Waits until a variable has a value. */
  async variable(name: string, value: string): Promise<void> {
    await this.list("Debug Variables", new RegExp(`^${name}\\s*=\\s*${value}$`)).waitFor();
  }

  /** Unfolds a scope, unless it is. */
  async unfold(scope: string): Promise<void> {
    const row = this.list("Debug Variables", scope);
    if ((await row.getAttribute("aria-expanded")) === "false") await row.click();
  }

  private list(name: string, words: string | RegExp): Locator {
    return this.page.locator(`.monaco-list[aria-label="${name}"] .monaco-list-row`, { hasText: words }).first();
  }
}
