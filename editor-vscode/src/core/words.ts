// Words and dates that the tree and its tooltips are made of.

import type { Finding } from "../protocol";

/** A moment as people write it: the time, and the day unless it is today. */
export function moment(seconds: number, now: Date, locale?: string, timeZone?: string): string {
  const date = new Date(seconds * 1000);
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", ...(timeZone && { timeZone }) });
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "short", ...(timeZone && { timeZone }) });
  const today = day.format(date) === day.format(now);
  return today ? time.format(date) : `${day.format(date)}, ${time.format(date)}`;
}

/** A message without where it comes from, which the C library puts in front and a row says beside it. */
export function headline(message: string): string {
  return message.replace(/^.*?: (?=Assertion `)/, "");
}

/** How many preemptions a finding takes; `≤` where fewer were not ruled out. */
export function depth(finding: Pick<Finding, "preemptions" | "fewest">): string {
  const count = plural(finding.preemptions, "preemption");
  return finding.fewest ? count : `≤ ${count}`;
}

export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`;
}
