// An arena that people join by a passphrase: in, a battle, and out again, which ends every tab.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { PROGRAM } from "./support/arena.mjs";
import { ask, phase } from "./support/browser.mjs";
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

test("a wrong passphrase is said at its field, in the visitor's language", async () => {
  const page = await site.open({ locale: "zh-CN" });
  await page.goto(site.url);
  await page.getByLabel("口令").fill("something else altogether");
  await page.keyboard.press("Enter");
  const alert = page.getByRole("alert");
  assert.equal(await alert.textContent(), "不正确。请检查输入后重试。");
  assert.equal(await page.getByLabel("口令").getAttribute("aria-describedby"), await alert.getAttribute("id"));
});
