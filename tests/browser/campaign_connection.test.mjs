// A campaign in the browser whose connection is slow, lost or lied about: nothing is lost, and the page says what it waits for.

import assert from "node:assert/strict";
import { test } from "node:test";

import { shown, startCampaigns } from "./support/campaigns.mjs";

const LONG = "A river rises in the hills. 河流发源于山间。\n\n".repeat(24);
const { site, tokens, langya, open, begin, judgements } = startCampaigns([
  ["pairs", "pairwise", "judgements_per_item = 9\n"],
  ["long", "pairwise", "judgements_per_item = 9\n", (item, model) => `${LONG}Item ${item} by ${model}.`],
]);

test("a decision made without a connection is sent when it is back, also after a reload", async () => {
  const before = judgements("pairs");
  const page = await begin("pairs");
  await page.route("**/api/v1/**", (route) => route.abort());
  await page.keyboard.press("2");
  await page.getByText("No connection at the moment.").waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Begin" }).click();
  await page.getByText("No connection at the moment.").waitFor();
  await page.unroute("**/api/v1/**");
  await shown(page, 1);
  assert.equal(judgements("pairs") - before, 1);
  assert.equal(await page.getByText("No connection at the moment.").isVisible(), false);
});

/** Opens the link of an annotator who has judged so many. */
async function come(page, token, done) {
  await page.goto(`${site.url}/campaign/pairs?invite=${token}`);
  await page.getByRole("button", { name: "Begin" }).click();
  await shown(page, done);
}

/** A page on a shared device that an annotator has left with a decision that waits. */
async function leftByAnnotator(token) {
  const page = await open();
  await come(page, token, 0);
  await page.route("**/judgements", (route) => route.abort());
  await page.keyboard.press("1");
  await page.getByText("No connection at the moment.").waitFor();
  await page.goto("about:blank");
  await page.unroute("**/judgements");
  return page;
}

/** Waits until the device keeps nothing of the annotator. */
function forgotten(page, token) {
  return page.waitForFunction((token) => !JSON.stringify(localStorage).includes(token), token);
}

test("a decision that waits on a shared device is sent as its annotator's when somebody else comes, and its token is kept no longer", async () => {
  const before = judgements("pairs");
  const [first, second] = [tokens.pairs.pop(), tokens.pairs.pop()];
  const page = await leftByAnnotator(first);
  await page.goto(`${site.url}/campaign/pairs?invite=${second}`);
  await forgotten(page, first);
  assert.equal(judgements("pairs") - before, 1);
  await come(page, second, 0);
  assert.equal(await page.locator('[data-part="problem"]').isVisible(), false);
  await page.keyboard.press("2");
  await shown(page, 1);
  assert.equal(judgements("pairs") - before, 2);
  await come(page, first, 1);
});

test("a decision that waits on a shared device for a paused campaign is sent when somebody comes who finds it open", async () => {
  const before = judgements("pairs");
  const [first, second] = [tokens.pairs.pop(), tokens.pairs.pop()];
  const page = await leftByAnnotator(first);
  langya("pause", "pairs");
  const refused = page.waitForResponse("**/judgements");
  await page.goto(`${site.url}/campaign/pairs?invite=${second}`);
  assert.equal((await refused).status(), 409);
  langya("open", "pairs");
  await page.reload();
  await forgotten(page, first);
  assert.equal(judgements("pairs") - before, 1);
});

test("a judgement that comes too fast says when it is sent, and is not sent before", async () => {
  const before = judgements("pairs");
  const page = await begin("pairs");
  let sent = 0;
  await page.route("**/judgements", (route) => {
    sent += 1;
    if (sent > 1) return route.continue();
    return route.fulfill({ status: 429, headers: { "retry-after": "40" }, json: { code: "rate_limited", message: "too fast" } });
  });
  await page.clock.pauseAt(new Date(Date.now() + 3_600_000));
  await page.keyboard.press("1");
  await page.getByText("Your decision is kept on this device and sent automatically in 40 seconds.").waitFor();
  assert.equal(await page.getByText("No connection").count(), 0);
  await page.clock.runFor(39_000);
  assert.equal(sent, 1);
  await page.clock.runFor(1_000);
  await shown(page, 1);
  assert.equal(judgements("pairs") - before, 1);
  assert.equal(await page.locator('[data-part="problem"]').isVisible(), false);
});

test("what is no answer of the arena is asked for again, and says whether a decision is kept", async () => {
  const page = await open();
  await page.goto(`${site.url}/campaign/pairs?invite=${tokens.pairs.at(-1)}`);
  await page.route("**/api/v1/**", (route) => route.fulfill({ status: 200, contentType: "text/html", body: "<h1>Welcome to this hotel</h1>" }));
  await page.getByRole("button", { name: "Begin" }).click();
  await page.getByText("The arena does not answer at the moment. This page tries again automatically.").waitFor();
  await page.unroute("**/api/v1/**");
  await shown(page, 0);
  await page.route("**/api/v1/**", (route) => route.abort());
  await page.keyboard.press("1");
  await page.getByText("No connection at the moment. Your decision is kept on this device").waitFor();
  await page.unroute("**/api/v1/**");
  await shown(page, 1);
  await page.keyboard.press("u");
  await shown(page, 0);
});

for (const reloads of [false, true]) {
  test(`an undo whose answer is lost takes one judgement back, not two${reloads ? ", also after a reload" : ""}`, async () => {
    const before = judgements("pairs");
    const page = await begin("pairs");
    for (const done of [1, 2]) {
      await page.keyboard.press("1");
      await shown(page, done);
    }
    if (reloads) {
      await page.reload();
      await page.getByRole("button", { name: "Begin" }).click();
      await shown(page, 2);
    }
    let sent = 0;
    await page.route("**/undo", async (route) => {
      sent += 1;
      if (sent > 1) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await page.keyboard.press("u");
    await shown(page, 1);
    assert.equal(sent, reloads ? 1 : 2, "one that names its judgement is sent again");
    assert.equal(judgements("pairs") - before, 1);
    await page.keyboard.press("u");
    await shown(page, 0);
    assert.equal(judgements("pairs") - before, 0);
  });
}

test("an undo in one tab takes no judgement of another tab back", async () => {
  const before = judgements("pairs");
  const page = await begin("pairs");
  await page.keyboard.press("1");
  await shown(page, 1);
  const other = await page.context().newPage();
  await other.clock.install();
  await other.goto(`${site.url}/campaign/pairs`);
  await other.getByRole("button", { name: "Begin" }).click();
  await shown(other, 1);
  await other.keyboard.press("2");
  await shown(other, 2);
  await page.keyboard.press("u");
  await page.getByText("You have judged since then on another device or in another tab").waitFor();
  assert.equal(await page.getByRole("button", { name: "Try again" }).isVisible(), false);
  assert.equal(judgements("pairs") - before, 2);
  await other.keyboard.press("u");
  await shown(other, 1);
  await page.keyboard.press("u");
  await shown(page, 0);
  assert.equal(judgements("pairs") - before, 0);
});

test("judgements are stored where the browser stores nothing, and what cannot be taken is not called saved", async () => {
  const before = judgements("pairs");
  const page = await open();
  await page.addInitScript(() => Object.defineProperty(window, "localStorage", { get: () => { throw new DOMException("refused", "SecurityError"); } }));
  await page.goto(`${site.url}/campaign/pairs?invite=${tokens.pairs.at(-1)}`);
  await page.getByRole("button", { name: "Begin" }).click();
  await shown(page, 0);
  await page.route("**/judgements", (route) => route.fulfill({ status: 404, json: { code: "unknown_assignment", message: "gone" } }));
  await page.keyboard.press("1");
  await page.getByText("Your last decision could not be stored.").waitFor();
  await page.unroute("**/judgements");
  await shown(page, 0);
  await page.keyboard.press("2");
  await shown(page, 1);
  assert.equal(judgements("pairs") - before, 1);
  await page.keyboard.press("u");
  await shown(page, 0);
});

test("what another device of the annotator judged first counts, and the page says so", async () => {
  const before = judgements("pairs");
  const link = `${site.url}/campaign/pairs?invite=${tokens.pairs.pop()}`;
  const pages = [await open(), await open()];
  for (const page of pages) {
    await page.goto(link);
    await page.getByRole("button", { name: "Begin" }).click();
    await shown(page, 0);
  }
  const [phone, desktop] = pages;
  await phone.keyboard.press("1");
  await shown(phone, 1);
  await desktop.keyboard.press("2");
  await desktop.getByText("You had already judged this item on another device").waitFor();
  await shown(desktop, 1);
  assert.equal(judgements("pairs") - before, 1);
  pages.forEach((page) => page.assertQuiet());
});

test("on a phone that has scrolled to the choices, a lost connection is shown in view", async () => {
  const page = await begin("long", { viewport: { width: 360, height: 640 } });
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.route("**/api/v1/**", (route) => route.abort());
  await page.keyboard.press("1");
  const notice = page.locator('[data-part="problem"]');
  await notice.waitFor();
  const { y, height } = await notice.boundingBox();
  assert.ok(y >= 0 && y + height <= 640, `${y} + ${height}`);
  await page.unroute("**/api/v1/**");
  await shown(page, 1);
});

test("a wait of more than a moment is shown from the beginning", async () => {
  const page = await open();
  await page.goto(`${site.url}/campaign/pairs?invite=${tokens.pairs.at(-1)}`);
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route("**/next", async (route) => {
    await released;
    await route.continue();
  });
  await page.getByRole("button", { name: "Begin" }).click();
  await page.clock.runFor(1_000);
  await page.locator('[data-part="progress"]', { hasText: "Loading the next one" }).waitFor();
  release();
  await shown(page, 0);
  page.assertQuiet();
});
