// A visitor's own battles: found again by keyboard, shared by a link, and their texts deleted.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NAMES } from "./support/arena.mjs";
import { assertAccessibleInEveryView } from "./support/axe.mjs";
import { ask, phase } from "./support/browser.mjs";
import { playBattle } from "./support/play.mjs";
import { startSite } from "./support/site.mjs";

const WIDTHS = [320, 768, 1440, 2560];

const site = startSite();

test("a battle is found again by keyboard, and its page shows it after a reload too", async () => {
  const page = await site.arrive("/about");
  await playBattle(page, "a hostile question about cranes", "b");
  const open = await playBattle(page, "another question without a vote");
  await page.goto(`${site.url}/history`);
  const entries = page.locator(".past li");
  assert.equal(await entries.count(), 2);
  const text = await entries.first().textContent();
  assert.ok(text.includes("the names stay hidden") && NAMES.every((name) => !text.includes(name)), text);
  await page.getByRole("searchbox").fill("CRANES");
  await page.keyboard.press("Enter");
  await page.waitForURL(/q=CRANES/);
  assert.equal(await entries.count(), 1);
  await entries.getByRole("link").press("Enter");
  await page.waitForURL(/\/battle\//);
  for (const visit of ["first", "again"]) {
    assert.ok(await page.getByText("You found B better.").isVisible(), visit);
    const shown = await page.locator("main").textContent();
    assert.ok(NAMES.every((name) => shown.includes(name)), shown);
    await page.reload();
  }
  await page.goto(`${site.url}/battle/${open}`);
  const unvoted = await page.content();
  assert.ok(NAMES.every((name) => !unvoted.includes(name)), "no name before the vote");
  await page.getByRole("link", { name: "Continue this battle" }).click();
  await page.locator('main[data-phase="ready"]').waitFor();
  assert.equal(await page.locator(".turn .prompt-text").textContent(), "another question without a vote");
  assert.equal(await page.evaluate(() => location.hash), "", "a reload does not ask for it again");
  page.assertQuiet();
});

test("a link shows the battle to others until it is withdrawn", async () => {
  const page = await site.arrive("/about");
  const battle = await playBattle(page, "which short answer?", "tie");
  await page.goto(`${site.url}/battle/${battle}`);
  await page.getByRole("button", { name: "Make a link" }).click();
  const link = await page.locator(".share-link a").getAttribute("href");
  const other = await site.open({ locale: "zh-CN" });
  await other.goto(link);
  assert.ok(await other.getByText("提问者在揭晓名称之前判为平局。").isVisible());
  assert.equal(await other.locator("form:not(.removal)").count(), 0);
  assert.equal(await other.locator("form.removal").count(), 1, "anyone with the link can ask to have the texts deleted");
  assert.equal((await other.context().cookies()).length, 0);
  assert.equal((await other.goto(`${site.url}/battle/${battle}`)).status(), 404);
  await page.getByRole("button", { name: "Withdraw the link" }).click();
  await page.getByRole("button", { name: "Make a link" }).waitFor();
  assert.equal((await other.goto(link)).status(), 404);
  page.assertQuiet();
});

test("a visitor says in one tap what a question was about", async () => {
  const page = await site.arrive("/about");
  const battle = await playBattle(page, "how much is three and four?", "a");
  await page.goto(`${site.url}/battle/${battle}`);
  const about = page.locator("#label");
  await about.getByText("not sorted yet").first().waitFor();
  await about.getByRole("button", { name: "Calculation" }).click();
  await about.getByText("as you said").waitFor();
  assert.equal(await about.getByRole("button", { name: "Calculation" }).getAttribute("aria-pressed"), "true");
  assert.equal(await about.locator('[aria-pressed="true"]').count(), 1, "the intent stays open");
  page.assertQuiet();
});

test("times are said by the reader's clock, and in UTC without scripts", async () => {
  const page = await site.arrive("/about", { timezoneId: "Asia/Shanghai" });
  const battle = await playBattle(page, "what time is it?", "a");
  await playBattle(page, "Are you Gemini?", "a"); // A vote that is excluded.
  const plain = await site.open({ timezoneId: "Asia/Shanghai", javaScriptEnabled: false });
  await plain.context().addCookies(await page.context().cookies());
  for (const path of ["/history", `/battle/${battle}`, "/history?lang=zh", "/exclusions?lang=en"]) {
    await plain.goto(site.url + path);
    const sent = await plain.locator("main time[datetime$=Z]").first().textContent();
    assert.match(sent, /^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/, path);
    await page.goto(site.url + path);
    await page.locator("main time", { hasText: "GMT+8" }).first().waitFor();
  }
  page.assertQuiet();
});

test("in Chinese a time has its zone behind it, and tables and sentences of the log, the register and the admin say times likewise", async () => {
  const page = await site.open({ timezoneId: "Asia/Shanghai" });
  const body = (part, text) => `<html lang="zh"><main class="${part}">${text}</main><script type="module" src="/static/js/local_times.js"></script>`;
  for (const [part, html] of [
    ["log", '<p class="finding">共 3 个条目，签名于 2026-11-29 17:06 UTC。</p>'],
    ["register", "<table><tr><td>2026-11-29 17:06 UTC</td></tr></table>"],
    ["admin", "<dl><dt>时间</dt><dd>2026-11-29 17:06 UTC</dd></dl>"],
    ["past", '<p><time datetime="2026-11-29T17:06:00Z">2026-11-29 17:06 UTC</time></p>'],
  ]) {
    await page.route(`**/page-of/${part}`, (route) => route.fulfill({ contentType: "text/html; charset=utf-8", body: body(part, html) }));
    await page.goto(`${site.url}/page-of/${part}`);
    await page.getByText("2026年11月30日 01:06（GMT+8）").waitFor();
  }
  for (const path of ["/log", "/models"]) {
    await page.goto(site.url + path);
    assert.equal(await page.locator('script[src*="local_times"]').count(), 1, path);
  }
  page.assertQuiet();
});

test("texts are exported, then deleted, and the browser begins again", async () => {
  const page = await site.arrive("/about");
  await playBattle(page, "an unforgettable short question", "a");
  await page.goto(`${site.url}/history`);
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export my data" }).click();
  assert.equal((await download).suggestedFilename(), "langya-my-data.json");
  await page.getByText("Delete my texts").click();
  await page.getByRole("button", { name: "Delete all my questions and the replies" }).click();
  await page.getByRole("status").waitFor();
  assert.equal((await page.context().cookies()).filter(({ name }) => name.includes("session")).length, 0);
  assert.ok(await page.getByText("There are no battles in this session yet.").isVisible());
  page.assertQuiet();
});

test("a tab that is open while the texts are deleted goes on as another visitor, who finds what was asked there since", async () => {
  const page = await site.arrive();
  await ask(page, "a short question");
  await phase(page, "ready");
  const other = await page.context().newPage();
  await other.goto(`${site.url}/history`);
  await other.getByText("Delete my texts").click();
  await other.getByRole("button", { name: "Delete all my questions and the replies" }).click();
  await other.getByRole("status").waitFor();
  await page.getByRole("alert").filter({ hasText: "The earlier battle no longer exists." }).waitFor();
  await phase(page, "empty");
  await ask(page, "another short question");
  await phase(page, "ready");
  await other.goto(`${site.url}/history`);
  const entries = await other.locator(".past li").allTextContents();
  assert.equal(entries.length, 1);
  assert.ok(entries[0].includes("another short question"), entries[0]);
});

test("axe finds nothing and nothing scrolls sideways at any width, in either theme and language", async () => {
  const visitor = await site.arrive("/about");
  const battle = await playBattle(visitor, "compare two ways, at length", "a");
  await playBattle(visitor, `${"averylongwordwithoutanyspace".repeat(12)}?`, "both_bad");
  await visitor.goto(`${site.url}/battle/${battle}`);
  await visitor.getByRole("button", { name: "Make a link" }).click();
  const shared = new URL(await visitor.locator(".share-link a").getAttribute("href")).pathname;
  const storageState = await visitor.context().storageState();
  const page = await site.open({ storageState });
  for (const path of ["/history", `/battle/${battle}`, shared, "/history?q=nothing", "/history?lang=zh"]) {
    await page.goto(site.url + path);
    await assertAccessibleInEveryView(page, path, WIDTHS);
  }
  page.assertQuiet();
});
