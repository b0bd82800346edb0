// A campaign in the browser: an annotator judges thirty items by keyboard, on a phone and on a desktop, in every kind of task.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible } from "./support/axe.mjs";
import { ITEMS, REST_MS, judged, shown, startCampaigns } from "./support/campaigns.mjs";

const QUESTIONS = `judgements_per_item = 9
preference_scale = 7
[[questions]]
id = "clear"
text = "How clear is it?"
kind = "scale"
about = "answer"
[[questions]]
id = "fair"
text = "Is the question fair?"
kind = "choice"
options = ["yes", "no"]
[[questions]]
id = "why"
text = "Why?"
kind = "text"
`;

/** Two long answers in which a word, a sentence and some HTML differ. */
const LONG = Object.fromEntries(["crane", "heron"].map((model) => {
  const same = "A river rises in the hills. 河流发源于山间。\n\n".repeat(12);
  const own = model === "crane" ? "It is 900 km long. <b onclick=alert(1)>raw</b>" : "It is 950 km long.";
  return [model, `${same}**Length**: ${own}\n\n${same}`];
}));

const { site, tokens, langya, open, begin, judgements } = startCampaigns([
  ["pairs", "pairwise", 'instructions = "Read **both** answers to the end."\njudgements_per_item = 9\n'],
  ["scores", "score", "judgements_per_item = 9\nshow_reference = true\npublic = true\n"],
  ["asked", "pairwise", QUESTIONS],
  ["ranks", "rank", "judgements_per_item = 9\n"],
  ["long", "pairwise", "judgements_per_item = 9\n", (item, model) => `${LONG[model]}\n\nItem ${item}.`],
  ["dimensions", "score", 'judgements_per_item = 9\nrubric = "alignbench"\n'],
]);

for (const [device, viewport] of [["desktop", { width: 1440, height: 900 }], ["phone", { width: 390, height: 844 }]]) {
  test(`thirty items are judged by keyboard only, on a ${device}`, async () => {
    const before = judgements("pairs");
    const page = await open({ viewport });
    await page.goto(`${site.url}/campaign/pairs#invite=${tokens.pairs.pop()}`);
    await page.getByText("Read both answers to the end.").waitFor();
    assert.ok(!page.url().includes("invite"), "the token leaves the address");
    await page.getByRole("button", { name: "Begin" }).focus();
    await page.keyboard.press("Enter");
    for (let done = 0; done < ITEMS; done += 1) {
      await shown(page, done);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width);
      await page.keyboard.press(String(1 + (done % 4)));
    }
    await page.getByRole("heading", { name: "That was the last one. Thank you!" }).waitFor();
    assert.equal(judgements("pairs") - before, ITEMS);
    await page.reload();
    await page.getByRole("button", { name: "Begin" }).click();
    await page.getByRole("heading", { name: "That was the last one. Thank you!" }).waitFor();
    page.assertQuiet();
  });
}

test("the last judgement can be taken back", async () => {
  const before = judgements("pairs");
  const page = await begin("pairs");
  const question = () => page.locator('[data-part="prompt"]').textContent();
  const first = await question();
  await page.keyboard.press("1");
  await shown(page, 1);
  assert.notEqual(await question(), first);
  await page.keyboard.press("u");
  await shown(page, 0);
  assert.equal(await question(), first);
  await page.getByRole("button", { name: "Equally good" }).click();
  await shown(page, 1);
  assert.equal(judgements("pairs") - before, 1);
  page.assertQuiet();
});

test("the second half of a double click, or of a key pressed twice, judges nothing", async () => {
  const page = await begin("pairs");
  const sent = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/judgements")) sent.push(request.postDataJSON().outcome);
  });
  await page.clock.pauseAt(new Date(Date.now() + 3_600_000));
  const { x, y } = await page.getByRole("button", { name: "A is better" }).boundingBox();
  const decisions = [() => page.mouse.click(x + 9, y + 9), () => page.keyboard.press("1")];
  for (const [at, decide] of decisions.entries()) {
    await decide();
    await judged(page, 2 * at + 1);
    await decide();
    await page.clock.runFor(REST_MS);
    await page.keyboard.press("2");
    await shown(page, 2 * at + 2);
  }
  assert.deepEqual(sent, ["a", "b", "a", "b"]);
  page.assertQuiet();
});

test("shortcuts of a single key can be switched off, for campaigns and battles alike", async () => {
  const before = judgements("pairs");
  const page = await begin("pairs");
  const shortcuts = page.getByLabel("Single-key shortcuts");
  await page.keyboard.press("1");
  await shown(page, 1);
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname.split("/").at(-1)));
  await shortcuts.uncheck();
  for (const key of ["1", "u", "d"]) await page.keyboard.press(key);
  await page.getByRole("button", { name: "B is better" }).click();
  await shown(page, 2);
  assert.deepEqual(asked, ["judgements", "next"]);
  assert.equal(judgements("pairs") - before, 2);
  await page.goto(site.url);
  assert.equal(await page.getByLabel("Keys 1–4 vote").isChecked(), false);
  await page.goto(`${site.url}/campaign/pairs`);
  await page.getByRole("button", { name: "Begin" }).click();
  await shown(page, 2);
  await shortcuts.check();
  await page.keyboard.press("u");
  await shown(page, 1);
  page.assertQuiet();
});

test("a campaign that is not open says whether a decision still waits on this device", async () => {
  const page = await begin("pairs");
  langya("pause", "pairs");
  await page.keyboard.press("1");
  await page.getByText("Your last decision is kept on this device").waitFor();
  const newcomer = await open({ locale: "zh-CN" });
  await newcomer.goto(`${site.url}/campaign/pairs#invite=${tokens.pairs[0]}`);
  await newcomer.locator('[data-part="begin"]').click();
  await newcomer.getByText("这项活动已暂停或已结束，目前没有需要判断的内容。").waitFor();
  langya("open", "pairs");
  await page.getByRole("button", { name: "Try again" }).click();
  await shown(page, 1);
});

test("a phone shows the question of a ranking, and the blocks of an answer stand apart as in a battle", async () => {
  for (const viewport of [{ width: 390, height: 844 }, { width: 844, height: 390 }]) {
    const page = await begin("ranks", { viewport });
    assert.ok(await page.locator(".campaign-question", { hasText: "Choose the best answer first" }).isVisible());
    const apart = await page.locator('[data-part="answer-a"] > * + *').evaluateAll((all) => all.map((one) => getComputedStyle(one).marginTop));
    assert.deepEqual([...new Set(apart)], ["12.8px"]);
  }
});

test("answers are scored and ranked, with nothing that an answer could run", async () => {
  const scores = await begin("scores");
  assert.equal(await scores.locator('[data-part="answer-a"] b').count(), 0, "raw HTML is text");
  await scores.getByText("Reference answer").click();
  await scores.getByText("The reference.").waitFor();
  for (const name of ["1, poor", "10, excellent"]) assert.equal(await scores.getByRole("button", { name, exact: true }).count(), 1, name);
  await scores.keyboard.press("0");
  await shown(scores, 1);
  await scores.getByRole("button", { name: "7", exact: true }).click();
  await shown(scores, 2);
  const report = JSON.parse(langya("report", "scores", "--format", "json"));
  assert.deepEqual(report.scores.map(({ score }) => score).sort((x, y) => x - y).at(-1), 10);
  const ranks = await begin("ranks");
  await ranks.keyboard.press("c");
  await ranks.getByRole("button", { name: "C: place 1" }).waitFor();
  await ranks.keyboard.press("a");
  await ranks.keyboard.press("b");
  await shown(ranks, 1);
  assert.equal(JSON.parse(langya("report", "ranks", "--format", "json")).models.length, 3);
  scores.assertQuiet();
  ranks.assertQuiet();
});

for (const [device, viewport] of [["desktop", { width: 1440, height: 900 }], ["phone", { width: 390, height: 844 }]]) {
  test(`a preference and the answers to questions are given by keyboard only, on a ${device}`, async () => {
    const before = judgements("asked");
    const page = await begin("asked", { viewport });
    const submit = page.getByRole("button", { name: "Save and continue" });
    for (let done = 0; done < 3; done += 1) {
      await shown(page, done);
      assert.ok(await submit.isDisabled(), "nothing is chosen yet");
      await page.keyboard.press("6");
      await page.locator('[data-preference="2"][aria-pressed="true"]').waitFor();
      // Two answers on a scale, one choice, then a text.
      for (const key of ["4", "2", "1"]) await page.keyboard.press(key);
      await page.locator("textarea:focus").waitFor();
      await page.keyboard.type("u 1 because");
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width);
      if (done === 0) await assertAccessible(page);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
    }
    await shown(page, 3);
    assert.equal(judgements("asked") - before, 3);
    const report = JSON.parse(langya("report", "asked", "--format", "json"));
    const [clear, fair, why] = report.questions;
    assert.equal(clear.judgements, report.judgements);
    assert.deepEqual(clear.counts.map(({ judgements }) => judgements), [report.judgements, report.judgements]);
    assert.deepEqual(fair.counts[0].counts, [report.judgements, 0]);
    assert.equal(why.judgements, report.judgements);
    page.assertQuiet();
  });
}

for (const [device, locale, viewport] of [["desktop", "en-US", { width: 1440, height: 900 }], ["phone", "zh-CN", { width: 390, height: 844 }]]) {
  test(`an answer is scored on each dimension of its category by keyboard only, on a ${device}`, async () => {
    const before = JSON.parse(langya("report", "dimensions", "--format", "json")).questions;
    const page = await open({ viewport, locale });
    await page.goto(`${site.url}/campaign/dimensions#invite=${tokens.dimensions.pop()}`);
    await page.locator('[data-part="begin"]').click();
    const asked = {};
    for (let done = 0; done < 4; done += 1) {
      await shown(page, done);
      await page.keyboard.press("8");
      await page.locator('[data-score="8"][aria-pressed="true"]').waitFor();
      const ids = await page.locator("[data-question]:visible").evaluateAll((fields) => fields.map(({ dataset }) => dataset.question));
      assert.ok(ids.includes("clarity") ? ids.length === 4 : ids.includes("richness") && ids.length === 5, ids.join());
      for (const id of ids) asked[id] = (asked[id] ?? 0) + 1;
      for (const _ of ids) await page.keyboard.press("0");
      await page.locator('[data-part="submit"]:focus').waitFor();
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width);
      if (done === 0) {
        // What has scrolled below the head of the page is no target.
        await page.evaluate(() => scrollTo(0, 0));
        await assertAccessible(page);
      }
      await page.keyboard.press("Enter");
    }
    await shown(page, 4);
    const { questions } = JSON.parse(langya("report", "dimensions", "--format", "json"));
    for (const [at, { question, judgements, mean }] of questions.entries()) {
      assert.equal(judgements - before[at].judgements, asked[question] ?? 0, question);
      if (judgements) assert.equal(mean, 10);
    }
    page.assertQuiet();
  });
}

for (const [device, locale, viewport, colorScheme] of [
  ["desktop", "en-US", { width: 1440, height: 900 }, "dark"],
  ["phone", "zh-CN", { width: 390, height: 844 }, "light"],
]) {
  test(`what differs between two long answers is marked by key and button, on a ${device}`, async () => {
    const page = await open({ viewport, locale, colorScheme });
    await page.goto(`${site.url}/campaign/long#invite=${tokens.long.pop()}`);
    await page.locator('[data-part="begin"]').click();
    await shown(page, 0);
    const marked = (letter) => page.locator(`[data-part="answer-${letter}"] mark`).allTextContents();
    const button = page.locator('[data-part="differences"]');
    const pressed = (value) => page.locator(`[data-part="differences"][aria-pressed="${value}"]`).waitFor();
    assert.deepEqual([await marked("a"), await page.locator(".campaign-answer strong").count()], [[], 2]);
    await page.keyboard.press("d");
    await pressed(true);
    await page.locator(".campaign-answer mark").first().waitFor();
    const explained = page.locator('[data-part="as-written"]');
    assert.ok(await explained.isVisible(), "why signs of formatting are shown");
    const marks = [await marked("a"), await marked("b")].sort((one, other) => one.length - other.length);
    assert.deepEqual(marks[0], ["950"]);
    assert.equal(marks[1][0], "900");
    assert.ok(marks[1].slice(1).join("").includes("<b onclick=alert(1)>raw</b>"), marks[1].join("|"));
    assert.equal(await page.locator(".campaign-answer b").count(), 0, "raw HTML is text");
    assert.ok(!(await page.content()).match(/crane|heron/), "no model is named");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width);
    await assertAccessible(page);
    // It stays for the next item and after a reload, and a button takes the marks away without taking a decision.
    await page.keyboard.press("1");
    await shown(page, 1);
    assert.ok((await marked("a")).length > 0);
    await page.reload();
    await page.locator('[data-part="begin"]').click();
    await shown(page, 1);
    assert.ok((await marked("b")).length > 0);
    await button.click();
    await pressed(false);
    assert.equal(await explained.isVisible(), false);
    await page.locator(".campaign-answer strong").first().waitFor();
    assert.deepEqual([await marked("a"), await marked("b")], [[], []]);
    await page.keyboard.press("2");
    await shown(page, 2);
    page.assertQuiet();
  });
}

test("a page with questions says what is still to be answered, what may be left out, and which end of a scale is which", async () => {
  const page = await begin("asked", { viewport: { width: 390, height: 844 } });
  const open = page.getByText("Still to answer: Which answer is better?");
  assert.ok(await open.isVisible() && (await page.getByRole("button", { name: "Save and continue" }).isDisabled()));
  await page.keyboard.press("1");
  await open.waitFor({ state: "hidden" });
  assert.ok(await page.getByRole("group", { name: "Why? (optional)" }).isVisible());
  assert.equal(await page.getByText("(optional)").count(), 1);
  const scale = page.getByRole("group", { name: "How clear is it?" }).first();
  for (const [name, word] of [["1, low", "low"], ["5, high", "high"]]) {
    assert.equal(await scale.getByRole("radio", { name }).count(), 1, name);
    assert.ok(await scale.getByText(word, { exact: true }).isVisible(), word);
  }
  page.assertQuiet();
});

test("a decision, and what was written and chosen beside it, survives a reload, and comes back with an undo", async () => {
  const page = await begin("asked");
  const text = page.locator("textarea");
  const filled = async () => [
    await page.locator('[data-preference][aria-pressed="true"]').evaluateAll((all) => all.map((one) => one.dataset.preference)),
    await page.locator('[data-part="choices"] input:checked').count(),
    await text.inputValue(),
  ];
  await page.keyboard.press("7");
  for (const key of ["4", "2", "1"]) await page.keyboard.press(key);
  await text.fill("Half a thought");
  await page.reload();
  await page.getByRole("button", { name: "Begin" }).click();
  await shown(page, 0);
  assert.deepEqual(await filled(), [["3"], 3, "Half a thought"]);
  await page.getByRole("button", { name: "Save and continue" }).click();
  await shown(page, 1);
  assert.deepEqual(await filled(), [[], 0, ""], "the next one begins empty");
  await page.getByRole("button", { name: "Undo" }).click();
  await shown(page, 0);
  assert.deepEqual(await filled(), [["3"], 3, "Half a thought"]);
  await page.getByRole("button", { name: "Save and continue" }).click();
  await shown(page, 1);
  page.assertQuiet();
});

test("many people come by one link, each gets a link of their own, and no more than it has places", async () => {
  const link = langya("invite", "ranks", "--shared", "--count", "1").trim();
  const page = await open({ viewport: { width: 320, height: 568 } });
  await page.goto(`${site.url}/campaign/ranks?participant=p1#join=${link}`);
  assert.ok(!page.url().includes("join") && !page.url().includes("p1"), "both leave the address");
  await page.getByRole("button", { name: "Begin" }).click();
  await shown(page, 0);
  await page.getByText("Your own link: keep it").click();
  const own = await page.locator('[data-part="own-link-address"]').textContent();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
  for (const key of ["c", "a", "b"]) await page.keyboard.press(key);
  await shown(page, 1);
  await page.reload();
  await page.getByText("Your own link: keep it").click();
  assert.equal(await page.locator('[data-part="own-link-address"]').innerText(), own);
  // The same person goes on with the link of their own on another device, and the shared one has no place for others.
  const elsewhere = await open();
  await elsewhere.goto(own);
  await elsewhere.getByRole("button", { name: "Begin" }).click();
  await shown(elsewhere, 1);
  const other = await site.open();
  await other.goto(`${site.url}/campaign/ranks#join=${link}`);
  await other.getByRole("button", { name: "Begin" }).click();
  await other.getByText("All places of this link are taken.").waitFor();
  page.assertQuiet();
});

test("the report of a closed public campaign is accessible", async () => {
  langya("close", "scores");
  for (const locale of ["en-US", "zh-CN"]) {
    for (const [colorScheme, width] of [["light", 1440], ["dark", 390]]) {
      const page = await site.open({ locale, colorScheme, viewport: { width, height: 900 } });
      await page.goto(`${site.url}/campaign/scores/report`);
      await page.locator("svg").first().waitFor();
      await assertAccessible(page);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
      page.assertQuiet();
      await page.context().close();
    }
  }
  langya("open", "scores");
});

test("a link that is no use is said in the reader's language, and the page is accessible everywhere", async () => {
  const page = await site.open({ locale: "zh-CN" });
  await page.goto(`${site.url}/campaign/pairs#invite=0123`);
  await page.getByRole("button", { name: "开始" }).click();
  await page.getByText("这个链接无效").waitFor();
  const boxes = [page.locator(".campaign-head"), page.locator('[data-part="problem"]')].map((one) => one.boundingBox());
  const [head, problem] = await Promise.all(boxes);
  assert.ok(problem.y - head.y - head.height >= 12, "the notice stands apart");
  for (const colorScheme of ["light", "dark"]) {
    for (const viewport of [{ width: 320, height: 568 }, { width: 844, height: 390 }, { width: 1440, height: 900 }]) {
      const open = await begin(["pairs", "scores", "ranks"][Math.floor(viewport.width / 500)], { colorScheme, viewport });
      await assertAccessible(open);
      assert.equal(await open.evaluate(() => document.documentElement.scrollWidth), viewport.width);
      await open.context().close();
    }
  }
});
