// A network that goes and comes back: it is said at once, and no question is lost.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, phase } from "./support/browser.mjs";
import { startSite } from "./support/site.mjs";

const site = startSite();

const NOT_SENT = "The connection was lost before your question arrived. Send it again.";

const field = (page) => page.getByRole("textbox", { name: "Your question" });
const line = (page) => page.locator('[data-part="offline"]');
const report = (page, event) => page.evaluate((name) => dispatchEvent(new Event(name)), event);

/** A page whose network goes with `page.lose()` and comes back with `page.regain()`. */
async function arrive() {
  const page = await site.open();
  let isThere = true;
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    if (isThere) socket.connectToServer();
    else socket.close({ code: 4000, reason: "refused by the test" });
  });
  page.lose = () => {
    isThere = false;
    return report(page, "offline");
  };
  page.regain = () => {
    isThere = true;
    return report(page, "online");
  };
  await page.goto(site.url);
  await page.locator('.composer button[type="submit"]:enabled').waitFor();
  return page;
}

/** Sends what stands in the field, without a network. */
async function sendInVain(page, prompt, phaseThen) {
  await field(page).fill(prompt);
  await field(page).press("Enter");
  await page.getByRole("alert").filter({ hasText: NOT_SENT }).waitFor();
  await phase(page, phaseThen);
  assert.equal(await field(page).inputValue(), prompt);
  assert.ok(await line(page).isVisible());
}

test("without a network the first question stays in its field, is said to be not sent, and is sent once it is back", async () => {
  const page = await arrive();
  await page.lose();
  await line(page).waitFor();
  await page.getByRole("status").filter({ hasText: "You are offline." }).waitFor();
  await sendInVain(page, "a short question", "empty");
  await page.regain();
  await line(page).waitFor({ state: "hidden" });
  await page.getByRole("status").filter({ hasText: "You are online again." }).waitFor();
  await field(page).press("Enter");
  await phase(page, "ready");
  assert.deepEqual(await page.locator(".turn .prompt-text").allTextContents(), ["a short question"]);
  page.assertQuiet();
});

test("a battle whose network goes says so at once, and goes on when it is back", async () => {
  const page = await arrive();
  await ask(page, "a short question");
  await phase(page, "ready");
  await page.lose();
  await line(page).waitFor();
  await sendInVain(page, "another short question", "ready");
  await page.regain();
  await line(page).waitFor({ state: "hidden" });
  await field(page).press("Enter");
  await page.locator(".turn").nth(1).waitFor();
  await phase(page, "ready");
  assert.deepEqual(await page.locator(".turn .prompt-text").allTextContents(), ["a short question", "another short question"]);
  assert.equal(await field(page).inputValue(), "");
  page.assertQuiet();
});

test("a vote that is cast without a network is said to be kept, and is sent once it is back", async () => {
  const page = await arrive();
  await ask(page, "a short question");
  await phase(page, "ready");
  await page.lose();
  await line(page).waitFor();
  await page.getByRole("button", { name: "A is better", exact: true }).click();
  await page.locator('[data-action="show"]').click();
  const told = page.getByRole("alert").filter({ hasText: "Your vote is kept in this browser and will be sent as soon as the connection is back." });
  await told.waitFor();
  await phase(page, "voting");
  await page.regain();
  await phase(page, "revealed");
  await told.waitFor({ state: "hidden" });
  assert.ok(await page.locator(".reveal").getByText("You found A better.").isVisible());
  page.assertQuiet();
});

test("a vote that is on its way when the network goes is said to be kept", async () => {
  const page = await arrive();
  await ask(page, "a short question");
  await phase(page, "ready");
  await page.evaluate(() => {
    WebSocket.prototype.send = () => {};
  });
  await page.getByRole("button", { name: "A is better", exact: true }).click();
  await page.locator('[data-action="show"]').click();
  await phase(page, "voting");
  await page.lose();
  await page.getByRole("alert").filter({ hasText: "Your vote is kept in this browser" }).waitFor();
});

test("an arena that is reached without a network, as on this device, goes on at once", async () => {
  const page = await arrive();
  await ask(page, "a short question");
  await phase(page, "ready");
  await report(page, "offline");
  await line(page).waitFor({ state: "hidden" });
  await ask(page, "another short question");
  await phase(page, "ready");
  page.assertQuiet();
});
