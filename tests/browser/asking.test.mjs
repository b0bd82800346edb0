// What helps a visitor to ask and to read: cards, the field, editing, copying, waiting, and what a phone hides.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { NAMES, startArena } from "./support/arena.mjs";
import { ask, phase, vote } from "./support/browser.mjs";
import { PHONE, startSite } from "./support/site.mjs";
import { importVotes, votesOn } from "./support/votes.mjs";

/** Earlier votes on the pair: each of them says the same. */
const EARLIER = 12;
const PAIR = NAMES.map((name) => name.toLowerCase());

const site = startSite({ fill: (folder, langya) => importVotes(folder, langya, votesOn(Array(EARLIER).fill(PAIR), "tie")) });

async function arrive(options) {
  const page = await site.open(options);
  page.sent = [];
  page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => page.sent.push(JSON.parse(String(payload)))));
  await page.goto(site.url);
  return page;
}

function field(page) {
  return page.getByRole("textbox", { name: "Your question" });
}

test("the page opens with a field of two rows that has the focus, and a card for each intent", async () => {
  const page = await arrive();
  await page.waitForFunction(() => document.activeElement.id === "prompt");
  assert.equal(await field(page).getAttribute("rows"), "2");
  const intents = await page.locator("[data-card]").evaluateAll((cards) => cards.map((card) => card.dataset.intent));
  assert.deepEqual(intents, ["factual_qa", "solve_professional_problem", "text_assistant", "ask_for_advice", "seek_creativity", "leisure"]);
  const shown = () => page.locator('[data-part="card-prompt"]').allTextContents();
  const before = await shown();
  await page.getByRole("button", { name: "Other questions" }).click();
  const after = await shown();
  assert.ok(after.every((prompt, at) => prompt !== before[at]), "every card turned over");
  await page.getByRole("status").filter({ hasText: "Other questions are shown." }).waitFor();
  await page.locator("[data-card]").nth(3).click();
  await phase(page, "ready");
  const start = page.sent.find((frame) => frame.type === "start");
  assert.deepEqual([start.prompt, start.intent], [after[3], "ask_for_advice"]);
  page.assertQuiet();
});

test("the latest question can be edited: both answer it again, and Escape leaves it as it was", async () => {
  const page = await arrive();
  await ask(page, "a short question");
  await phase(page, "ready");
  await ask(page, "another short one");
  await phase(page, "ready");
  await field(page).fill("a draft");
  const edit = page.getByRole("button", { name: "Edit", exact: true });
  assert.equal(await edit.count(), 1, "only the latest");
  await edit.click();
  assert.equal(await field(page).inputValue(), "another short one");
  await field(page).press("Escape");
  assert.equal(await field(page).inputValue(), "a draft");
  assert.equal(await page.getByText("You are editing").isVisible(), false);
  await edit.click();
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.ok(await field(page).evaluate((one) => one === document.activeElement), "the keyboard goes on in the field");
  await edit.click();
  await field(page).fill("a third short one");
  await page.getByRole("button", { name: "Ask again" }).click();
  await page.locator(".turn .prompt-text", { hasText: "a third short one" }).waitFor();
  await phase(page, "ready");
  assert.equal(await page.locator(".turn").count(), 2);
  assert.equal(await field(page).inputValue(), "a draft");
  const { type, prompt } = page.sent.at(-1);
  assert.deepEqual([type, prompt], ["regenerate", "a third short one"]);
  await page.reload();
  await phase(page, "ready");
  assert.deepEqual(await page.locator(".prompt-text").allTextContents(), ["a short question", "a third short one"]);
  page.assertQuiet();
});

test("a question that is being sent comes back into its field with a reload, before what was written since", async () => {
  const page = await site.open();
  let answers = false;
  await page.routeWebSocket(/\/ws\/battle/, (socket) => answers && socket.connectToServer());
  await page.goto(site.url);
  await field(page).fill("a short question");
  await field(page).press("Enter");
  await phase(page, "asking");
  await field(page).fill("what I write meanwhile");
  await page.reload();
  assert.equal(await field(page).inputValue(), "a short question\n\nwhat I write meanwhile");
  answers = true;
  await field(page).press("Enter");
  await phase(page, "ready");
  assert.equal(await field(page).inputValue(), "");
  page.assertQuiet();
});

test("a reply is copied as the model wrote it, and a block of code without anything else", async () => {
  const page = await arrive();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await ask(page, "compare two ways");
  await phase(page, "ready");
  const texts = await Promise.all(["rich", "plain"].map((name) => readFile(new URL(`replies/${name}.md`, import.meta.url), "utf8")));
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  const copied = [];
  for (const side of ["A", "B"]) {
    await page.getByRole("button", { name: `Copy the reply of ${side}` }).click();
    await page.locator(`.reply[data-side="${side.toLowerCase()}"] .reply-foot`, { hasText: "Copied" }).waitFor();
    copied.push(await clipboard());
  }
  assert.deepEqual(copied.map((text) => text.trim()).sort(), texts.map((text) => text.trim()).sort());
  const code = page.locator(".code").first();
  await code.getByRole("button", { name: "Copy the code" }).click();
  await code.getByText("Copied").waitFor();
  assert.equal(await clipboard(), await code.locator("code").textContent());
  page.assertQuiet();
});

test("on a page that is not secure, copying takes the older way", async () => {
  const page = await arrive();
  await page.context().grantPermissions(["clipboard-read"]);
  await ask(page, "a short question");
  await phase(page, "ready");
  await page.evaluate(() => (navigator.clipboard.write = undefined));
  await page.getByRole("button", { name: "Copy the reply of A" }).click();
  await page.locator('.reply[data-side="a"] .reply-foot', { hasText: "Copied" }).waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /short answer\.$/);
});

test("a page that waits says so, and after ten seconds that it takes long, of both sides alike", async () => {
  const page = await site.open();
  await page.clock.install();
  await page.goto(site.url);
  await ask(page, "say nothing yet");
  const states = page.locator('.turn [data-part="state"]');
  assert.deepEqual(await states.allTextContents(), ["Thinking", "Thinking"]);
  await page.clock.fastForward(10_000);
  assert.deepEqual(await states.allTextContents(), ["Still thinking", "Still thinking"]);
});

test("on a touch screen Enter begins a new line, and the button or Ctrl+Enter sends", async () => {
  const page = await arrive(PHONE);
  await field(page).pressSequentially("a short");
  await page.keyboard.press("Enter");
  await page.keyboard.type("question");
  assert.equal(await field(page).inputValue(), "a short\nquestion");
  assert.equal(await page.locator("main").getAttribute("data-phase"), "empty");
  assert.equal(await field(page).getAttribute("aria-describedby"), null, "nothing says that Enter sends");
  assert.equal(await field(page).getAttribute("enterkeyhint"), null, "the keyboard shows a key for a new line");
  await page.getByRole("button", { name: "Send" }).tap();
  await phase(page, "ready");
  await ask(page, "another short question");
  page.assertQuiet();
});

test("keys that choose a character of an input method neither send a question nor leave an edit", async () => {
  const page = await arrive();
  const choose = async (key) => {
    for (const sign of [{ isComposing: true }, { keyCode: 229 }]) await field(page).dispatchEvent("keydown", { key, cancelable: true, ...sign });
  };
  await field(page).fill("nihao");
  await choose("Enter");
  assert.equal(await page.locator("main").getAttribute("data-phase"), "empty");
  await ask(page, "a short question");
  await phase(page, "ready");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await choose("Escape");
  assert.ok(await page.locator('[data-part="editing"]').isVisible());
  await field(page).press("Escape");
  assert.equal(await page.locator('[data-part="editing"]').isVisible(), false);
  page.assertQuiet();
});

test("a second tap where a new battle was begun asks none of the questions that come up there", async () => {
  const page = await arrive(PHONE);
  await ask(page, "a short question");
  await phase(page, "ready");
  const isHit = () =>
    page.evaluate(() => {
      const card = document.querySelector("[data-card]");
      card.scrollIntoView({ block: "center" });
      const { left, top, width, height } = card.getBoundingClientRect();
      return card.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    });
  await page.evaluate(() => (window.setTimeout = () => 0)); // No time passes between the two taps.
  await page.locator('[data-action="new"]').tap();
  await phase(page, "empty");
  assert.equal(await isHit(), false);
  await page.reload();
  await phase(page, "empty");
  assert.equal(await isHit(), true, "a card that stood there before is no trap");
  page.assertQuiet();
});

test("example cards can be asked again a moment after a new battle was begun", async () => {
  const page = await arrive(PHONE);
  await ask(page, "a short question");
  await phase(page, "ready");
  await page.locator('[data-action="new"]').tap();
  await page.locator("[data-card]").first().tap();
  await phase(page, "ready");
  page.assertQuiet();
});

test("on a phone a side that was not looked at is marked, until it is", async () => {
  const page = await arrive({ viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true });
  await ask(page, "a short question");
  await phase(page, "ready");
  const [a, b] = ["Model A", "Model B"].map((name) => page.getByRole("button", { name }));
  assert.deepEqual([await a.getByText("not read yet").isVisible(), await b.getByText("not read yet").isVisible()], [false, true]);
  assert.ok(await b.getByRole("img", { name: "Ended" }).isVisible(), "what its dot says");
  assert.ok(await page.getByText("You have not looked at B yet.").isVisible());
  await b.tap();
  assert.equal(await b.getByText("not read yet").isVisible(), false);
  assert.equal(await page.getByText("You have not looked at B yet.").count(), 0);
  page.assertQuiet();
});

test("the names come where the letters stood, with the choice, Elo and what earlier votes said", async () => {
  const page = await arrive();
  await page.goto(`${site.url}/leaderboard`);
  await page.locator('[data-part="votes"]', { hasText: String(EARLIER) }).waitFor({ state: "attached" });
  await page.goto(site.url);
  await ask(page, "a short question");
  await phase(page, "ready");
  assert.equal(await page.locator('[data-part="crowd"]').textContent(), "", "nothing is shown before the vote");
  await vote(page, "A is better");
  const heads = await page.locator(".reply-head bdi").allTextContents();
  assert.deepEqual([...heads].sort(), NAMES);
  const stamps = page.locator(".reply-head").getByText("Your choice");
  assert.equal(await stamps.count(), 2);
  assert.deepEqual([await stamps.first().isVisible(), await stamps.last().isVisible()], [true, false]);
  assert.ok(await page.getByText(`0 of ${EARLIER} earlier votes on these two models say the same.`).isVisible());
  await page.getByRole("button", { name: "Ask the same question again" }).click();
  await phase(page, "ready");
  assert.equal(await page.locator(".prompt-text").textContent(), "a short question");
  assert.equal(await page.locator(".reveal").isVisible(), false);
  page.assertQuiet();
});

test("reduced motion shows the names and the clock without moving", async () => {
  const page = await arrive({ reducedMotion: "reduce" });
  await ask(page, "a short question");
  await phase(page, "ready");
  await vote(page, "Tie");
  const animations = await page.evaluate(() => document.getAnimations().length);
  assert.equal(animations, 0);
});

test("a browser that translates the page leaves the names of models and code as they are", async () => {
  const page = await arrive();
  const translated = () => page.locator(".turn [data-part=name]").evaluateAll((all) => all.map((one) => one.translate));
  await ask(page, "compare two ways, in English");
  await phase(page, "ready");
  assert.deepEqual(await translated(), [true, true], "model A and B are words of the page");
  const code = page.locator(".reply-body :is(pre, code)");
  assert.ok((await code.count()) > 1);
  assert.ok(await code.evaluateAll((all) => all.every((one) => !one.translate)));
  assert.ok(await page.locator(".reply-body p").first().evaluate((one) => one.translate), "what models write is translated");
  await vote(page, "Tie");
  assert.deepEqual(await translated(), [false, false]);
  assert.deepEqual(await page.locator(".reveal bdi").evaluateAll((all) => all.filter((one) => one.translate).length), 0);
  await page.goto(`${site.url}/leaderboard`);
  assert.ok(await page.locator("tbody bdi").evaluateAll((all) => all.length > 1 && all.every((one) => !one.translate)));
  page.assertQuiet();
});

test("an arena of practice models says so and how to add real ones; others say nothing", async () => {
  assert.equal(await (await arrive()).locator(".practice-note").count(), 0);
  const practice = await startArena((folder) =>
    writeFile(join(folder, "langya.toml"), '[providers]\ndiscover = false\npractice = "always"\n'),
  );
  try {
    for (const [locale, summary, way] of [
      ["en-GB", "Only practice models answer here. How to add real ones", /OPENAI_API_KEY/],
      ["zh-CN", "目前只有陪练模型作答。如何添加真正的模型", /OPENAI_API_KEY/],
    ]) {
      const page = await site.open({ locale });
      await page.goto(practice.url);
      await page.getByText(summary).click();
      assert.ok(await page.getByText(way).isVisible());
      page.assertQuiet();
    }
  } finally {
    await practice.stop();
  }
});

test("the first visit loads less than 60 kB, in both languages", async (t) => {
  for (const locale of ["en-GB", "zh-CN"]) {
    const page = await arrive({ locale });
    await page.waitForLoadState("networkidle");
    const sizes = await page.evaluate(() =>
      performance.getEntries().filter((entry) => "transferSize" in entry).map((entry) => [entry.name, entry.transferSize]),
    );
    const sum = sizes.reduce((all, [, size]) => all + size, 0);
    t.diagnostic(`${locale}: ${sizes.length} files, ${sum} bytes`);
    assert.ok(sizes.length > 10 && sum < 60_000, `${locale}: ${JSON.stringify(sizes)}`);
  }
});

test("reloads leave a stopped question as the visitor has edited it in its field", async () => {
  const page = await arrive();
  await ask(page, "say nothing yet");
  await page.getByRole("button", { name: "Stop" }).click();
  await phase(page, "unanswered");
  await field(page).fill("a short question in its place");
  for (const visit of ["first", "again"]) {
    await page.reload();
    await phase(page, "unanswered");
    assert.equal(await field(page).inputValue(), "a short question in its place", visit);
  }
  await field(page).press("Enter");
  await phase(page, "ready");
  await page.reload();
  await phase(page, "ready");
  assert.equal(await field(page).inputValue(), "");
  page.assertQuiet();
});
