// An arena to test against: BASE_URL if it is set, else `$LANGYA_BIN serve` with two models that the scripted
// upstream answers for. Everything is on loopback, on free ports, in a folder that goes afterwards.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { startUpstream } from "./upstream.mjs";

/** What the two models are called; no page may say it before the vote. */
export const NAMES = ["Crane", "Heron"];

/** The program. */
export const PROGRAM = process.env.LANGYA_BIN ?? new URL("../../../target/debug/langya", import.meta.url).pathname;

/**
 * Starts an arena and gives `{ url, filled, stop }`. Before it serves, `fill` may put something into its database: it is given the
 * folder and a function that runs the program there, and what it returns is `filled`.
 */
export async function startArena(fill = async () => {}) {
  if (process.env.BASE_URL) return { url: process.env.BASE_URL.replace(/\/$/, ""), stop: async () => {} };
  const upstream = await startUpstream();
  const folder = await mkdtemp(join(tmpdir(), "langya-browser-"));
  const config = join(folder, "langya.toml");
  await writeFile(config, settings(upstream.url));
  const filled = await fill(folder, (...command) => run([...command, "--config", config, "--data-dir", join(folder, "data")]));
  const flags = ["serve", "--config", config, "--listen", "127.0.0.1:0", "--data-dir", join(folder, "data")];
  const server = spawn(PROGRAM, flags, { stdio: ["ignore", "pipe", "inherit"] });
  const stop = async () => {
    if (server.exitCode === null) {
      const ended = once(server, "exit");
      server.kill("SIGTERM");
      await ended;
    }
    await upstream.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return { url: await addressOf(server), filled, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Runs the program to its end, which has to be a good one. */
async function run(command) {
  const child = spawn(PROGRAM, command, { stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}`);
}

async function addressOf(server) {
  for await (const line of createInterface({ input: server.stdout })) {
    const url = /listening on (http:\/\/\S+)/.exec(line)?.[1];
    if (url) {
      server.stdout.resume(); // Later lines are read, so that the pipe never fills.
      return url;
    }
  }
  throw new Error("the arena ended before it said where it listens");
}

function settings(upstream) {
  const model = (name, maker, license) => `
[[models]]
id = "${name.toLowerCase()}"
name = "${name}"
organization = "${maker}"
license = "${license}"
provider = "openai"
base_url = "${upstream}/v1"
images = true
`;
  return `[providers]
discover = false
practice = "never"
retries = 0

[rating]
debounce_ms = 50
group_votes = 1
${model(NAMES[0], "Northern Institute", "MIT")}${model(NAMES[1], "Lakeside Lab", "Apache-2.0")}`;
}
