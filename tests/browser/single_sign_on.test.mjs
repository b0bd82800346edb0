// Signing in at a provider on another site, in a real browser, which keeps cookies back as it likes: people who run the arena, and visitors.

import assert from "node:assert/strict";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";

import { assertAccessible } from "./support/axe.mjs";
import { ask, phase } from "./support/browser.mjs";
import { CLIENT, startIdentityProvider } from "./support/identity_provider.mjs";
import { PHONE, startSite } from "./support/site.mjs";

const ELSEWHERE = "http://127.0.0.1:1";

const provider = await startIdentityProvider();
after(() => provider.stop());
let settings;
let command;
const site = startSite({
  async fill(folder, langya) {
    settings = join(folder, "langya.toml");
    await appendFile(settings, `
[server]
public_url = "${ELSEWHERE}"
[access]
mode = "oidc"
[oidc]
issuer = "${provider.url}"
name = "Lab ID"
client_id = "${CLIENT}"
admins = true
`);
    command = langya;
  },
  /** Only now the arena's address is known, to which the provider sends people back. */
  async ready({ url }) {
    await command("admin", "users", "add", "ada", "--role", "owner", "--email", "ada@example.org");
    await writeFile(settings, (await readFile(settings, "utf8")).replace(ELSEWHERE, url));
    for (;;) {
      const begun = await fetch(`${url}/sign-in/provider`, { redirect: "manual" });
      if (begun.headers.get("location")?.includes(encodeURIComponent(`${url}/oidc/callback`))) return;
    }
  },
});

/** Notes what the browser refuses. A page that asks for a sign-in has a status of its own, which is no refusal. */
function watch(page) {
  const refused = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) refused.push(message.text());
  });
  return refused;
}

test("an owner comes from another site straight into the admin, and a person who was not added stays outside", async () => {
  const page = await site.open();
  const refused = watch(page);
  await page.goto(`${site.url}/admin/users`);
  await page.getByRole("link", { name: "Sign in with Lab ID" }).click();
  await page.getByRole("button", { name: "I am ada" }).click();
  await page.waitForURL(`${site.url}/admin/users`);
  assert.match(await page.getByRole("row", { name: /ada/ }).textContent(), /signs in with Lab ID/);
  await assertAccessible(page, "people with a provider");
  await page.goto(`${site.url}/admin/account`);
  await page.getByRole("heading", { name: "Sign in with Lab ID" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Set up a second factor" }).count(), 0);
  await page.goto(`${site.url}/admin/users`);
  await page.getByLabel("Name", { exact: true }).fill("ben");
  await page.getByLabel("E-mail address").fill("BEN@example.org");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("status").getByText("Done.").waitFor();
  assert.match(await page.getByRole("row", { name: /ben/ }).textContent(), /has not signed in with Lab ID yet/);
  await page.getByRole("button", { name: "Lock out" }).nth(1).click();
  await page.getByRole("status").getByText("Done.").waitFor();
  assert.deepEqual(refused, []);

  const other = await site.open();
  await other.goto(`${site.url}/admin/sign-in`);
  await other.getByRole("link", { name: "Sign in with Lab ID" }).click();
  await other.getByRole("button", { name: "I am ben" }).click();
  await other.getByRole("alert").getByText("Your account at Lab ID has no permissions here. Ask an owner to add you.").waitFor();
  await assertAccessible(other, "a refused sign-in");
});

test("signing in again on another site ends the session that the browser had", async () => {
  const page = await site.open();
  const sessions = [];
  for (let times = 0; times < 2; times += 1) {
    await page.goto(`${site.url}/admin/sign-in`);
    await page.getByRole("link", { name: "Sign in with Lab ID" }).click();
    await page.getByRole("button", { name: "I am ada" }).click();
    await page.waitForURL(`${site.url}/admin`);
    await page.goto(`${site.url}/admin/account`);
    sessions.push(await page.locator('form[action="/admin/account/session"]').count());
  }
  assert.equal(sessions[1], sessions[0]);
});

test("a visitor signs in on another site, battles, and signs out", async () => {
  const page = await site.open();
  const refused = watch(page);
  await page.goto(site.url);
  assert.equal(new URL(page.url()).pathname, "/sign-in");
  await page.getByRole("link", { name: "Sign in with Lab ID" }).click();
  await page.getByRole("button", { name: "I am ben" }).click();
  await page.waitForURL(`${site.url}/`);
  await ask(page, "a question");
  await phase(page, "ready");
  await page.goto(`${site.url}/sign-in`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("link", { name: "Sign in with Lab ID" }).waitFor();
  assert.deepEqual(refused, []);
});

test("axe finds nothing where people sign in, in both languages, wide and narrow", async () => {
  for (const options of [{}, PHONE]) {
    for (const locale of ["en-GB", "zh-CN"]) {
      const page = await site.open({ ...options, locale, reducedMotion: "reduce" });
      for (const path of ["/sign-in", "/admin/sign-in", "/oidc/callback?state=x&code=y"]) {
        await page.goto(site.url + path);
        await page.getByRole("link", { name: locale === "zh-CN" ? "使用 Lab ID 登录" : "Sign in with Lab ID" }).waitFor();
        await assertAccessible(page, `${path} ${locale}`);
      }
    }
  }
});
