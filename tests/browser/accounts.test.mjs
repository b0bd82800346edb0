// Accounts in the admin: the list of people on a phone, and a link for a new passphrase.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { PROGRAM } from "./support/arena.mjs";
import { PHONE, startSite } from "./support/site.mjs";
import { importVotes, votesOn } from "./support/votes.mjs";

const PASSPHRASE = "seven herons over a quiet lake";

let langya;
let code;
const site = startSite({
  async fill(folder, program) {
    await importVotes(folder, program, votesOn([["crane", "heron"]], "model_a"));
    langya = (...command) => {
      const run = spawnSync(PROGRAM, ["admin", ...command, "--data-dir", join(folder, "data")], { encoding: "utf8" });
      assert.equal(run.status, 0, run.stderr);
      return run.stdout.trim();
    };
    code = langya("invite", "--role", "owner").split("#")[1];
  },
});

test("on a phone the role of an account is shown whole in Chinese, and so is its button; a reset asks for no name", async () => {
  const page = await site.arrive(`/admin/welcome#${code}`, { ...PHONE, viewport: { width: 360, height: 740 }, locale: "zh-CN" });
  await page.locator("#name").fill("ada");
  await page.locator("#passphrase").fill(PASSPHRASE);
  await page.locator("#passphrase").press("Enter");
  await page.waitForURL((url) => url.pathname === "/admin");
  await page.goto(`${site.url}/admin/users`);
  const missing = await page.locator("td form :is(select, button)").evaluateAll((controls) =>
    controls.map((control) => {
      const { width } = control.getBoundingClientRect();
      control.style.minInlineSize = "max-content";
      return Math.round(control.getBoundingClientRect().width - width);
    }),
  );
  assert.deepEqual(missing, [0, 0, 0, 0], "pixels that the role and the three buttons lack");
  page.assertQuiet();

  const [address, token] = langya("users", "reset", "ada").split("#");
  const { pathname, search } = new URL(address, site.url);
  const other = await site.arrive(`${pathname}${search}#${token}`);
  await other.locator("#passphrase:focus").waitFor();
  assert.equal(await other.locator("#account").inputValue(), "ada");
  assert.equal(await other.locator("#name").count(), 0);
  await other.keyboard.type(PASSPHRASE);
  await other.keyboard.press("Enter");
  await other.waitForURL((url) => url.pathname === "/admin");
  other.assertQuiet();
});

test("without scripts a link for a new passphrase says where its code stands, and works", async () => {
  const [address, token] = langya("users", "reset", "ada").split("#");
  const { pathname, search } = new URL(address, site.url);
  for (const [locale, label, hint] of [["zh-CN", "链接代码", /“#”之后/], ["en-GB", "Code of the link", /after “#” in the link/]]) {
    const page = await site.arrive(`${pathname}${search}#${token}`, { locale, javaScriptEnabled: false });
    const field = page.getByLabel(label);
    assert.match(await page.locator(`#${await field.getAttribute("aria-describedby")}`).innerText(), hint);
    if (locale === "zh-CN") continue;
    await field.fill(new URL(page.url()).hash.slice(1));
    await page.locator("#passphrase").fill(PASSPHRASE);
    await page.locator("#passphrase").press("Enter");
    await page.waitForURL((url) => url.pathname === "/admin");
  }
});
