// The pages of benchmarks: axe in both themes and languages, phones, the keyboard, and texts that are out to do harm.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessibleInEveryView } from "./support/axe.mjs";
import { benchmark } from "./support/benchmark.mjs";
import { PHONE, startSite } from "./support/site.mjs";

const PATHS = ["/benchmarks", "/benchmarks/mtbench101", "/benchmarks/mtbench101/items", "/benchmarks/mtbench101/items/1", "/benchmarks/mtbench101/compare"];

const site = startSite({ fill: benchmark });

/** Opens what is folded, so that it is looked at too. */
async function unfold(page) {
  await page.locator("main details").evaluateAll((all) => all.forEach((one) => (one.open = true)));
}

test("axe finds nothing on the pages of benchmarks, light or dark, wide or narrow, in either language", async () => {
  for (const language of ["en", "zh"]) {
    for (const path of PATHS) {
      const page = await site.arrive(`${path}?lang=${language}`);
      await unfold(page);
      await assertAccessibleInEveryView(page, `${path} ${language}`);
      page.assertQuiet();
      await page.context().close();
    }
  }
});

test("nothing but frames scrolls sideways on a phone, and buttons can be touched", async () => {
  for (const language of ["en", "zh"]) {
    for (const path of PATHS) {
      const page = await site.arrive(`${path}?lang=${language}`, PHONE);
      await unfold(page);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, path);
      const small = await page.locator("button:visible, select:visible, nav a:visible, .button:visible, summary:visible").evaluateAll((all) =>
        all.filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.outerHTML),
      );
      assert.deepEqual(small, [], path);
      await page.context().close();
    }
  }
});

test("a judge is chosen by keyboard, and a table's frame can be scrolled with it", async () => {
  const page = await site.arrive("/benchmarks", { viewport: { width: 390, height: 900 } });
  await page.getByRole("link", { name: "MT-Bench-101" }).press("Enter");
  await page.getByRole("cell", { name: "7.50" }).first().waitFor();
  await page.getByRole("combobox", { name: "Judge" }).focus();
  await page.keyboard.press("Home");
  await page.getByRole("button", { name: "Show" }).press("Enter");
  await page.waitForURL(/judge=owl/);
  const frame = page.getByRole("region", { name: "Abilities" });
  await frame.focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelector("[aria-labelledby=table-abilities]").scrollLeft > 0);
  assert.equal(await page.getByRole("img", { name: "Models by category" }).count(), 1);
  page.assertQuiet();
});

test("the arrow keys lead through the items that judges disagree on, and stay in fields", async () => {
  const page = await site.arrive("/benchmarks/mtbench101/items?disputed=1");
  await page.locator(".items a").first().press("Enter");
  await page.getByText("Disagreement 1 of").waitFor();
  await page.getByRole("combobox", { name: "Left" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("ArrowRight");
  await page.getByText("Disagreement 2 of").waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.getByText("Disagreement 1 of").waitFor();
  const share = page.getByRole("link", { name: "Link to this view" });
  assert.match(await share.getAttribute("href"), /left=.+&right=.+#pair$/);
  assert.ok((await page.locator(".side-by-side mark").count()) > 1, "what differs is marked");
  page.assertQuiet();
});

test("items by the difference of two models are reached, chosen and walked by keys alone", async () => {
  const page = await site.arrive("/benchmarks/mtbench101/items");
  await page.getByRole("link", { name: "Items on which two models differ most" }).press("Enter");
  await page.getByRole("heading", { name: "Two models, item by item" }).waitFor();
  await page.getByRole("combobox", { name: "Left" }).focus();
  await page.keyboard.press("End");
  await page.getByRole("combobox", { name: "Right" }).focus();
  await page.keyboard.press("Home");
  await page.getByRole("combobox", { name: "Right" }).press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(/sort=difference&left=.+&right=.+/);
  await page.locator(".items a").first().press("Enter");
  await page.getByText("Difference 1 of").waitFor();
  await page.keyboard.press("ArrowRight");
  await page.getByText("Difference 2 of").waitFor();
  page.assertQuiet();
});

test("what models and judges write stays text", async () => {
  const page = await site.arrive("/benchmarks/mtbench101/items/1");
  await unfold(page);
  assert.ok((await page.getByText("<script>alert(2)</script>").count()) > 8);
  assert.equal(await page.locator("main script, main img, main a[href^=javascript]").count(), 0);
  assert.ok((await page.locator(".answers table").count()) > 8, "a table is a table");
  await page.getByRole("link", { name: "MT-Bench-101" }).click();
  assert.equal(await page.locator("main script, main img").count(), 0);
  page.assertQuiet();
});
