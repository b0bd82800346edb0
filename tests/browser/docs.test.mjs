// The documentation: axe on its pages, the search, and nothing that scrolls sideways.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessibleInEveryView } from "./support/axe.mjs";
import { PHONE, startSite } from "./support/site.mjs";

const site = startSite();

test("axe finds nothing in the documentation, light or dark, wide or narrow", async () => {
  for (const path of ["/docs", "/docs/votes", "/docs/votes?lang=zh", "/docs/correlations", "/docs/api", "/docs/settings?lang=zh", "/docs?q=votes"]) {
    const page = await site.arrive(path);
    await assertAccessibleInEveryView(page, path);
    await page.context().close();
  }
});

test("on a phone, links that stand alone are large enough and charts scroll inside their frames", async () => {
  const page = await site.arrive("/docs?q=votes", PHONE);
  const small = () =>
    page.locator("button:visible, nav a:visible, .docs-hits a, .anchor").evaluateAll((all) =>
      all.filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.outerHTML),
    );
  assert.ok((await page.locator(".docs-hits a").count()) > 3);
  assert.deepEqual(await small(), []);
  await page.goto(`${site.url}/docs/votes`);
  assert.ok((await page.locator("h2 .anchor").count()) > 3);
  assert.deepEqual(await small(), []);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  assert.equal(await page.locator("figure svg").count(), 2);
  page.assertQuiet();
});

test("on a small phone, settings and commands wrap and do not scroll sideways", async () => {
  const page = await site.open({ ...PHONE, viewport: { width: 320, height: 568 } });
  for (const path of ["/docs/settings", "/docs/settings?lang=zh", "/docs/commands", "/docs/start"]) {
    await page.goto(site.url + path);
    const wide = await page.locator(".code pre").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
    assert.deepEqual(wide, [], path);
    assert.ok((await page.locator(".code pre").count()) > 2, path);
  }
  page.assertQuiet();
});

test("a reader finds the documentation in the menu and a section by its words", async () => {
  const page = await site.arrive("/leaderboard");
  await page.getByText("More", { exact: true }).click();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Documentation" }).click();
  await page.getByRole("heading", { name: "Start here" }).waitFor();
  await page.getByRole("searchbox").fill("webhook backup restore");
  await page.getByRole("searchbox").press("Enter");
  await page.getByText("No section has all of these words").waitFor();
  await page.getByRole("searchbox").fill("restore");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("link", { name: "Operating › Backups" }).click();
  await page.getByRole("heading", { name: "Backups" }).waitFor();
  assert.match(page.url(), /\/docs\/operating#backups$/);
  page.assertQuiet();
});
