// What a visitor reads and agrees to before the first battle.

import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { assertAccessible } from "./support/axe.mjs";
import { phase } from "./support/browser.mjs";
import { PHONE, startSite } from "./support/site.mjs";

const PRIVACY = "https://langya.example/privacy";

const site = startSite({
  fill: (folder) => appendFile(join(folder, "langya.toml"), `\n[site]\nprivacy = "${PRIVACY}"\n`),
  options: { agrees: false },
});

async function arrive(options) {
  const page = await site.open(options);
  page.sent = [];
  page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => page.sent.push(JSON.parse(String(payload)))));
  await page.goto(site.url);
  return page;
}

async function write(page, prompt) {
  await page.getByRole("textbox", { name: "Your question" }).fill(prompt);
  await page.keyboard.press("Enter");
}

function question(page) {
  return page.getByRole("dialog", { name: "Before your first battle" });
}

test("on a phone a visitor who does not agree yet goes on at the button, without a keyboard on the screen", async () => {
  const page = await arrive(PHONE);
  await page.locator("#prompt").fill("a short question");
  const send = page.getByRole("button", { name: "Send" });
  await send.tap();
  await question(page).getByRole("button", { name: "Not now" }).tap();
  await question(page).waitFor({ state: "detached" });
  await phase(page, "empty");
  await page.waitForFunction(() => document.activeElement?.matches('.composer button[type="submit"]'));
});

test("nothing is sent before the visitor agrees, who is asked once", async () => {
  const page = await arrive();
  await write(page, "a short question");
  await question(page).waitFor();
  assert.deepEqual(page.sent, []);
  assert.ok(await question(page).getByText("Your questions and the replies").isVisible());
  await question(page).getByRole("button", { name: "Not now" }).click();
  await question(page).waitFor({ state: "detached" });
  assert.equal(await page.getByRole("textbox", { name: "Your question" }).inputValue(), "a short question");
  await page.keyboard.press("Enter");
  await question(page).waitFor();
  await page.keyboard.press("Escape");
  await question(page).waitFor({ state: "detached" });
  await phase(page, "empty");
  assert.deepEqual(page.sent, []);
  await page.keyboard.press("Enter");
  await question(page).getByRole("button", { name: "Agree and ask" }).click();
  await phase(page, "ready");
  const [{ type, consent, prompt }] = page.sent;
  assert.deepEqual([type, prompt], ["start", "a short question"]);
  assert.match(consent, /^[0-9a-f]{12}$/);
  await page.getByRole("button", { name: "New battle" }).click();
  await write(page, "another short one");
  await phase(page, "ready");
  assert.equal(await question(page).count(), 0);

  await page.getByRole("button", { name: "New battle" }).click();
  await page.reload();
  await write(page, "a third short one");
  await phase(page, "ready");
  assert.equal("consent" in page.sent.at(-1), false, "the arena knows");
  page.assertQuiet();
});

test("the operator's page about privacy is a link that leaves the question where it is", async () => {
  const page = await arrive();
  await write(page, "a short question");
  const link = question(page).getByRole("link", { name: PRIVACY });
  await link.waitFor();
  assert.deepEqual([await link.getAttribute("href"), await link.getAttribute("target")], [PRIVACY, "_blank"]);
  page.assertQuiet();
});

test("a card asks, too, and two presses open one question", async () => {
  const page = await arrive();
  await page.locator("[data-card]").first().evaluate((card) => {
    card.click();
    card.click();
  });
  await question(page).waitFor();
  assert.equal(await page.locator("dialog").count(), 1);
  await question(page).getByRole("button", { name: "Agree and ask" }).click();
  await phase(page, "ready");
  assert.equal(page.sent.filter((frame) => frame.type === "start").length, 1);
  page.assertQuiet();
});

test("a question whose text of consent is on its way is said to be asked, and what is written meanwhile stays", async () => {
  const page = await arrive();
  let come;
  const coming = new Promise((resolve) => (come = resolve));
  await page.route("**/consent", async (route) => {
    await coming;
    await route.continue();
  });
  const field = page.getByRole("textbox", { name: "Your question" });
  await write(page, "a short question");
  await page.getByText("Asking two models…").waitFor();
  assert.ok(await page.getByRole("button", { name: "Send" }).isDisabled());
  await field.fill("what I write meanwhile");
  come();
  await question(page).getByRole("button", { name: "Agree and ask" }).click();
  await phase(page, "ready");
  assert.equal(await page.locator(".turn .prompt-text").textContent(), "a short question");
  assert.equal(await field.inputValue(), "what I write meanwhile");
  page.assertQuiet();
});

test("a text that does not come leaves the question where it was", async () => {
  const page = await arrive();
  await page.route("**/consent", (route) => route.fulfill({ status: 503, body: "" }));
  await write(page, "a short question");
  await page.getByText("Send it again").waitFor();
  assert.deepEqual(page.sent, []);
  assert.equal(await page.getByRole("textbox", { name: "Your question" }).inputValue(), "a short question");
});

test("the question can be read and answered on a phone, in both colours and languages", async () => {
  for (const [options, agree] of [
    [{ ...PHONE, viewport: { width: 320, height: 568 } }, "Agree and ask"],
    [{ viewport: { width: 844, height: 390 }, colorScheme: "dark" }, "Agree and ask"],
    [{ ...PHONE, locale: "zh-CN", colorScheme: "dark" }, "同意并提问"],
  ]) {
    const page = await arrive(options);
    await page.locator("#prompt").fill("a short question");
    await page.keyboard.press("Control+Enter");
    const button = page.getByRole("button", { name: agree });
    await button.waitFor();
    const { top, bottom } = await button.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return { top, bottom };
    });
    assert.ok(top >= 0 && bottom <= options.viewport.height, `${agree} is in sight: ${top}–${bottom}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
    await assertAccessible(page);
    page.assertQuiet();
  }
});
