// A leaderboard of a handful of votes says at a glance that it is none yet.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible } from "./support/axe.mjs";
import { ask, phase, vote } from "./support/browser.mjs";
import { startSite } from "./support/site.mjs";
import { importVotes, votesOn } from "./support/votes.mjs";

/** Crane and Heron have each won against the other; egret and ibis have only won, swan has only lost. */
const VOTES = [
  ["crane", "heron"],
  ["crane", "heron"],
  ["heron", "crane"],
  ["egret", "crane"],
  ["ibis", "heron"],
  ["heron", "swan"],
];

const site = startSite({ fill: (folder, langya) => importVotes(folder, langya, votesOn(VOTES, "model_a")) });

test("models without a bound have no rank and stand below those that have one", async () => {
  const page = await site.arrive("/leaderboard");
  const rows = await page.locator("tbody tr").evaluateAll((all) =>
    all.map((row) => [".model-name", ".rank", ".rating"].map((cell) => row.querySelector(cell).firstChild.textContent.trim())),
  );
  assert.deepEqual(rows.slice(0, 2).map(([name]) => name), ["Crane", "Heron"]);
  assert.deepEqual(rows.slice(2).map(([name, rank]) => [name, rank]), [["egret", "–"], ["ibis", "–"], ["swan", "–"]]);
  assert.match(rows[2][2], /^≥ \d+$/);
  assert.match(rows[4][2], /^≤ \d+$/);
  page.assertQuiet();
});

test("a banner says how many votes there are and how many it takes, and moves with each vote", async () => {
  const page = await site.arrive("/leaderboard");
  await page.getByText("6 votes so far: too early to rank").waitFor();
  // Five models with 30 battles each; a vote is a battle of two.
  assert.equal(await page.getByRole("progressbar", { name: "6 / 75" }).getAttribute("max"), "75");
  const battle = await site.arrive("/");
  await ask(battle, "a short question");
  await phase(battle, "ready");
  await vote(battle, "Tie");
  await page.getByText("7 votes so far: too early to rank").waitFor();
  await page.getByRole("progressbar", { name: "7 / 75" }).waitFor();
  page.assertQuiet();
});

test("each cause has one note, with the names of the models, in the visitor's language", async () => {
  for (const [locale, won, names] of [["en-GB", /won every vote/, '"egret", "ibis"'], ["zh-CN", /全胜/, "“egret”、“ibis”"]]) {
    const page = await site.arrive("/leaderboard", { locale });
    await page.locator(".notes > summary").click();
    const notes = await page.locator(".note:visible").allTextContents();
    assert.equal(new Set(notes).size, notes.length, notes.join("\n"));
    const ofWinners = notes.filter((note) => won.test(note));
    assert.equal(ofWinners.length, 1, notes.join("\n"));
    assert.ok(ofWinners[0].includes(names), ofWinners[0]);
    if (locale === "zh-CN") for (const note of notes) assert.match(note, /[\u4e00-\u9fff]{8}/);
    for (const note of notes) assert.ok(!/\b(crane|heron)\b/.test(note), `an id: ${note}`);
    await assertAccessible(page, `leaderboard of few votes, ${locale}`);
    page.assertQuiet();
  }
});

test("the leaderboard fits every screen where a visitor's own style makes its text twice as large", async () => {
  for (const locale of ["en-GB", "zh-CN"]) {
    const page = await site.arrive("/leaderboard", { locale });
    await page.locator("tbody tr").first().waitFor();
    for (const width of [390, 776, 1024, 1280, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, locale);
    }
    await page.context().close();
  }
});
