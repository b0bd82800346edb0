// The charts of a leaderboard of many models: light by default, and as many models as a visitor asks for.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible } from "./support/axe.mjs";
import { MODELS, importManyVotes } from "./support/many_models.mjs";
import { PHONE, startSite } from "./support/site.mjs";

const site = startSite({ fill: (folder, langya) => importManyVotes(folder, langya) });

/** Arrives once the page is there: the first fit may take longer than a request waits for it. */
async function arrive(path, options) {
  while ((await fetch(site.url + path)).status === 503);
  return site.arrive(path, options);
}

test("charts of many models show the best 25 in less than 300 kB and 10,000 elements", async (t) => {
  const page = await arrive("/leaderboard/charts");
  const began = performance.now();
  await page.reload();
  t.diagnostic(`loaded again in ${Math.round(performance.now() - began)} ms`);
  const bytes = (await (await fetch(`${site.url}/leaderboard/charts`)).text()).length;
  const elements = await page.locator("*").count();
  t.diagnostic(`${bytes} bytes, ${elements} elements`);
  assert.ok(bytes < 300_000, `${bytes} bytes`);
  assert.ok(elements < 10_000, `${elements} elements`);
  const wins = page.getByRole("img", { name: "Wins against each other" });
  assert.match(await wins.locator("desc").textContent(), /^25 models/);
  page.assertQuiet();
});

test("a visitor chooses how many models are drawn, and keeps it for the model that is compared", async () => {
  const page = await arrive("/leaderboard/charts?ties=drop");
  const counts = page.getByRole("navigation", { name: "Models in the charts" });
  assert.deepEqual(await counts.getByRole("link").allTextContents(), [...["10", "25", "50", "100"].filter((count) => count < MODELS), `All ${MODELS}`]);
  assert.equal(await counts.locator("[aria-current]").textContent(), "25");
  await counts.getByRole("link", { name: "10", exact: true }).click();
  await page.waitForURL(/charts\?ties=drop&models=10$/);
  const options = page.getByRole("combobox", { name: "Model" }).locator("option");
  assert.equal(await options.count(), 10);
  const fourth = await options.nth(3).textContent();
  await page.getByRole("combobox", { name: "Model" }).selectOption({ index: 3 });
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL(/ties=drop&models=10&model=model-[^&]+#against$/);
  const table = page.getByRole("table", { name: fourth });
  assert.equal(await table.getByRole("row").count(), 10, "a head and nine opponents");
  page.assertQuiet();
});

test("on a phone rows say what the maps would show, and nothing scrolls sideways", async () => {
  const page = await arrive("/leaderboard/charts", PHONE);
  // A chart that goes on behind the edge has a shade there.
  const shades = await page.locator(".chart-frame:visible").evaluateAll((all) => {
    const wide = all.filter((one) => one.scrollWidth > one.clientWidth);
    return wide.map((one) => getComputedStyle(one).backgroundImage.includes("gradient"));
  });
  assert.ok(shades.length > 0 && shades.every(Boolean), String(shades));
  assert.equal(await page.locator(".has-table:visible").count(), 0);
  const rows = page.locator(".meetings tbody tr");
  assert.equal(await rows.count(), 24, "25 models and their opponents");
  assert.ok(await rows.first().isVisible());
  // Who never met has dashes; the ratings predict the outcome all the same.
  const unmet = await rows.filter({ hasText: "–" }).first().locator("td").allTextContents();
  assert.deepEqual(unmet.slice(0, 2), ["–", "–"]);
  assert.match(unmet[2], /^\d+ %$/);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  await assertAccessible(page, "charts on a phone");
  page.assertQuiet();
});
