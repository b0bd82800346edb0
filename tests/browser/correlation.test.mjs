// The page of correlations: two series chosen, all of them in a table that leads to each pair, mixtures, the papers' own studies;
// axe in both themes and languages, phones and the keyboard.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible, assertAccessibleInEveryView } from "./support/axe.mjs";
import { correlation } from "./support/correlation.mjs";
import { PHONE, startSite } from "./support/site.mjs";

const MIXTURE = "a=arena:rating&b=bench:mtbench101&target=published:Elsewhere:overall";

const site = startSite({ fill: correlation, ready: computed });

/** Waits until the arena has read its votes: the page is asked again until it offers them. */
async function computed() {
  const page = await site.open();
  await page.goto(`${site.url}/correlation?lang=en`);
  for (const until = Date.now() + 30_000; !(await page.locator('option[value="arena:rating"]').count()); await page.reload()) {
    assert.ok(Date.now() < until, "the correlations were never computed");
  }
  await page.context().close();
}

async function arrive(query, options) {
  const page = await site.open(options);
  await page.goto(`${site.url}/correlation?${query}`);
  return page;
}

/** Opens what is folded, so that it is looked at too. */
async function unfold(page) {
  await page.locator("main details").evaluateAll((all) => all.forEach((one) => (one.open = true)));
}

test("two series are chosen by keyboard and shown as a scatter with their coefficients", async () => {
  const page = await arrive("lang=en");
  const form = page.getByRole("form", { name: "Choose two series" });
  await form.getByRole("combobox", { name: "X axis" }).selectOption("published:Elsewhere:overall");
  await form.getByRole("combobox", { name: "Y axis" }).selectOption("arena:rating");
  await form.getByRole("combobox", { name: "Correlation" }).selectOption("kendall");
  await form.getByRole("button", { name: "Show" }).press("Enter");
  await page.waitForURL(/x=published%3AElsewhere%3Aoverall&y=arena%3Arating&coefficient=kendall#pair$/);
  await page.getByRole("img", { name: "Elsewhere: overall × Arena rating" }).waitFor();
  const coefficients = page.getByRole("table", { name: "Correlations of the two series" });
  const row = await coefficients.getByRole("row", { name: /^Kendall/ }).innerText();
  assert.match(row, /0\.\d{4}\s+[<\d. ]+\(exact\)\s+−?0\.\d{4} … 0\.\d{4}/);
  assert.equal(await coefficients.locator(".chosen").count(), 1);
  const meaning = await page.getByRole("link", { name: "What these numbers mean" }).getAttribute("href");
  assert.match(await (await page.request.get(site.url + meaning)).text(), /id="coefficients"/);
  assert.match(await page.getByRole("img", { name: /This correlation over time: Kendall/ }).innerHTML(), /40 moments/);
  await page.locator("#pair summary").first().press("Enter");
  assert.equal(await page.getByRole("region", { name: "Compared values" }).getByRole("row").count(), 11);
  assert.equal(await page.locator("main script, main img").count(), 0, "a name stays text");
  page.assertQuiet();
});

test("the moment of the numbers is said by the reader's clock", async () => {
  const page = await arrive("lang=en", { timezoneId: "Asia/Shanghai" });
  await page.locator("main time", { hasText: "GMT+8" }).first().waitFor();
  page.assertQuiet();
});

test("parts of benchmarks are named in words, on English pages with the Chinese name behind", async () => {
  const capability = "published:superclue_open:上下文对话/turn:1";
  for (const [language, named, task] of [
    ["en", "SuperCLUE OPEN, wins and ties against ChatGPT: Contextual Dialogue (上下文对话), turn 1, %", "MT-Bench-101: TS (Topic shift), turn 2"],
    ["zh", "SuperCLUE OPEN，对 ChatGPT 的胜和率：上下文对话，第 1 轮（%）", "MT-Bench-101：TS（话题转换），第 2 轮"],
  ]) {
    const page = await arrive(`lang=${language}`);
    assert.equal(await page.locator(`option[value="${capability}"]`).first().textContent(), named);
    assert.equal(await page.locator('option[value="bench:mtbench101:TS/turn:2"]').first().textContent(), task);
    const parts = page.locator('option:is([value^="published:"], [value^="bench:"])');
    const ids = (all) => all.map((one) => one.textContent).filter((text) => /(turn|dimension|language):\S|\w_\w/.test(text));
    assert.deepEqual(await parts.evaluateAll(ids), [], language);
    await page.goto(`${site.url}/models/crane?lang=${language}`);
    await page.locator("#scores").waitFor();
    assert.equal(await page.getByRole("rowheader", { name: task, exact: true }).count(), 1, language);
    page.assertQuiet();
  }
});

test("a cell of the table leads to its pair", async () => {
  const page = await arrive("lang=en&coefficient=spearman&group=own");
  const table = page.locator("table.correlations");
  const label = await table.getByRole("row", { name: /Elsewhere/ }).getByRole("rowheader").innerText();
  assert.match(label, /Elsewhere: overall$/);
  const cell = table.getByRole("row", { name: /Elsewhere/ }).getByRole("link").first();
  const text = (await cell.innerText()).replace(/[()]/g, "");
  await cell.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/x=arena:rating&y=published:Elsewhere:overall&coefficient=spearman&group=own#pair$/);
  const chosen = page.getByRole("table", { name: "Correlations of the two series" }).locator(".chosen");
  assert.match(await chosen.innerText(), new RegExp(`Spearman's ρ\\s+${text}`));
  await page.getByRole("form", { name: "Choose what the table shows" }).getByRole("combobox", { name: "Series" }).selectOption("published");
  await page.getByRole("form", { name: "Choose what the table shows" }).getByRole("button").click();
  await page.waitForURL(/group=published/);
  assert.match(page.url(), /x=arena%3Arating/, "the pair stays chosen");
  await page.getByText(/^The first 40 of \d+ series/).waitFor();
  page.assertQuiet();
});

test("a mixture is found, and what it flatters is said", async () => {
  const page = await arrive(`lang=en&${MIXTURE}`);
  const form = page.getByRole("form", { name: "Choose what is mixed" });
  assert.equal(await form.getByRole("combobox", { name: "Mix 1" }).inputValue(), "arena:rating");
  await form.getByRole("combobox", { name: "Mix 2" }).selectOption("arena:elo");
  await form.getByRole("combobox", { name: "Steps of the weights" }).selectOption("0.01");
  await form.getByRole("button", { name: "Find the mixture" }).press("Enter");
  await page.waitForURL(/b=arena%3Aelo.*step=0.01#mixture$/);
  const weights = await page.getByRole("region", { name: "Weights" }).getByRole("cell").allInnerTexts();
  assert.equal(weights.reduce((sum, weight) => sum + Number(weight), 0), 1, String(weights));
  await page.getByText("The first row is too optimistic").waitFor();
  await page.getByRole("row", { name: /Leave-one-out/ }).waitFor();
  page.assertQuiet();
});

test("the papers' own studies have a page of their own, with the contradictions", async () => {
  const page = await arrive("lang=en");
  assert.ok(await page.getByRole("img", { name: /^Arena rating × / }).isVisible(), "the arena's own rating comes first");
  await page.getByRole("link", { name: "Open the papers' own studies" }).click();
  await page.waitForURL(/\/correlation\/papers$/);
  await assertAccessible(page, "/correlation/papers");
  const papers = page.getByRole("region", { name: "The papers' own studies" });
  assert.match(await papers.getByRole("row", { name: /^S1 / }).innerText(), /0\.5150\s+0\.51498\s+reproduced/);
  assert.match(await papers.getByRole("row", { name: /^S24 / }).innerText(), /80\.15\s+65\.22 ≠\s+contradiction\s+Table 2 prints a total above/);
  page.assertQuiet();
});

test("axe finds nothing, light or dark, wide or narrow, in either language", async () => {
  for (const [width, language] of [[1440, "en"], [390, "zh"]]) {
    const page = await arrive(`${MIXTURE}&group=all&lang=${language}`, { viewport: { width, height: 900 } });
    await unfold(page);
    await assertAccessibleInEveryView(page, `/correlation ${language}`, [width]);
    page.assertQuiet();
    await page.context().close();
  }
});
