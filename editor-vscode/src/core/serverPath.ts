// Which executable is the server.

import { isAbsolute, join } from "node:path";

/** What a configured path may refer to. */
export interface PathContext {
  extension: string;
  home: string;
  workspaceFolder: string | undefined;
}

/** The configured executable with its variables replaced, or the one in the extension's folder. */
export function serverPath(configured: string, context: PathContext): string {
  const text = configured.trim();
  if (text === "") return join(context.extension, "server", "interleaver");
  const folder = context.workspaceFolder ?? context.home;
  const path = text.replace(/^~(?=\/|$)/, context.home).replaceAll("${workspaceFolder}", folder);
  return isAbsolute(path) ? path : join(folder, path);
}
