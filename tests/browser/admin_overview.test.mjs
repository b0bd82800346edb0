// The first page of the admin: which models have failed, and why.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { NAMES, PROGRAM } from "./support/arena.mjs";
import { ask, phase } from "./support/browser.mjs";
import { PHONE, startSite } from "./support/site.mjs";
import { importVotes, votesOn } from "./support/votes.mjs";

const PASSPHRASE = "seven herons over a quiet lake";

let code;
const site = startSite({
  async fill(folder, langya) {
    await importVotes(folder, langya, votesOn([["crane", "heron"]], "model_a"));
    const { stdout } = spawnSync(PROGRAM, ["admin", "invite", "--role", "owner", "--data-dir", join(folder, "data")], { encoding: "utf8" });
    code = stdout.trim().split("#")[1];
  },
});

test("failures are listed by the names of models, and on a phone their reasons have room for words", async () => {
  const battle = await site.arrive();
  await ask(battle, "break off");
  await phase(battle, "voided");
  const page = await site.arrive(`/admin/welcome#${code}`, { ...PHONE, locale: "zh-CN" });
  await page.locator("#name").fill("ada");
  await page.locator("#passphrase").fill(PASSPHRASE);
  await page.locator("#passphrase").press("Enter");
  await page.waitForURL((url) => url.pathname.startsWith("/admin") && url.pathname !== "/admin/welcome");
  await page.goto(`${site.url}/admin`);
  const rows = page.locator('[aria-labelledby="failures"] tbody tr');
  const names = await rows.locator("th").allTextContents();
  assert.ok(names.length > 0 && names.every((name) => NAMES.includes(name)), names.join());
  const widths = await rows.locator("td:nth-child(2)").evaluateAll((cells) => cells.map((cell) => cell.clientWidth));
  assert.ok(widths.every((width) => width >= 200), widths.join());
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  page.assertQuiet();
});
