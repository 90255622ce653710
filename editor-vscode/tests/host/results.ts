// How results leave the extension host: one line of JSON for each test, and a last one that is empty.

/** The environment variable that names the file. */
export const HOST_RESULTS = "INTERLEAVER_HOST_RESULTS";

export interface HostResult {
  title: string;
  error?: string;
}
