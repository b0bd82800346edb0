// A leaderboard of many models: low rows, a heading that stays, search, sorting, chips and tabs, also without scripts; and the page of a
// model.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessibleInEveryView } from "./support/axe.mjs";
import { MODELS, called, importManyVotes } from "./support/many_models.mjs";
import { startSite } from "./support/site.mjs";

/** The two that are configured have makers and licences. */
const name = (model) => ["crane", "heron"][model] ?? called(model);
const slices = (vote) => ({ language: ["en", "zh"][vote % 2], category: ["maths", "writing", "coding"][vote % 3] });

const site = startSite({
  fill: (folder, langya) => importManyVotes(folder, langya, name, slices),
  async ready() {
    // Fits of many models take long in an unoptimised program; what was fitted once is there for every test.
    while (!(await isComputed("/models/heron")));
  },
});

/** Whether a page is there with everything on it. */
async function isComputed(path) {
  const answer = await fetch(site.url + path).catch(() => null);
  return answer?.status === 200 && !(await answer.text()).includes("being computed");
}

test("on the narrowest phone with text of twice the size the rows stay on the screen", async () => {
  const page = await site.arrive("/leaderboard", { viewport: { width: 320, height: 720 } });
  await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
  page.assertQuiet();
});

test("the time of the votes is said by the reader's clock, on the live leaderboard and on a part of it", async () => {
  const page = await site.arrive("/leaderboard", { timezoneId: "Asia/Shanghai" });
  for (const path of ["/leaderboard", "/leaderboard?q=crane"]) {
    await page.goto(site.url + path);
    await page.locator('[data-part="time"]', { hasText: "GMT+8" }).waitFor();
  }
  page.assertQuiet();
});

test("three hundred models take less than 11,000 pixels, and their heading stays in view", async (t) => {
  const page = await site.arrive("/leaderboard", { viewport: { width: 1440, height: 900 } });
  const { rows, all } = await page.evaluate(() => ({
    rows: document.querySelector("tbody").getBoundingClientRect().height,
    all: document.documentElement.scrollHeight,
  }));
  const height = Math.round(all - rows + (rows * 300) / MODELS);
  t.diagnostic(`${MODELS} models: ${all} pixels, 300 of them ${height}`);
  assert.ok(height < 11_000, `${height} pixels`);
  await page.locator("tbody tr").last().scrollIntoViewIfNeeded();
  const [masthead, heading] = await page.evaluate(() => [
    document.querySelector(".masthead").getBoundingClientRect().bottom,
    document.querySelector("thead th").getBoundingClientRect().top,
  ]);
  assert.ok(Math.abs(masthead - heading) <= 1, `${heading} below ${masthead}`);
  page.assertQuiet();
});

test("nothing that is said of a model leaves its cell, however long its name is", async () => {
  const page = await site.arrive("/leaderboard");
  for (const width of [800, 1280, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    const cells = await page.locator("tbody .model").evaluateAll((all) => all.map((cell) => [cell.clientWidth, cell.scrollWidth]));
    assert.ok(cells.every(([room, content]) => content <= room && room > 120), `${width}: ${JSON.stringify(cells)}`);
  }
});

test("models are searched, narrowed and sorted by keyboard, without scripts too", async () => {
  for (const javaScriptEnabled of [true, false]) {
    const page = await site.open({ javaScriptEnabled });
    await page.goto(`${site.url}/leaderboard`);
    const rows = page.locator("tbody tr");
    await page.getByRole("searchbox").fill("MODEL-2");
    await page.getByRole("searchbox").press("Enter");
    await page.waitForURL(/\?q=MODEL-2/);
    const found = await rows.count();
    assert.ok(found > 1 && found < MODELS, `${found} rows`);
    await page.getByRole("columnheader", { name: "Model" }).getByRole("link").press("Enter");
    await page.waitForURL(/sort=name/);
    const names = await rows.getByRole("rowheader").locator("a").allTextContents();
    assert.deepEqual(names, names.toSorted());
    assert.equal(await page.locator('[aria-sort="ascending"]').count(), 1);
    await page.getByRole("link", { name: "Show all models" }).press("Enter");
    await page.getByRole("link", { name: /^MIT/ }).press("Enter");
    await page.waitForURL(/license=MIT/);
    assert.deepEqual(await rows.getByRole("rowheader").locator("a").allTextContents(), ["Crane"]);
    await page.locator(".chip[aria-current]").press("Enter");
    await page.waitForURL((url) => !url.search.includes("license"));
    assert.equal(await rows.count(), MODELS);
    page.assertQuiet();
    await page.context().close();
  }
});

test("a tab leads to a slice of the votes, and a name to the page of its model", async () => {
  const page = await site.arrive("/leaderboard");
  const tabs = page.getByRole("navigation", { name: "Slices of the votes" });
  assert.equal(await tabs.locator("[aria-current]").textContent(), "All");
  assert.equal(await tabs.getByRole("link", { name: /^Chinese/ }).getAttribute("href"), "/leaderboard?language=zh#board");
  await page.getByRole("link", { name: "Heron", exact: true }).click();
  await page.waitForURL(/\/models\/heron$/);
  const text = await page.locator("main").innerText();
  for (const part of ["Lakeside Lab", "Apache-2.0", "Opponents", "Ratings by slice"]) assert.ok(text.includes(part), `${part}: ${text}`);
  await page.getByRole("link", { name: "How to read it" }).click();
  await page.waitForURL(/\/leaderboard#reading$/);
  assert.ok(await page.getByText("Elo is a second score").isVisible());
  page.assertQuiet();
});

test("axe finds nothing and nothing scrolls sideways at any width, in either theme and language", async () => {
  const page = await site.open();
  for (const path of ["/leaderboard?q=model-1&sort=-battles", "/models/crane", "/about", "/leaderboard?lang=zh", "/about?lang=zh"]) {
    await page.goto(site.url + path);
    await assertAccessibleInEveryView(page, path, [320, 768, 1440, 2560]);
  }
  page.assertQuiet();
});
