// What pages cost a visitor: node benches/pages/measure.mjs PROGRAM FOLDER
//
// Starts the program on the data folder (a new one gets 30,000 simulated votes on 300 models), opens pages in Chromium, and prints
// each number beside its target. Needs `npm ci` in tests/browser, and Chromium; `CHROMIUM` names another one.

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Agent, get } from "node:http";

import { openPage, startBrowser } from "../../tests/browser/support/browser.mjs";
import { REPLY_BYTES, startArena } from "./arena.mjs";

const [program, folder] = process.argv.slice(2);
if (!folder) {
  console.error("name a program and a data folder: node benches/pages/measure.mjs PROGRAM FOLDER");
  process.exit(2);
}
const LOADS = 5;
/** Requests whose processor time is counted, and how many of them one core is to answer in a second. */
const REQUESTS = 4_000;
const RATE = 5_000;
let arena;
const browser = await startBrowser();
try {
  await within("common", async () => {
    await pages();
    await stream("common pacing");
  });
  await within("raw", () => stream("raw pacing"));
} finally {
  await browser.close();
}

async function within(pacing, measure) {
  arena = await startArena(program, folder, pacing);
  try {
    await measure();
  } finally {
    await arena.stop();
  }
}

async function pages() {
  await fitted("/leaderboard");
  await fitted("/leaderboard/charts");
  const { models } = await (await fetch(`${arena.url}/api/v1/leaderboard`)).json();
  const board = `leaderboard of ${models.length} models`;
  await load("battle page", "/", { bytes: 60_000, seconds: 0.5 });
  await load(board, "/leaderboard", { seconds: 0.5 });
  await load(`charts of ${models.length} models`, "/leaderboard/charts", { bytes: 300_000, seconds: 1 });
  await serverTime(`${board}, from the cache`, () => "/leaderboard");
  await perCore(`${board}, from the cache`, "/leaderboard");
  await serverTime(`${board}, searched`, (n) => `/leaderboard?q=model-${n}`);
}

function print(what, value, unit, most) {
  printBeside(what, value, unit, most === undefined ? "" : `  (below ${most.toLocaleString("en")} ${unit}: ${value < most ? "yes" : "NO"})`);
}

function printBeside(what, value, unit, target) {
  console.log(`${what.padEnd(56)} ${value.toLocaleString("en", { maximumFractionDigits: 3 }).padStart(9)} ${unit}${target}`);
}

/** The first fit may take longer than a request waits for it. */
async function fitted(path) {
  while ((await fetch(arena.url + path)).status === 503);
}

function middle(values) {
  return percentile(values, 0.5);
}

/** A page on first loads of fresh visitors: bytes as transferred, largest paint, layout shift. */
async function load(name, path, most) {
  const loads = [];
  for (let n = 0; n < LOADS; n += 1) loads.push(await firstLoad(path));
  const of = (key) => middle(loads.map((one) => one[key]));
  print(`${name}: transferred`, of("bytes"), "bytes", most.bytes);
  print(`${name}: largest contentful paint`, of("paint") / 1000, "s", most.seconds);
  print(`${name}: layout shift`, of("shift"), "", 0.02);
}

async function firstLoad(path) {
  const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.addInitScript(observe);
  await page.goto(arena.url + path, { waitUntil: "networkidle" });
  const { paint, shift } = await page.evaluate(() => window.seen);
  await page.context().close();
  return { bytes, paint, shift };
}

/** Runs in the page before anything else. */
function observe() {
  window.seen = { paint: 0, shift: 0 };
  const watch = (type, each) => new PerformanceObserver((list) => list.getEntries().forEach(each)).observe({ type, buffered: true });
  watch("largest-contentful-paint", (entry) => (window.seen.paint = entry.startTime));
  watch("layout-shift", (entry) => (window.seen.shift += entry.hadRecentInput ? 0 : entry.value));
}

/** A whole answer, compressed as a browser gets it. */
async function answer(agent, path) {
  const request = get(arena.direct + path, { agent, headers: { "accept-encoding": "gzip" } });
  const [response] = await once(request, "response");
  if (response.headers["content-encoding"] !== "gzip") throw new Error(`${path} is not compressed`);
  await once(response.resume(), "end");
}

/** Answers a second that one core makes: requests on eight connections, by the processor time of the arena. */
async function perCore(name, path) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const ask = async () => {
    for (let n = 0; n < REQUESTS / 8; n += 1) await answer(agent, path);
  };
  const before = await processorSeconds(arena.pid);
  await Promise.all(Array.from({ length: 8 }, ask));
  const seconds = (await processorSeconds(arena.pid)) - before;
  agent.destroy();
  const rate = REQUESTS / seconds;
  printBeside(`${name}: answers a second of one core`, rate, "", `  (above ${RATE.toLocaleString("en")}: ${rate > RATE ? "yes" : "NO"})`);
}

/** What a process took of all cores so far: clock ticks of a hundredth, behind its name in brackets. */
async function processorSeconds(pid) {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Of one request after the other on one connection, the time until the whole answer is here. */
async function serverTime(name, path) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times = [];
  for (let n = 0; n < 100; n += 1) {
    const began = performance.now();
    await answer(agent, path(n));
    times.push(performance.now() - began);
  }
  agent.destroy();
  print(`${name}: answered in`, middle(times.slice(10)), "ms", 5);
}

/**
 * Two replies of 20 kB: what the main thread does at a stretch from the first text on, and what the socket carries. Time of the
 * processor is the page's own; of the time that passes, the arena, the models and the browser's other processes take their share of
 * the same cores.
 */
async function stream(pacing) {
  const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
  await page.addInitScript(markFirstText);
  await page.goto(arena.url, { waitUntil: "networkidle" });
  // The driver's own work on the field is none of the page's.
  await page.locator("#prompt").fill("a long question");
  await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline", "blink.user_timing"] });
  await page.keyboard.press("Enter");
  // The pace is the arena's: a reply of this length takes a while.
  await page.locator('main[data-phase="ready"]').waitFor({ timeout: 300_000 });
  const tasks = mainThreadTasks(JSON.parse(await browser.stopTracing()));
  for (const [kind, times, most] of [["processor time", tasks.map(({ own }) => own), 16], ["time passed", tasks.map(({ passed }) => passed)]]) {
    print(`2 × 20 kB, ${pacing}: longest task, ${kind}`, Math.max(...times), "ms", most);
    print(`2 × 20 kB, ${pacing}: 99 of 100 tasks, ${kind}`, percentile(times, 0.99), "ms");
  }
  const [socket] = arena.sockets.slice(-1);
  print(`2 × 20 kB, ${pacing}: bytes on the wire for one of text`, socket.bytes / (2 * REPLY_BYTES), "×", 2.5);
  await page.context().close();
}

/** Runs in the page before anything else. */
function markFirstText() {
  const mark = (_, observer) => {
    if (!document.querySelector(".reply .block")) return;
    observer.disconnect();
    performance.mark("first text");
  };
  new MutationObserver(mark).observe(document, { childList: true, subtree: true });
}

function percentile(values, share) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * share)];
}

/** Milliseconds of each task of the thread that runs the page, from the first text on. */
function mainThreadTasks({ traceEvents }) {
  const isMain = ({ name, args }) => name === "thread_name" && args.name === "CrRendererMain";
  const threads = new Set(traceEvents.filter(isMain).map(({ pid, tid }) => `${pid} ${tid}`));
  const first = traceEvents.find(({ name }) => name === "first text");
  if (!first) throw new Error("the trace does not say when the first text came");
  const isTask = ({ name, ph, pid, tid, ts, dur = 0 }) =>
    name.endsWith("RunTask") && ph === "X" && threads.has(`${pid} ${tid}`) && ts + dur >= first.ts;
  return traceEvents.filter(isTask).map(({ dur = 0, tdur = 0 }) => ({ passed: dur / 1000, own: tdur / 1000 }));
}
