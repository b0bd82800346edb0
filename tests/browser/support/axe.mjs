// Accessibility by axe: WCAG 2.2 AA and best practice.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const EVERY_RULE = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
/** What another theme can break: it changes colours and nothing else. */
const RULES_OF_COLOUR = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

/** Fails with every element that axe objects to. `where` names the page in the message; the dark theme is looked at for its colours. */
export async function assertAccessible(page, where, colorScheme = "light") {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const options = { runOnly: colorScheme === "dark" ? RULES_OF_COLOUR : EVERY_RULE, resultTypes: ["violations"] };
  const { violations } = await page.evaluate((values) => window.axe.run(values), options);
  const found = violations.map(({ id, nodes }) => `${where}: ${id}: ${nodes.map((node) => node.html).join(" | ")}`);
  assert.deepEqual(found, []);
}

/** The same at each width, in the light and the dark theme, without loading the page again. Nothing scrolls sideways either. */
export async function assertAccessibleInEveryView(page, where, widths = [1440, 390]) {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await assertAccessible(page, `${where} ${colorScheme} ${width}`, colorScheme);
    }
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${where} scrolls sideways at ${width}`);
  }
}
