// Pictures of every page in every state, for people to look at: node screenshots.mjs FOLDER

import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { startArena } from "./support/arena.mjs";
import { ask, openPage, phase, startBrowser, vote } from "./support/browser.mjs";

const folder = process.argv[2];
if (!folder) {
  console.error("name a folder: node screenshots.mjs FOLDER");
  process.exit(2);
}
await mkdir(folder, { recursive: true });
const arena = await startArena();
const browser = await startBrowser();
const views = [390, 1440].flatMap((width) => ["light", "dark"].map((colorScheme) => ({ width, colorScheme })));

try {
  for (const view of views) await leaderboard(view, "empty");
  for (const view of views) await battle(view);
  for (const view of views) await leaderboard(view, "full");
  for (const view of views) await simple(view, "/about", "about");
  for (const view of views) await simple(view, "/nowhere", "missing");
  await simple(views[0], "/?lang=zh", "battle-zh");
  await simple(views[2], "/?lang=zh", "battle-zh");
  await simple(views[2], "/leaderboard?lang=zh", "leaderboard-zh");
  await readme();
} finally {
  await browser.close();
  await arena.stop();
}

function open({ width, colorScheme }) {
  const phone = width < 600;
  const viewport = { width, height: phone ? 844 : 900 };
  return openPage(browser, { viewport, colorScheme, hasTouch: phone, isMobile: phone, reducedMotion: "reduce" });
}

async function battle(view) {
  const page = await open(view);
  await page.goto(arena.url);
  await shoot(page, view, "battle-1-empty");
  await ask(page, "Compare bubble sort and quicksort in a table, slowly, then write quicksort in Python.");
  await page.locator('.reply[data-side="a"] .block').nth(1).waitFor({ state: "attached" });
  await shoot(page, view, "battle-2-writing");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "New battle" }).click();
  await ask(page, "Compare bubble sort and quicksort in a table, then write quicksort in Python.");
  await phase(page, "ready");
  await shoot(page, view, "battle-3-ready");
  await shoot(page, view, "battle-3-ready-full", { fullPage: true });
  await vote(page, "A is better");
  await shoot(page, view, "battle-4-revealed");
  await page.context().close();
}

// The picture of the README: a battle that waits for its vote. Copy it to deploy/screenshot.png; it stays under 150 kB.
async function readme() {
  const page = await openPage(browser, { viewport: { width: 1100, height: 760 }, colorScheme: "light", reducedMotion: "reduce" });
  await page.goto(arena.url);
  await ask(page, "Compare bubble sort and quicksort in a table, then write quicksort in Python, in English.");
  await phase(page, "ready");
  await page.screenshot({ path: join(folder, "readme.png") });
  await page.context().close();
}

async function leaderboard(view, name) {
  await simple(view, "/leaderboard", `leaderboard-${name}`, { fullPage: true });
}

async function simple(view, path, name, options) {
  const page = await open(view);
  await page.goto(arena.url + path);
  await shoot(page, view, name, options);
  await page.context().close();
}

async function shoot(page, { width, colorScheme }, name, options = {}) {
  await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), ...options });
}
