// The other pages: live leaderboard, languages, theme, and axe on all of them.

import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { assertAccessibleInEveryView } from "./support/axe.mjs";
import { ask, phase, vote } from "./support/browser.mjs";
import { PHONE, startSite } from "./support/site.mjs";

const LINKS = '\n[site]\nimprint = "https://langya.example/imprint"\n';

const site = startSite({ fill: (folder) => appendFile(join(folder, "langya.toml"), LINKS) });

async function playBattle(page) {
  await ask(page, "compare two ways");
  await phase(page, "ready");
  await vote(page, "A is better");
}

test("a second window's leaderboard moves without reloading", async () => {
  const board = await site.arrive("/leaderboard");
  await board.evaluate(() => (window.stillTheSame = true));
  const battle = await site.arrive("/");
  const votes = board.locator('[data-part="votes"][data-live]');
  await votes.waitFor({ state: "attached" });
  const before = await votes.textContent();
  await playBattle(battle);
  await board.locator(`[data-part="votes"]:not(:text-is("${before}"))`).waitFor();
  const noun = (await votes.textContent()) === "1" ? "rated vote" : "rated votes";
  assert.equal(await board.locator('[data-part="votes-noun"]').textContent(), noun);
  assert.ok((await board.locator("tbody tr").count()) >= 2);
  assert.ok(await board.evaluate(() => window.stillTheSame));
  assert.match(await board.getByRole("status").textContent(), /Rated votes: \d+/);
  board.assertQuiet();
});

test("a screen reader hears of the changes of a busy leaderboard once a minute, and of the latest one always", async () => {
  const page = await site.open();
  await page.clock.install();
  let socket;
  await page.routeWebSocket(/\/ws\/leaderboard/, (one) => {
    socket = one;
  });
  await page.goto(`${site.url}/leaderboard`);
  const heard = async () => (await page.getByRole("status").textContent()).match(/\d+/)?.[0];
  const show = async (votes) => {
    const html = `<tr data-model="crane" data-state="${votes}"></tr>`;
    socket.send(JSON.stringify({ type: "leaderboard", as_of: null, votes, notes: "", html }));
    await page.locator(`tr[data-state="${votes}"]`).waitFor({ state: "attached" });
    await page.evaluate(() => new Promise(requestAnimationFrame));
    return heard();
  };
  assert.equal(await show(1), undefined, "nothing has changed yet");
  assert.equal(await show(2), "2");
  assert.equal(await show(3), "2");
  await page.clock.runFor(61_000);
  assert.equal(await heard(), "3");
  assert.equal(await show(4), "3");
  page.assertQuiet();
});

test("the result of a vote links to its receipt in the public log", async () => {
  const page = await site.arrive("/");
  await playBattle(page);
  await page.getByRole("link", { name: "Receipt in the public vote log" }).click();
  await page.getByRole("heading", { name: "The public vote log" }).waitFor();
  assert.equal(new URL(page.url()).hash, "#receipt");
  assert.match(await page.getByRole("status").textContent(), /will be in the log by|has index \d+ in the log/);
  // The log follows the leaderboard; until then each look says when.
  while (!(await page.getByText("c2sp.org/tlog-proof@v1").isVisible())) await page.reload();
  assert.match(await page.getByText("c2sp.org/tlog-proof@v1").textContent(), /^index \d+$/m);
  page.assertQuiet();
});

test("on a phone the public log shows what it says of a vote in view", async () => {
  const page = await site.arrive("/log", PHONE);
  await page.getByLabel("Id of the vote").fill("nobody");
  await page.getByRole("button", { name: "Look it up" }).tap();
  await page.waitForURL(/\/log\?vote=nobody#receipt$/);
  const { y, height } = await page.getByText("There is no vote with this id.").boundingBox();
  assert.ok(y >= 0 && y + height <= PHONE.viewport.height, `${y} + ${height}`);
});

test("axe finds nothing at any step of a battle, light or dark, wide or narrow", async () => {
  const page = await site.arrive("/");
  await ask(page, "answer slowly");
  await assertAccessibleInEveryView(page, "writing");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "New battle" }).click();
  await ask(page, "compare two ways");
  await phase(page, "ready");
  await assertAccessibleInEveryView(page, "ready");
  await page.getByRole("button", { name: "A is better", exact: true }).click();
  await phase(page, "confirming");
  await assertAccessibleInEveryView(page, "confirming");
  await page.getByRole("button", { name: "Show the names" }).click();
  await phase(page, "revealed");
  await assertAccessibleInEveryView(page, "revealed");
});

test("targets are at least 44 pixels and nothing scrolls sideways on a phone", async () => {
  await playBattle(await site.arrive("/"));
  for (const path of ["/", "/leaderboard", "/leaderboard/charts", "/about", "/models"]) {
    const page = await site.arrive(path, PHONE);
    if (path === "/leaderboard") await page.locator("tbody tr").first().waitFor();
    const small = await page.locator("button:visible, nav a:visible, .tools a:visible, .button:visible").evaluateAll((all) =>
      all.filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.outerHTML),
    );
    assert.deepEqual(small, []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, path);
    const cut = (links) => links.filter((link) => link.scrollWidth > link.clientWidth).map((link) => link.textContent);
    assert.deepEqual(await page.$$eval(".sections a", cut), [], `${path}: names of sections run into each other`);
    page.assertQuiet();
  }
});

test("a phone says that charts go on to the side, and the links of the footer stand equally far apart", async () => {
  await playBattle(await site.arrive("/"));
  const page = await site.arrive("/leaderboard/charts", PHONE);
  const hint = page.getByText("Swipe a chart sideways");
  assert.ok(await hint.isVisible());
  await page.setViewportSize({ width: 1280, height: 800 });
  assert.equal(await hint.isVisible(), false);
  const spare = await page.locator(".site-links a").evaluateAll((links) =>
    links.map((link) => {
      const range = document.createRange();
      range.selectNodeContents(link);
      return Math.round(link.getBoundingClientRect().width - range.getBoundingClientRect().width);
    }),
  );
  assert.ok(spare.length > 1 && spare.every((pixels) => pixels === spare[0] && pixels < 20), spare.join());
});

test("a part of the votes is chosen by keyboard and leads to its charts", async () => {
  await playBattle(await site.arrive("/"));
  const page = await site.arrive("/leaderboard");
  await page.getByText("More ways to count").press("Enter");
  await page.getByLabel("Turns").focus();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("button", { name: "Show" }).press("Enter");
  await page.waitForURL(/turns=first/);
  assert.equal(await page.getByLabel("Turns").inputValue(), "first");
  await page.getByRole("link", { name: "Charts" }).click();
  await page.waitForURL(/\/leaderboard\/charts\?turns=first/);
  assert.equal(await page.getByRole("img").count(), 5);
  assert.match(await page.getByRole("img").first().getAttribute("aria-labelledby"), /forest-title/);
  page.assertQuiet();
});

test("the browser's language is taken, and another one can be chosen and stays", async () => {
  const page = await site.arrive("/", { locale: "zh-CN" });
  assert.equal(await page.locator("html").getAttribute("lang"), "zh");
  assert.ok(await page.getByRole("heading", { name: "两方作答，高下由你" }).isVisible());
  await page.getByRole("link", { name: "English" }).click();
  await page.getByRole("link", { name: "Leaderboard" }).click();
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
  page.assertQuiet();
});

test("the theme button goes round and is kept", async () => {
  const page = await site.arrive("/about", { colorScheme: "light" });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.getByRole("button", { name: "Colours: same as the system" }).click();
  await page.getByRole("button", { name: "Colours: light" }).click();
  const dark = await paper();
  assert.notEqual(dark, light);
  await page.reload();
  assert.equal(await paper(), dark);
  page.assertQuiet();
});

test("an address that leads nowhere has a page of its own", async () => {
  const page = await site.open();
  const response = await page.goto(`${site.url}/no/such/page`);
  assert.equal(response.status(), 404);
  await page.getByRole("link", { name: "Go to the arena" }).click();
  await phase(page, "empty");
});

test("every answer carries the security headers", async () => {
  for (const path of ["/", "/leaderboard", "/no/such/page", "/static/style.css", "/static/none"]) {
    const { headers } = await fetch(site.url + path);
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/, path);
    assert.equal(headers.get("x-content-type-options"), "nosniff", path);
  }
});

test("a filled text has no space between Chinese words and a Chinese name, which keeps its own", async () => {
  const page = await site.arrive("/about", { locale: "zh-CN" });
  const filled = await page.evaluate(async () => {
    const { fill } = await import("/static/js/page.js");
    const text = "{a} 与 {b} 的对战，{a} 胜";
    return [
      fill(text, { a: "琥珀", b: "墨玉" }),
      fill(text, { a: "Crane", b: "通义 7B" }),
      fill(text, { a: "琥 珀", b: "owl" }),
      fill("{a} {b}", { a: "琥珀", b: "便宜" }),
      fill("共 {n} 张 {other}", { n: 3 }),
    ];
  });
  assert.deepEqual(filled, ["琥珀与墨玉的对战，琥珀胜", "Crane 与通义 7B 的对战，Crane 胜", "琥 珀与 owl 的对战，琥 珀胜", "琥珀便宜", "共 3 张 {other}"]);
  page.assertQuiet();
});
