// An arena that people join by a pass phrase: in, a battle, and out again, which ends every tab.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { startArena } from "./support/arena.mjs";
import { ask, openPage, phase, startBrowser } from "./support/browser.mjs";

const PASSPHRASE = "seven herons over a quiet lake";
const program = process.env.LANGYA_BIN ?? new URL("../../target/debug/langya", import.meta.url).pathname;

let arena;
let browser;
before(async () => {
  const { stdout } = spawnSync(program, ["passphrase"], { input: PASSPHRASE, encoding: "utf8" });
  const settings = `\n[access]\nmode = "passphrase"\npassphrase_hash = "${stdout.trim()}"\n`;
  arena = await startArena((folder) => appendFile(join(folder, "langya.toml"), settings));
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await arena?.stop();
});

async function signIn(page, passphrase) {
  await page.getByLabel("Pass phrase").fill(passphrase);
  await page.keyboard.press("Enter");
}

test("nobody battles before the pass phrase, and signing out ends every tab", async () => {
  const page = await openPage(browser);
  await page.goto(arena.url);
  assert.equal(new URL(page.url()).pathname, "/sign-in");
  await page.goto(`${arena.url}/leaderboard`);
  assert.equal(new URL(page.url()).pathname, "/leaderboard", "anybody may read");
  await page.goto(arena.url);
  await signIn(page, PASSPHRASE);
  await page.waitForURL(`${arena.url}/`);
  await ask(page, "a question");
  await phase(page, "ready");

  const other = await page.context().newPage();
  await other.goto(`${arena.url}/sign-in`);
  await other.getByRole("button", { name: "Sign out" }).click();
  await other.getByLabel("Pass phrase").waitFor();
  await page.waitForURL(`${arena.url}/sign-in`);
  await page.goto(arena.url);
  assert.equal(new URL(page.url()).pathname, "/sign-in");
  page.assertQuiet();
});

test("a wrong pass phrase is said at its field, in the visitor's language", async () => {
  const page = await openPage(browser, { locale: "zh-CN" });
  await page.goto(arena.url);
  await page.getByLabel("口令").fill("something else altogether");
  await page.keyboard.press("Enter");
  const alert = page.getByRole("alert");
  assert.equal(await alert.textContent(), "不正确。请检查输入后重试。");
  assert.equal(await page.getByLabel("口令").getAttribute("aria-describedby"), await alert.getAttribute("id"));
});
