// After the vote: going on with both models, which is neither rated nor kept.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NAMES } from "./support/arena.mjs";
import { assertAccessible } from "./support/axe.mjs";
import { phase, vote } from "./support/browser.mjs";
import { startSite } from "./support/site.mjs";

const site = startSite();

function field(page) {
  return page.getByRole("textbox", { name: "Your question" });
}

async function say(page, prompt) {
  const turns = await page.locator(".turn").count();
  await field(page).fill(prompt);
  await field(page).press("Enter");
  await page.locator(".turn").nth(turns).waitFor();
}

async function votedPage(options) {
  const page = await site.open(options);
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    page.ends = [socket, socket.connectToServer()];
  });
  await page.goto(site.url);
  await say(page, "a short question");
  await phase(page, "ready");
  await vote(page, "A is better");
  return page;
}

test("after the vote both models go on, by name and marked as not rated, and the vote stays as it was", async () => {
  const page = await votedPage();
  assert.equal(await field(page).getAttribute("placeholder"), "Continue with both models…");
  assert.ok(await page.getByText("What you ask now is neither rated nor kept.").isVisible());
  await say(page, "compare two ways");
  await phase(page, "revealed");
  await page.getByRole("status").filter({ hasText: /^Both replies have ended\.$/ }).waitFor();
  const chat = page.locator(".turn").nth(1);
  assert.ok(await chat.getByText("not rated, not kept").isVisible());
  assert.deepEqual((await chat.locator(".reply-head bdi").allTextContents()).sort(), NAMES);
  assert.ok(await chat.locator(".reply[data-side='b'] .block").count());
  assert.equal(await chat.locator(".reply-stamp:visible").count(), 0);
  assert.ok(await page.locator(".reveal").getByText("You found A better.").isVisible());
  const order = await page.locator(".turns > *").evaluateAll((all) => all.map((one) => one.className));
  assert.deepEqual(order, ["turn", "reveal", "turn"]);
  assert.equal(await page.locator(".vote-buttons").isVisible(), false);
  await assertAccessible(page, "post-vote chat");
  await page.getByRole("button", { name: "New battle" }).click();
  await phase(page, "empty");
  await say(page, "another short question");
  await phase(page, "ready");
  await vote(page, "Tie");
  assert.equal(await page.locator(".turn").count(), 1);
  page.assertQuiet();
});

test("a chat after the vote can be stopped, and ends with its connection, which is said", async () => {
  const page = await votedPage();
  await say(page, "answer slowly");
  await page.locator(".turn").nth(1).locator(".reply[data-side='a'] .block").first().waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await phase(page, "revealed");
  await say(page, "answer slowly again");
  await phase(page, "chatting");
  for (const end of page.ends) await end.close({ code: 4000, reason: "dropped by the test" });
  await page.getByRole("alert").filter({ hasText: "Your vote is saved; the conversation after it is not." }).waitFor();
  const states = page.locator(".turn").nth(2).locator('[data-part="state"]');
  assert.deepEqual(await states.allTextContents(), ["No complete answer", "No complete answer"]);
  // The next question finds a connection of its own.
  await say(page, "a short one");
  await phase(page, "revealed");
  assert.equal(await page.locator(".turn").count(), 4);
  page.assertQuiet();
});

test("a side that fails after the vote says so, and the other one goes on", async () => {
  const page = await votedPage();
  await say(page, "fails at first");
  await phase(page, "revealed");
  const states = await page.locator(".turn").nth(1).locator('[data-part="state"]').allTextContents();
  assert.deepEqual(states, ["No complete answer", "No complete answer"]);
});
