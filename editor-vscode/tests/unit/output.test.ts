import { expect, test } from "vitest";
import { BoundedText, plainText, terminalText } from "../../src/core/output";

test("colours and links are for the terminal only", () => {
  const link = "\u001b]8;;file:///a.c\u001b\\a.c\u001b]8;;\u001b\\";
  expect(plainText(`\u001b[01;31merror:\u001b[0m in ${link}\r\nend`)).toBe("error: in a.c\nend");
});

test("each line of a terminal begins at its left edge", () => {
  expect(terminalText("one\ntwo\r\nthree")).toBe("one\r\ntwo\r\nthree");
});

test.each([1, 3, 7, 100])("long output keeps its beginning and its end, in pieces of %i", (size) => {
  const text = "0123456789abcdefghij";
  const kept = new BoundedText(4);
  for (let start = 0; start < text.length; start += size) kept.add(text.slice(start, start + size));
  expect(kept.toString()).toBe("0123\n… 12 characters …\nghij");
});

test.each(["", "abc", "abcdefgh"])("%j fits", (text) => {
  const kept = new BoundedText(4);
  kept.add(text);
  expect(kept.toString()).toBe(text);
});
