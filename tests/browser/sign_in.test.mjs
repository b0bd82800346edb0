// An arena that people join by a passphrase: in, a battle, and out again, which ends every tab.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { PROGRAM } from "./support/arena.mjs";
import { ask, phase, votesOf } from "./support/browser.mjs";
import { startSite } from "./support/site.mjs";

const PASSPHRASE = "seven herons over a quiet lake";

const site = startSite({
  async fill(folder) {
    const { stdout } = spawnSync(PROGRAM, ["passphrase"], { input: PASSPHRASE, encoding: "utf8" });
    await appendFile(join(folder, "langya.toml"), `\n[access]\nmode = "passphrase"\npassphrase_hash = "${stdout.trim()}"\n`);
  },
});

async function signIn(page, passphrase) {
  await page.getByLabel("Passphrase").fill(passphrase);
  await page.keyboard.press("Enter");
}

test("nobody battles before the passphrase, and signing out ends every tab", async () => {
  const page = await site.open();
  await page.goto(site.url);
  assert.equal(new URL(page.url()).pathname, "/sign-in");
  await page.goto(`${site.url}/leaderboard`);
  assert.equal(new URL(page.url()).pathname, "/leaderboard", "anybody may read");
  await page.goto(site.url);
  await signIn(page, PASSPHRASE);
  await page.waitForURL(`${site.url}/`);
  await ask(page, "a question");
  await phase(page, "ready");

  const other = await page.context().newPage();
  await other.goto(`${site.url}/sign-in`);
  await other.getByRole("button", { name: "Sign out" }).click();
  await other.getByLabel("Passphrase").waitFor();
  await page.waitForURL(`${site.url}/sign-in`);
  await page.goto(site.url);
  assert.equal(new URL(page.url()).pathname, "/sign-in");
  page.assertQuiet();
});

/** A page of somebody who has signed in; `prepare` is given the page before. */
async function signedIn(prepare = async () => {}) {
  const page = await site.open();
  await prepare(page);
  await page.goto(site.url);
  await signIn(page, PASSPHRASE);
  await page.waitForURL(`${site.url}/`);
  await page.locator('.composer button[type="submit"]:enabled').waitFor();
  return page;
}

function kept(page) {
  return page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("langya-vote")).length);
}

/** A page whose visitor has voted for A, and whose vote does not reach the arena. */
async function holdingPage() {
  const page = await signedIn((page) =>
    page.routeWebSocket(/\/ws\/battle/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((frame) => JSON.parse(frame).type !== "vote" && server.send(frame));
    }),
  );
  await ask(page, "a question");
  await phase(page, "ready");
  await page.getByRole("button", { name: "A is better", exact: true }).click();
  await page.locator('[data-action="show"]').click();
  await phase(page, "voting");
  assert.equal(await kept(page), 1);
  return page;
}

/** Another tab of the same browser, on the page on which people sign out. */
async function signOutPage(page) {
  const other = await page.context().newPage();
  other.signOut = () => other.getByRole("button", { name: "Sign out" }).click();
  return other;
}

test("a vote that one tab could not send is sent by the tab that signs out, before it does", async () => {
  const page = await holdingPage();
  const other = await signOutPage(page);
  const sent = votesOf(other);
  await other.goto(`${site.url}/sign-in`);
  await other.signOut();
  await other.getByRole("status").filter({ hasText: "You are signed out." }).waitFor();
  assert.deepEqual(sent.map(({ outcome }) => outcome), ["a"]);
  assert.equal(await kept(other), 0);
});

test("who signs out while a vote cannot be sent is told first that it does not count, and signs out with the second press", async () => {
  const page = await holdingPage();
  const other = await signOutPage(page);
  await other.routeWebSocket(/\/ws\/battle/, (socket) => socket.close({ code: 4000, reason: "refused by the test" }));
  await other.goto(`${site.url}/sign-in`);
  await other.signOut();
  await other.getByRole("alert").filter({ hasText: "If that fails too, the vote is not counted." }).waitFor();
  assert.equal(await kept(other), 1);
  await other.signOut();
  await other.getByLabel("Passphrase").waitFor();
  assert.equal(await kept(other), 0);
});

test("a tab without a connection goes to the sign-in page when its visitor signs out in another one", async () => {
  const sockets = [];
  let isThere = true;
  const page = await signedIn((page) =>
    page.routeWebSocket(/\/ws\/battle/, (socket) => {
      if (!isThere) return socket.close({ code: 4000, reason: "refused by the test" });
      socket.connectToServer();
      sockets.push(socket);
    }),
  );
  await ask(page, "a question");
  await phase(page, "ready");
  isThere = false;
  for (const socket of sockets) await socket.close({ code: 4000, reason: "dropped by the test" });
  await page.getByRole("alert").filter({ hasText: "Trying again…" }).waitFor();
  const other = await signOutPage(page);
  await other.goto(`${site.url}/sign-in`);
  await other.signOut();
  await other.getByLabel("Passphrase").waitFor();
  await page.waitForURL(`${site.url}/sign-in`);
});

test("what was written goes with its visitor, in the tab that signs out, in an open one and in one that shows another page", async () => {
  const page = await signedIn();
  const away = await page.context().newPage();
  for (const tab of [page, away]) {
    await tab.goto(site.url);
    await tab.locator('.composer button[type="submit"]:enabled').waitFor();
    await tab.locator("#prompt").fill("a private draft");
  }
  await away.goto(`${site.url}/leaderboard`);
  const leaving = await signOutPage(page);
  await leaving.goto(site.url);
  await leaving.locator('.composer button[type="submit"]:enabled').waitFor();
  await leaving.locator("#prompt").fill("a private draft");
  await leaving.goto(`${site.url}/sign-in`);
  await leaving.signOut();
  await signIn(leaving, PASSPHRASE);
  await leaving.waitForURL(`${site.url}/`);
  await page.waitForFunction(() => document.querySelector("#prompt").value === "");
  await away.goto(site.url);
  for (const tab of [leaving, away]) {
    await tab.locator('.composer button[type="submit"]:enabled').waitFor();
    assert.equal(await tab.locator("#prompt").inputValue(), "");
  }
});

test("Back after signing out leads to the sign-in page", async () => {
  const page = await signedIn();
  await page.goto(`${site.url}/sign-in`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Passphrase").waitFor();
  for (let steps = 0; steps < 2; steps += 1) {
    await page.goBack();
    assert.equal(new URL(page.url()).pathname, "/sign-in");
    assert.ok(await page.getByLabel("Passphrase").isVisible());
  }
});

test("a wrong passphrase is said at its field, in the visitor's language", async () => {
  const page = await site.open({ locale: "zh-CN" });
  await page.goto(site.url);
  await page.getByLabel("口令").fill("something else altogether");
  await page.keyboard.press("Enter");
  const alert = page.getByRole("alert");
  assert.equal(await alert.textContent(), "不正确。请检查输入后重试。");
  assert.equal(await page.getByLabel("口令").getAttribute("aria-describedby"), await alert.getAttribute("id"));
});
