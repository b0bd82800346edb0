// What holds for every page of the arena, in both languages and themes and on every screen: nothing is wider than the screen, cut off or printed
// over something else, targets can be hit, no name of the code is shown, and axe finds nothing.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PAGES } from "./gallery/pages.mjs";
import { LOCALES, SCREENS, THEMES, layoutFaults, wordFaults } from "./gallery/views.mjs";
import { startGallery } from "./gallery/visits.mjs";
import { assertAccessible } from "./support/axe.mjs";
import { startBrowser } from "./support/browser.mjs";

/** Arenas whose first fit takes an unoptimised program long are in the pictures only. */
const TESTED = ["empty", "few", "full", "closed"];
/** Pages of the documentation are made alike: the longest, and one with wide tables, stand for all. */
const LEFT_OUT = /^docs (?!settings|api)/;

let browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

for (const arena of TESTED) {
  test(`every page of an arena that is ${arena}: layout, words and accessibility`, async () => {
    const gallery = await startGallery(browser, arena);
    const faults = [];
    try {
      const entries = PAGES.filter((page) => page.arena === arena && !LEFT_OUT.test(page.name));
      for (const language of Object.keys(LOCALES)) {
        const { visitNext, close } = await gallery.openEach({ language, colorScheme: "light", viewport: SCREENS[1440] });
        for (const entry of entries) {
          const page = await visitNext(entry);
          faults.push(...(await faultsOf(page, `${entry.name} ${language}`, language)));
          if (entry.stranger) await page.context().close();
        }
        await close();
      }
    } finally {
      await gallery.stop();
    }
    assert.deepEqual(faults, []);
  });
}

/** Themes for axe. The dark one is looked at for its colours only, which are the same in every language. */
const THEMES_OF = { en: THEMES, zh: ["light"] };
/** Screens that axe looks at. Chinese pages have the markup of the English ones, so one screen shows what their texts change. */
const SCREENS_OF_AXE = { en: ["390", "1440"], zh: ["390"] };

/** What is wrong with a page: its words, its layout on every screen, and what axe finds. */
async function faultsOf(page, where, language) {
  const faults = (await page.evaluate(wordFaults)).map((fault) => `${where}: ${fault}`);
  for (const [screen, size] of Object.entries(SCREENS)) {
    await page.setViewportSize(size);
    faults.push(...(await page.evaluate(layoutFaults)).map((fault) => `${where} ${screen}: ${fault}`));
    if (!SCREENS_OF_AXE[language].includes(screen)) continue;
    for (const colorScheme of THEMES_OF[language]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await assertAccessible(page, `${where} ${screen} ${colorScheme}`, colorScheme).catch((error) => faults.push(...error.actual));
    }
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  }
  return faults;
}
