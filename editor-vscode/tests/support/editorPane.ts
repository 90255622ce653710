// The active text editor: its lenses, its hints, its text.

import type { Locator, Page } from "playwright-core";

export class EditorPane {
  constructor(private readonly page: Page) {}

  /** A lens that is in view, by a part of its words. */
  lens(words: string | RegExp): Locator {
    return this.pane.locator(".codelens-decoration:visible").locator("a, span", { hasText: words }).first();
  }

  /** A lens in view that does something when it is clicked, as those that an editor remembers of a file do not. */
  button(words: string): Locator {
    return this.pane.locator(".codelens-decoration:visible a", { hasText: words }).first();
  }

  /** A lens that stands directly above a line, by parts of the words of both. */
  lensAbove(line: string, words: string): Locator {
    const below = `.view-line:has-text(${JSON.stringify(line)})`;
    return this.pane.locator(`.codelens-decoration a:has-text(${JSON.stringify(words)}):above(${below}, 20)`).first();
  }

  /** A line that is in view, by parts of its text; hints are part of it. */
  line(...parts: string[]): Locator {
    const lines = parts.reduce((lines, part) => lines.filter({ hasText: part }), this.pane.locator(".view-line"));
    return lines.first();
  }

  async goTo(line: number): Promise<void> {
    await this.page.keyboard.press("Control+G");
    await this.page.locator(".quick-input-widget input[type=text]").fill(`:${line}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: `line ${line} ` }).click();
    await this.page.locator(".statusbar-item", { hasText: `Ln ${line},` }).waitFor();
    // The list has the keyboard until it is gone.
    await this.page.locator(".editor-group-container.active .monaco-editor.focused").waitFor();
  }

  /** Chooses one of the code actions of a line. */
  async act(line: number, title: string): Promise<void> {
    await this.goTo(line);
    // The light bulb: actions were looked for where the cursor has come to rest, which is not done at blanks.
    await this.page.keyboard.press("Home");
    await this.page.locator(".lightBulbWidget:visible:near(.current-line, 5)").click();
    await this.page.locator(".action-widget .monaco-list-row", { hasText: title }).click();
  }

  /** Hovers over the first word of a line that has a lens and a hint: the editor hides its hover where they come later. */
  async hover(line: number, lens: string, hint: string): Promise<void> {
    await this.goTo(line);
    await this.lens(lens).waitFor();
    await this.line(hint).waitFor();
    await this.page.keyboard.press("Home");
    // As the pointer does it, but for the way there.
    await this.page.keyboard.press("Control+K");
    await this.page.keyboard.press("Control+I");
  }

  /** What the hover says, by a part of its words. */
  hoverText(words: string): Locator {
    return this.page.locator(".monaco-hover:visible", { hasText: words }).first();
  }

  /** Whether something can be seen inside of a box that hides what does not fit. */
  async isWithin(part: Locator, box: Locator): Promise<boolean> {
    const [inner, outer] = [await part.first().boundingBox(), await box.boundingBox()];
    if (inner === null || outer === null) return false;
    return inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height;
  }

  /** Sets or removes a breakpoint. */
  async toggleBreakpoint(line: number): Promise<void> {
    await this.goTo(line);
    await this.page.keyboard.press("F9");
  }

  get breakpoints(): Locator {
    return this.pane.locator(".codicon-debug-breakpoint");
  }

  /** Replaces a line as somebody who types, keeping its indentation. */
  async replaceLine(line: number, text: string): Promise<void> {
    await this.goTo(line);
    await this.page.keyboard.press("Home");
    await this.page.keyboard.press("Shift+End");
    await this.page.keyboard.press("Delete");
    await this.page.keyboard.type(text);
  }

  private get pane(): Locator {
    return this.page.locator(".editor-group-container.active .monaco-editor").first();
  }
}
