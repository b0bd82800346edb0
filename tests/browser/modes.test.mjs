// Models of the visitor's choice: side by side, alone, and one beside a hidden one. No vote on them is rated.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NAMES } from "./support/arena.mjs";
import { assertAccessible, assertAccessibleInEveryView } from "./support/axe.mjs";
import { ask, phase, vote } from "./support/browser.mjs";
import { PHONE, startSite } from "./support/site.mjs";

// What fades in is judged when it is there.
const site = startSite({ options: { reducedMotion: "reduce" } });
const SMALL = { ...PHONE, viewport: { width: 320, height: 640 } };

/** The choice of a mode and of models, by their names. */
async function choose(page, mode, models = {}) {
  await page.getByRole("combobox", { name: "Which models" }).selectOption({ label: mode });
  for (const [label, name] of Object.entries(models)) {
    // A label's text has the options of its field in it.
    await page.getByRole("combobox", { name: label, exact: true }).selectOption({ label: name });
  }
}

function heads(page) {
  return page.locator(".turn .reply:visible .reply-head bdi").allTextContents();
}

/** Nothing is wider than the screen. */
async function assertFits(page, where) {
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${where} scrolls sideways`);
}

test("the sentence on what is kept speaks of one model where one alone is asked", async () => {
  const page = await site.arrive();
  const said = async () => {
    const sentences = ["one model", "two models"].map((models) => page.getByText(`Your question goes to ${models}`));
    return Promise.all(sentences.map((sentence) => sentence.isVisible()));
  };
  const lead = page.getByText("Two hidden models answer");
  assert.deepEqual(await said(), [false, true]);
  assert.ok(await lead.isVisible());
  await choose(page, "Direct chat");
  assert.deepEqual(await said(), [true, false]);
  assert.equal(await lead.isVisible(), false, "it is of another mode");
  await choose(page, "Side by side");
  assert.deepEqual(await said(), [false, true]);
  page.assertQuiet();
});

for (const [device, options] of [["a desktop", {}], ["a phone", PHONE], ["a small phone", SMALL]]) {
  test(`two chosen models answer under their names on ${device}, and the vote is kept and not rated`, async () => {
    const page = await site.arrive("", options);
    await choose(page, "Side by side", { "Model A": NAMES[1], "Model B": NAMES[0] });
    assert.ok(await page.getByText("You choose two models and see their names.").isVisible());
    await assertFits(page, "the choice");
    await assertAccessible(page, `the choice on ${device}`);
    await ask(page, "compare two ways");
    await phase(page, "ready");
    assert.deepEqual(await page.locator(".turn .reply-head bdi").allTextContents(), [NAMES[1], NAMES[0]]);
    assert.ok(await page.locator(".turn").getByText("not rated", { exact: true }).isVisible());
    assert.equal(await page.getByRole("combobox", { name: "Which models" }).isVisible(), false);
    await assertFits(page, "the battle");
    await assertAccessible(page, `a battle on ${device}`);
    await vote(page, device === "a desktop" ? "1" : "A is better");
    assert.ok(await page.getByText("Your vote is kept and not rated, because you chose a model.").isVisible());
    assert.ok(await page.getByText("This vote does not change any rating.").isVisible());
    assert.equal(await page.getByRole("button", { name: /two new models/ }).isVisible(), false);
    await assertAccessible(page, `the names on ${device}`);

    await page.getByRole("link", { name: "This battle’s page" }).click();
    await page.waitForURL(/\/battle\//);
    for (const reloaded of [false, true]) {
      if (reloaded) await page.reload();
      assert.ok(await page.getByText("Side by side · Not rated").isVisible());
      assert.ok(await page.getByRole("heading", { name: `${NAMES[1]} and ${NAMES[0]}` }).isVisible());
    }
    page.assertQuiet();
  });

  test(`one model answers alone on ${device}, and its reply is good or not`, async () => {
    const page = await site.arrive("", options);
    await choose(page, "Direct chat", { Model: NAMES[0] });
    assert.equal(await page.getByRole("combobox", { name: "Model B" }).isVisible(), false);
    await ask(page, "a short question");
    await phase(page, "ready");
    assert.deepEqual(await heads(page), [NAMES[0]]);
    assert.ok(await page.locator(".turn .reply-head").first().isVisible(), "the name is in view on a narrow screen, too");
    const choices = page.locator(".choice:visible");
    assert.deepEqual((await choices.allInnerTexts()).map((text) => text.replace(/\s*\d$/, "").trim()), ["Good", "Not good"]);
    if (device === "a desktop") {
      await page.keyboard.press("2");
      await page.keyboard.press("3");
      assert.equal(await page.locator("main").getAttribute("data-phase"), "ready", "no key for what is not offered");
      await choices.first().focus();
      await page.keyboard.press("ArrowRight");
      assert.equal(await page.evaluate(() => document.activeElement.dataset.outcome), "both_bad");
    }
    await assertFits(page, "the chat");
    await assertAccessible(page, `a chat on ${device}`);
    await ask(page, "a follow-up");
    await phase(page, "ready");
    await vote(page, "Not good");
    assert.ok(await page.locator(".reveal").getByText("You found the reply not good.").isVisible());
    assert.equal(await page.locator(".reveal .card:visible").count(), 1);
    await assertFits(page, "the name");
    await ask(page, "and more");
    await phase(page, "revealed");
    assert.equal(await page.locator(".turn").count(), 3);
    await page.goto(`${site.url}/history`);
    assert.ok(await page.getByText("Direct chat · Not rated").isVisible());
    assert.ok(await page.getByText("You found the reply not good.").isVisible());
    page.assertQuiet();
  });
}

test("beside a chosen model the other name is nowhere on the page before the vote", async () => {
  const page = await site.arrive();
  await choose(page, "One hidden", { "Model A": NAMES[0] });
  const frames = [];
  page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => frames.push(String(payload))));
  await ask(page, "compare two ways");
  await phase(page, "ready");
  assert.deepEqual(await heads(page), [NAMES[0], "Model B"]);
  assert.ok(!frames.join("\n").includes(NAMES[1]), "the hidden name is on the wire");
  await page.getByRole("button", { name: "Tie", exact: true }).click();
  assert.ok(await page.getByText("your vote is sent when you ask for the names").isVisible());
  assert.ok(await page.getByText("Always wait until I ask for the names").isVisible());
  await page.getByRole("button", { name: "Show the names" }).click();
  await phase(page, "revealed");
  assert.deepEqual(await heads(page), NAMES);
  page.assertQuiet();
});

test("the choice is remembered, works by keyboard, and two times the same model is refused in words", async () => {
  const page = await site.arrive();
  await page.getByRole("combobox", { name: "Which models" }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  const first = page.getByRole("combobox", { name: "Model A" });
  await first.locator("option").nth(1).waitFor({ state: "attached" });
  assert.ok(await first.evaluate((field) => field === document.activeElement));
  await first.selectOption({ label: NAMES[1] });
  await page.reload();
  await page.getByRole("combobox", { name: "Model B" }).locator("option").nth(1).waitFor({ state: "attached" });
  assert.equal(await page.getByRole("combobox", { name: "Which models" }).inputValue(), "named");
  assert.equal(await first.inputValue(), NAMES[1].toLowerCase());
  await page.getByRole("combobox", { name: "Model B" }).selectOption({ label: NAMES[1] });
  await page.getByRole("textbox", { name: "Your question" }).fill("a short question");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").filter({ hasText: "Choose two different models." }).waitFor();
  assert.equal(await page.getByRole("textbox", { name: "Your question" }).inputValue(), "a short question");
  await choose(page, "Blind battle");
  await ask(page, "a short question");
  await phase(page, "ready");
  assert.deepEqual(await heads(page), ["Model A", "Model B"]);
  page.assertQuiet();
});

test("a battle on chosen models comes back after a reload with its names", async () => {
  const page = await site.arrive();
  await choose(page, "Direct chat", { Model: NAMES[1] });
  await ask(page, "a short question");
  await phase(page, "ready");
  await page.reload();
  await phase(page, "ready");
  assert.deepEqual(await heads(page), [NAMES[1]]);
  await vote(page, "Good");
  await page.getByRole("button", { name: "New battle" }).click();
  await phase(page, "empty");
  assert.equal(await page.getByRole("combobox", { name: "Which models" }).inputValue(), "direct");
  page.assertQuiet();
});

test("a chosen model that fails is not replaced: the page says so and asks it again", async () => {
  const page = await site.arrive();
  await choose(page, "Side by side", { "Model A": NAMES[0], "Model B": NAMES[1] });
  await ask(page, "a chosen question that fails at first");
  await phase(page, "voided");
  assert.match(await page.getByRole("alert").textContent(), /chosen models are not replaced/);
  assert.deepEqual(await heads(page), NAMES);
  await page.getByRole("button", { name: "Ask again" }).click();
  await phase(page, "ready");
  assert.deepEqual(await heads(page), NAMES);
  page.assertQuiet();
});

test("every step is accessible in both languages, themes and widths", async () => {
  for (const [lang, [label, mode, question]] of Object.entries({
    en: ["Which models", "direct", "Your question"],
    zh: ["选择模型", "named", "你的问题"],
  })) {
    const page = await site.arrive(`/?lang=${lang}`);
    await page.getByRole("combobox", { name: label }).selectOption(mode);
    await page.locator('[data-part="model-a"] option').nth(1).waitFor({ state: "attached" });
    await assertAccessibleInEveryView(page, `the choice in ${lang}`, [1440, 390, 320]);
    await page.getByRole("textbox", { name: question }).fill("compare two ways");
    await page.keyboard.press("Enter");
    await phase(page, "ready");
    await assertAccessibleInEveryView(page, `a battle in ${lang}`, [1440, 390, 320]);
    page.assertQuiet();
  }
});
