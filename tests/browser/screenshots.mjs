// Pictures of every page in every state, for people to look at, and what a program sees of their faults:
//
//   node screenshots.mjs FOLDER [--pages PATTERN] [--screens 390,1440] [--views en-light,zh-dark] [--sheets] [--many] [--forced]
//
// A picture is named PAGE-LANGUAGE-SCREEN-THEME.png. `--pages` is a regular expression on the names in `gallery/pages.mjs` and
// `gallery/battle.mjs`, `--sheets` adds contact sheets of each screen, `--many` the arena of 300 models, whose fit takes an
// unoptimised program minutes, `--forced` the system's own high-contrast colours. LANGYA_BIN names the program.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { ARENAS } from "./gallery/arenas.mjs";
import { BATTLE } from "./gallery/battle.mjs";
import { PAGES } from "./gallery/pages.mjs";
import { drawSheet } from "./gallery/sheet.mjs";
import { LOCALES, SCREENS, THEMES, layoutFaults, wordFaults } from "./gallery/views.mjs";
import { openView, startGallery } from "./gallery/visits.mjs";
import { ask, openPage, phase, startBrowser } from "./support/browser.mjs";

const list = (text) => text.split(",");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pages: { type: "string", default: "" },
    screens: { type: "string", default: Object.keys(SCREENS).join(",") },
    views: { type: "string", default: Object.keys(LOCALES).flatMap((language) => THEMES.map((theme) => `${language}-${theme}`)).join(",") },
    sheets: { type: "boolean", default: false },
    many: { type: "boolean", default: false },
    forced: { type: "boolean", default: false },
  },
});
const [folder] = positionals;
if (!folder) {
  console.error("name a folder: node screenshots.mjs FOLDER");
  process.exit(2);
}
const wanted = new RegExp(values.pages, "i");
const screens = list(values.screens);
const views = list(values.views).map((view) => ({ language: view.split("-")[0], colorScheme: view.split("-")[1] }));
const taken = [];

await mkdir(folder, { recursive: true });
const browser = await startBrowser();
try {
  for (const name of Object.keys(ARENAS)) await fromArena(name);
  if (values.sheets) await sheets();
} finally {
  await browser.close();
}

/** All pictures that are taken from one arena. */
async function fromArena(name) {
  const pages = PAGES.filter((page) => page.arena === name && wanted.test(page.name));
  const battles = name === "full" && BATTLE.some((state) => wanted.test(`battle ${state.name}`));
  const shows = name === "full" && wanted.test("readme");
  if (!(pages.length || battles || shows) || (name === "300 models" && !values.many)) return;
  const gallery = await startGallery(browser, name);
  try {
    for (const view of views) {
      for (const entry of pages) await simple(gallery, entry, view);
      if (battles) await battle(gallery.url, view);
    }
    if (shows) await readme(gallery.url);
  } finally {
    await gallery.stop();
  }
}

/** A view as the browser takes it. */
function options(view) {
  return { viewport: SCREENS[screens[0]], forcedColors: values.forced ? "active" : "none", ...view };
}

async function simple(gallery, entry, view) {
  try {
    const page = await gallery.open(entry, options(view));
    await shoot(page, view, entry.name);
    await page.context().close();
  } catch (error) {
    console.log(`${entry.name}: ${error.message.split("\n")[0]}`);
  }
}

async function battle(url, view) {
  let page;
  for (const { name, fresh, agrees, step } of BATTLE) {
    try {
      if (fresh) {
        await page?.context().close();
        page = await openView(browser, { ...options(view), agrees });
        await page.goto(url);
      }
      await step(page);
      if (wanted.test(`battle ${name}`)) await shoot(page, view, `battle ${name}`);
    } catch (error) {
      console.log(`battle ${name}: ${error.message.split("\n")[0]}`);
    }
  }
  await page?.context().close();
}

/** Takes the page on each screen, without loading it again, and prints its faults. */
async function shoot(page, { language, colorScheme }, name) {
  for (const screen of screens) {
    await page.setViewportSize(SCREENS[screen]);
    const path = join(folder, `${name.replaceAll(/[^a-z0-9]+/gi, "-")}-${language}-${screen}-${colorScheme}.png`);
    await page.screenshot({ path, fullPage: true });
    taken.push({ title: `${name} · ${language} ${colorScheme}`, path, screen, language, colorScheme });
    const faults = [...(await page.evaluate(layoutFaults)), ...(screen === screens[0] ? await page.evaluate(wordFaults) : [])];
    for (const fault of faults) console.log(`${name} ${language} ${screen} ${colorScheme}: ${fault}`);
  }
}

/** As many pictures of a screen beside each other as can be read. */
async function sheets() {
  for (const screen of screens) {
    const [width, height, across] = { 320: [320, 1500, 5], 390: [390, 1560, 4], 700: [700, 1400, 2], "844x390": [760, 1400, 2], 1440: [1000, 1400, 2], 2560: [1280, 1400, 1] }[screen];
    const pictures = taken.filter((one) => one.screen === screen);
    for (let at = 0; at < pictures.length; at += across) {
      const path = join(folder, `sheet-${screen}-${String(at / across + 1).padStart(3, "0")}.png`);
      await drawSheet(browser, pictures.slice(at, at + across), path, { width, height });
    }
  }
}

// The picture of the README: a battle that waits for its vote. Copy it to deploy/screenshot.png; it stays under 150 kB.
async function readme(url) {
  const page = await openPage(browser, { viewport: { width: 1100, height: 760 }, colorScheme: "light", reducedMotion: "reduce" });
  await page.goto(url);
  await ask(page, "Compare bubble sort and quicksort in a table, then write quicksort in Python, in English.");
  await phase(page, "ready");
  await page.screenshot({ path: join(folder, "readme.png") });
  await page.context().close();
}
