// One served workbench for all files of a test run; each test opens a window of its own.

import type { TestProject } from "vitest/node";
import { CodeServer } from "./codeServer";

declare module "vitest" {
  interface ProvidedContext {
    workbench: string;
  }
}

export default async function serve(project: TestProject): Promise<() => Promise<void>> {
  const server = await CodeServer.start({ trusted: true });
  project.provide("workbench", server.url);
  return () => server.stop();
}
