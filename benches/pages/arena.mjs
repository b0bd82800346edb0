// The arena that is measured: the given program on loopback, with two models whose replies are 20 kB, behind a pipe that counts bytes.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

const MODELS = 300;
const VOTES = 30_000;
export const REPLY_BYTES = 20_000;

/** Starts it on a data folder, which is filled with votes on 300 models if it is new. Gives `{ url, direct, pid, sockets, stop }`; `direct` leads past the pipe. */
export async function startArena(program, folder, pacing) {
  const upstream = await startModels();
  if (!existsSync(folder)) await fill(program, folder);
  const config = join(folder, "measure.toml");
  await writeFile(config, settings(upstream.url, pacing));
  const server = spawn(program, ["serve", "--config", config, "--listen", "127.0.0.1:0", "--data-dir", folder], { stdio: ["ignore", "pipe", "ignore"] });
  const address = await addressOf(server);
  const counter = await startCounter(address);
  const stop = async () => {
    const ended = once(server, "exit");
    server.kill("SIGTERM");
    counter.stop();
    upstream.stop();
    await ended;
  };
  return { url: counter.url, direct: address.origin, pid: server.pid, sockets: counter.sockets, stop };
}

async function fill(program, folder) {
  await mkdir(folder, { recursive: true });
  const votes = join(folder, "votes.csv");
  for (const command of [
    ["simulate", "--models", MODELS, "--votes", VOTES, "--seed", 7, "--out", votes],
    ["import", "votes", votes, "--data-dir", folder],
  ]) {
    const { status, stderr } = spawnSync(program, command.map(String), { encoding: "utf8" });
    if (status !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
  }
}

function settings(url, pacing) {
  const model = (id) => `\n[[models]]\nid = "${id}"\nname = "${id}"\nprovider = "openai"\nbase_url = "${url}/v1"\nmax_tokens = 8192\n`;
  return `[providers]\ndiscover = false\npractice = "never"\n\n[battle]\npacing = "${pacing}"\n${model("crane")}${model("heron")}`;
}

async function addressOf(server) {
  for await (const line of createInterface({ input: server.stdout })) {
    const url = /listening on (http:\/\/\S+)/.exec(line)?.[1];
    if (url) {
      server.stdout.resume();
      return new URL(url);
    }
  }
  throw new Error("the arena ended before it said where it listens");
}

/** Two models that stream a long reply with lists, code and a table, as fast as it is read. */
async function startModels() {
  const sentence = "A sentence of usual length says with **bold** words and `code` what the next one explains. ";
  const list = Array.from({ length: 5 }, (_, n) => `- point ${n + 1} of a list that goes on for half a line`).join("\n");
  const code = `\`\`\`python\n${"for n in range(10):\n    print(n, n * n)\n".repeat(5)}\`\`\``;
  const table = `| a | b |\n|---|---|\n${"| one | two |\n".repeat(4)}`;
  const part = `## A heading\n\n${sentence.repeat(5)}\n\n${sentence.repeat(4)}\n\n${list}\n\n${code}\n\n${sentence.repeat(3)}\n\n${table}\n`;
  const text = part.repeat(Math.ceil(REPLY_BYTES / part.length)).slice(0, REPLY_BYTES);
  const server = createHttpServer(async (request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of text.match(/[\s\S]{1,16}/g)) {
      if (response.destroyed) return;
      const more = response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: piece } }] })}\n\n`);
      if (!more) await once(response, "drain");
    }
    response.end("data: [DONE]\n\n");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const stop = () => (server.close(), server.closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}

/** Passes connections on and counts what each socket of a battle carries to the page, in `sockets`. */
async function startCounter({ hostname, port }) {
  const sockets = [];
  const open = new Set();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const count = { bytes: 0 };
    client.once("data", (head) => String(head).startsWith("GET /ws/battle") && sockets.push(count));
    upstream.on("data", (data) => (count.bytes += data.length));
    for (const [one, other] of [[client, upstream], [upstream, client]]) {
      open.add(one);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => (open.delete(one), other.destroy()));
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const stop = () => (server.close(), open.forEach((socket) => socket.destroy()));
  return { url: `http://127.0.0.1:${server.address().port}`, sockets, stop };
}
