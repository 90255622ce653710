// What a build wrote, as a terminal wants it and as a report wants it.

// Colours and other escape sequences: CSI, OSC, and two-character ones.
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** Text without escape sequences. */
export function plainText(text: string): string {
  return text.replace(ESCAPES, "").replace(/\r\n?/g, "\n");
}

/** Lines for a terminal, which wants a carriage return before each line feed. */
export function terminalText(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/** Keeps the beginning and the end of what may be long: the first error and the last words. */
export class BoundedText {
  private head = "";
  private tail = "";
  private dropped = 0;

  constructor(private readonly limit: number) {}

  add(text: string): void {
    const room = this.limit - this.head.length;
    this.head += text.slice(0, room);
    this.tail += text.slice(room > 0 ? room : 0);
    const excess = this.tail.length - this.limit;
    if (excess > 0) {
      this.tail = this.tail.slice(excess);
      this.dropped += excess;
    }
  }

  toString(): string {
    return this.dropped === 0 ? this.head + this.tail : `${this.head}\n… ${this.dropped} characters …\n${this.tail}`;
  }
}
