// The panel "Problems".

import type { Locator, Page } from "playwright-core";

export class ProblemsView {
  constructor(private readonly page: Page) {}

  async show(): Promise<void> {
    const panel = this.page.locator(".markers-panel");
    if (!(await panel.isVisible())) await this.page.keyboard.press("Control+Shift+M");
    await panel.waitFor();
  }

  /** A row, of a problem or of a related place, by a part of its words. */
  row(words: string | RegExp): Locator {
    return this.page.locator(".markers-panel .monaco-list-row", { hasText: words }).first();
  }

  /** The words of the related places of failures that were explained, in order: the explanations come last. */
  async explained(): Promise<string[]> {
    await this.row("it passes where this comes first").waitFor();
    const rows = this.page.locator(".markers-panel .monaco-list-row[aria-level='3']");
    return rows.locator(".related-info-resource-separator + *, .marker-description").allInnerTexts();
  }

  /** How many problems there are. */
  async count(): Promise<number> {
    return this.page.locator(".markers-panel .monaco-list-row[aria-level='2']").count();
  }

  async none(): Promise<void> {
    await this.show();
    await this.page.locator(".markers-panel", { hasText: "No problems have been detected" }).waitFor();
  }
}
