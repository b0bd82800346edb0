// What an operator typed into a form of the admin is not lost where the session has ended, the form is too old, a field is wrong or the arena does
// not answer.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { PROGRAM } from "./support/arena.mjs";
import { startSite } from "./support/site.mjs";
import { importVotes, votesOn } from "./support/votes.mjs";

const PASSPHRASE = "seven herons over a quiet lake";
const REASON = "The person asked for it by letter.\nSecond line: <b>第二行</b>";

const codes = [];
const site = startSite({
  async fill(folder, langya) {
    await importVotes(folder, langya, votesOn([["crane", "heron"]], "model_a"));
    for (let invited = 0; invited < 8; invited += 1) {
      const { stdout } = spawnSync(PROGRAM, ["admin", "invite", "--role", "operator", "--data-dir", join(folder, "data")], { encoding: "utf8" });
      codes.push(stdout.trim().split("#")[1]);
    }
  },
});

/** A page of a new operator of this name with a form that is filled and not sent. */
async function beginRequest(name) {
  const page = await site.arrive(`/admin/welcome#${codes.pop()}`);
  await page.locator("#name").fill(name);
  await page.locator("#passphrase").fill(PASSPHRASE);
  await page.locator("#passphrase").press("Enter");
  await page.waitForURL(`${site.url}/admin/account`);
  await page.goto(`${site.url}/admin/requests`);
  await page.locator("#battle").fill("0199-a-battle");
  await page.locator("#scope").selectOption({ index: 1 });
  await page.locator("#reason").fill(REASON);
  return page;
}

const send = (page) => page.locator('form[action="/admin/requests/add"] button').click();
const draft = (page) => page.evaluate(() => sessionStorage.getItem("langya-admin-draft"));

async function signIn(page, name) {
  await page.locator("#name").fill(name);
  await page.locator("#passphrase").fill(PASSPHRASE);
  await page.locator("#passphrase").press("Enter");
}

async function assertFilled(page) {
  await page.waitForFunction(() => document.querySelector("#reason")?.value);
  assert.equal(await page.locator("#battle").inputValue(), "0199-a-battle");
  assert.equal(await page.locator("#scope").evaluate((scope) => scope.selectedIndex), 1);
  assert.equal(await page.locator("#reason").inputValue(), REASON);
}

test("what was typed stands in the form again after signing in, and goes once the arena has taken it", async () => {
  const page = await beginRequest("ann");
  await page.context().clearCookies();
  await send(page);
  await page.getByRole("link", { name: "Go to the sign-in page" }).click();
  await page.waitForURL(`${site.url}/admin/requests`);
  await signIn(page, "ann");
  await assertFilled(page);
  await send(page);
  await page.waitForURL(`${site.url}/admin/requests/add`);
  assert.equal(await draft(page), null);
});

test("what was typed stands in the form again on the way back from a form that is too old, and from an arena that is gone", async () => {
  const page = await beginRequest("ben");
  const other = await page.context().newPage();
  await page.context().clearCookies();
  await other.goto(`${site.url}/admin/sign-in`);
  await signIn(other, "ben");
  await other.waitForURL(`${site.url}/admin`);
  await send(page);
  await page.getByRole("heading", { name: "This form has expired" }).waitFor();
  await page.goBack();
  await assertFilled(page);
  await page.route("**/admin/requests/add", (route) => route.abort());
  await send(page);
  await page.waitForURL(/^chrome-error:/);
  await page.goBack();
  await assertFilled(page);
});

test("where one field is wrong, what was typed into all of them stays", async () => {
  const page = await beginRequest("eve");
  await page.goto(`${site.url}/admin/models/change?model=crane`);
  const typed = { "#weight": "a lot", "#max-tokens": "777", "#reason": "The weight is new." };
  for (const [field, text] of Object.entries(typed)) await page.locator(field).fill(text);
  await page.locator("#reason").press("Enter");
  await page.getByText("“Weight” takes a number. Nothing was changed.").waitFor();
  for (const [field, text] of Object.entries(typed)) await page.waitForFunction(([field, text]) => document.querySelector(field).value === text, [field, text]);
  await page.locator("#weight").fill("0.5");
  await page.locator("#reason").press("Enter");
  await page.waitForURL(/done=1$/);
  assert.equal(await draft(page), null);
});

test("what one operator typed is not in the form of another one who signs in in the same tab", async () => {
  await beginRequest("hal");
  const page = await beginRequest("gus");
  await page.context().clearCookies();
  await send(page);
  await page.getByRole("link", { name: "Go to the sign-in page" }).click();
  await page.waitForURL(`${site.url}/admin/requests`);
  await signIn(page, "hal");
  await page.locator('.admin-who[data-account="hal"]').waitFor();
  await page.waitForFunction(() => sessionStorage.getItem("langya-admin-draft") === null);
  assert.equal(await page.locator("#reason").inputValue(), "");
});

test("passphrases and codes are kept nowhere", async () => {
  const page = await beginRequest("cleo");
  await page.goto(`${site.url}/admin/account`);
  await page.locator("#former").fill(PASSPHRASE);
  await page.locator("#latter").fill("another long passphrase of mine");
  // As the second form of new models has it, where somebody pasted the key itself into the first one.
  const hidden = '<input type="hidden" name="key_env" value="sk-pasted">';
  await page.locator('form[action="/admin/account/passphrase"]').evaluate((form, hidden) => form.insertAdjacentHTML("beforeend", hidden), hidden);
  await page.context().clearCookies();
  await page.locator("#latter").press("Enter");
  await page.getByRole("link", { name: "Go to the sign-in page" }).waitFor();
  const kept = await draft(page);
  assert.ok(kept.includes("/admin/account/passphrase") && !["herons", "another long", "sk-pasted"].some((secret) => kept.includes(secret)), kept);
});

test("a form that is sent twice in a moment is sent once", async () => {
  const page = await beginRequest("dora");
  assert.equal(await timesSent(page, "/admin/requests/add"), 1);
});

test("accounts and sign-ins are sent once too: a link and a code are used up by the first", async () => {
  for (const [path, action] of [[`/admin/welcome#${codes.pop()}`, "/admin/welcome"], ["/admin/sign-in", "/admin/sign-in"]]) {
    const page = await site.arrive(path);
    await page.locator("#name").fill("fay");
    await page.locator("#passphrase").fill(PASSPHRASE);
    assert.equal(await timesSent(page, action), 1, action);
  }
});

/** How often a form goes out that is submitted twice in a moment. It does not really go. */
function timesSent(page, action) {
  return page.evaluate((action) => {
    const form = document.querySelector(`form[action="${action}"]`);
    let sent = 0;
    addEventListener("submit", (event) => {
      if (!event.defaultPrevented) sent += 1;
      event.preventDefault();
    });
    form.requestSubmit();
    form.requestSubmit();
    return sent;
  }, action);
}
