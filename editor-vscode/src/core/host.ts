// Where the extension can work: the machine that runs programs has to be Linux on x86-64.

const PLATFORMS: Record<string, string> = { darwin: "macOS", win32: "Windows", linux: "Linux" };

const WHERE_INSTEAD: Record<string, string> = {
  win32: "Open the folder in WSL, over Remote-SSH or in a dev container.",
};

/** One sentence for a machine that programs cannot be explored on, or nothing for one where they can. */
export function unsupportedHost(platform: string, architecture: string): string | undefined {
  if (platform === "linux" && architecture === "x64") return undefined;
  const name = PLATFORMS[platform] ?? platform;
  const where = WHERE_INSTEAD[platform] ?? "Open the folder over Remote-SSH or in a dev container of that kind.";
  return `Interleaver runs on Linux x86-64, and this extension host is ${name} on ${architecture}. ${where}`;
}
