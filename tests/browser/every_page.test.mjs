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
      for (const entry of PAGES.filter((page) => page.arena === arena && !LEFT_OUT.test(page.name))) {
        for (const language of Object.keys(LOCALES)) faults.push(...(await faultsOf(gallery, entry, language)));
      }
    } finally {
      await gallery.stop();
    }
    assert.deepEqual(faults, []);
  });
}

/** Themes for axe, on each of two widths. The dark theme is looked at for its colours only, which are the same in every language. */
const THEMES_OF = { en: THEMES, zh: ["light"] };
const ACCESSIBLE = (language) => ["1440", "390"].flatMap((screen) => THEMES_OF[language].map((theme) => [screen, theme]));

/** What is wrong with a page in a language, and its layout on every screen. */
async function faultsOf(gallery, entry, language) {
  const page = await gallery.open(entry, { language, colorScheme: "light", viewport: SCREENS[1440] });
  const where = `${entry.name} ${language}`;
  const faults = (await page.evaluate(wordFaults)).map((fault) => `${where}: ${fault}`);
  for (const [screen, size] of Object.entries(SCREENS)) {
    await page.setViewportSize(size);
    faults.push(...(await page.evaluate(layoutFaults)).map((fault) => `${where} ${screen}: ${fault}`));
  }
  for (const [screen, colorScheme] of ACCESSIBLE(language)) {
    await page.setViewportSize(SCREENS[screen]);
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await assertAccessible(page, `${where} ${screen} ${colorScheme}`, colorScheme).catch((error) => faults.push(...error.actual));
  }
  await page.context().close();
  return faults;
}
