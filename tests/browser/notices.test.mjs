// What a phone shows of errors and of a lost connection: in view and uncovered, whatever is read.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, phase } from "./support/browser.mjs";
import { PHONE, startSite } from "./support/site.mjs";

const site = startSite();

const SCREENS = [[390, 844], [320, 568], [844, 390]].map(([width, height]) => ({ ...PHONE, viewport: { width, height } }));

/**
 * A phone with a reply that is much taller than its screen. The arena refuses its votes; `page.lose()` takes its connection away.
 */
async function readingPage(options) {
  const page = await site.open(options);
  const sockets = [];
  let isThere = true;
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    if (!isThere) return socket.close({ code: 4000, reason: "refused by the test" });
    const server = socket.connectToServer();
    sockets.push(socket);
    socket.onMessage((text) => {
      const { type, battle } = JSON.parse(text);
      if (type !== "vote") return server.send(text);
      socket.send(JSON.stringify({ type: "error", code: "rate_limited", message: "", battle, retry_after: 60 }));
    });
  });
  page.lose = async () => {
    isThere = false;
    for (const socket of sockets) await socket.close({ code: 4000, reason: "dropped by the test" });
  };
  await page.goto(site.url);
  await ask(page, "answer at length");
  await phase(page, "ready");
  await page.waitForFunction(() => document.documentElement.scrollHeight > 3 * innerHeight);
  return page;
}

/** Fails unless a notice is whole on the screen with nothing over it, at the beginning of the reply, in its middle and at the end of the page. */
async function assertInView(page, name) {
  for (const share of [0, 0.5, 1]) {
    const place = await page.locator(`[data-part="${name}"]`).evaluate((one, share) => {
      scrollTo(0, share * document.documentElement.scrollHeight);
      const { left, top, width, bottom } = one.getBoundingClientRect();
      const hit = document.elementFromPoint(left + width / 2, (top + bottom) / 2);
      return { top, bottom, isHit: one.contains(hit), height: innerHeight };
    }, share);
    assert.ok(place.isHit && place.top >= 0 && place.bottom <= place.height, `${name} at ${share}: ${JSON.stringify(place)}`);
  }
}

test("a vote that is refused says so in view of somebody who reads a long reply on a phone", async () => {
  for (const options of SCREENS) {
    const page = await readingPage(options);
    await page.locator('.choice[data-outcome="a"]').tap();
    await page.locator('[data-action="show"]').tap();
    await page.getByRole("alert").filter({ hasText: "You can continue in 1 minute." }).waitFor();
    await assertInView(page, "notice");
    await page.context().close();
  }
});

test("a connection that is lost is told of in view of somebody who reads a long reply on a phone, and so is a lost network", async () => {
  for (const options of SCREENS) {
    const page = await readingPage(options);
    await page.lose();
    await page.getByRole("alert").filter({ hasText: "The connection was lost. Trying again…" }).waitFor();
    await assertInView(page, "notice");
    await page.evaluate(() => dispatchEvent(new Event("offline")));
    await page.locator('[data-part="offline"]').waitFor();
    await assertInView(page, "offline");
    await page.context().close();
  }
});
