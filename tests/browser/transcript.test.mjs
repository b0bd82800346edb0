// What a screen reader is given of a battle: every step as a transcript of the accessibility tree, in order and with names that say enough.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, phase } from "./support/browser.mjs";
import { startSite } from "./support/site.mjs";

const site = startSite({ options: { reducedMotion: "reduce" } });

/** The landmarks, headings, groups and controls of the page's main part, one a line, without what is in the replies. */
async function transcript(page) {
  const all = (await page.locator("main").ariaSnapshot()).split("\n").map((line) => line.replace(/^\s*- /, "").replaceAll(/^'|'?:?$/g, ""));
  const told = /^(heading|region|group|button|checkbox|radio|textbox|link|status|alert)/;
  return all.filter((line) => told.test(line)).map((line) => line.replace(/: Copy$/, ""));
}

const TURN = ['heading "Conversation" [level=1]', 'heading "Turn 1" [level=2]'];
const REPLIES = (a, b) => [`heading "${a}" [level=3]`, 'button "Copy the reply of A"', `heading "${b}" [level=3]`, 'button "Copy the reply of B"'];
const REASONS = ["Useful", "Complete", "Correct", "Clear", "Wrong", "Shallow", "Too long", "Ignored instructions"].map((reason) => `checkbox "${reason}"`);
const COMPOSER = ['textbox "Your question"', 'button "Send"'];

test("a battle reads well from the question to the names", async () => {
  const page = await site.arrive("/");
  await ask(page, "a short question");
  await phase(page, "ready");
  assert.deepEqual(await transcript(page), [
    ...TURN,
    'button "Edit"',
    ...REPLIES("Model A", "Model B"),
    'region "Which answer is better?"',
    'heading "Which answer is better?" [level=2]',
    'group "Which answer is better?"',
    ...["A is better", "B is better", "Tie", "Both are bad"].map((name) => `button "${name}"`),
    'checkbox "Keys 1–4 vote" [checked]',
    ...COMPOSER,
    'button "Regenerate both"',
    'button "New battle"',
    "status: Both replies have ended. You can vote now.",
  ]);

  await page.getByRole("button", { name: "Tie" }).click();
  await phase(page, "confirming");
  const confirming = await transcript(page);
  assert.deepEqual(confirming.slice(0, 11), [...TURN, ...REPLIES("Model A", "Model B"), 'region "You called it a tie."', 'group "You called it a tie."', 'heading "You called it a tie." [level=2]', 'button "Undo"', 'button "Show the names"']);
  assert.deepEqual(confirming.slice(11, 29), ['group "What describes A? (optional)"', ...REASONS, 'group "What describes B? (optional)"', ...REASONS]);
  assert.deepEqual(confirming.slice(29, 35), ['group "How good was it overall? (optional)"', 'radio "1, poor"', ...[2, 3, 4].map((n) => `radio "${n}"`), 'radio "5, excellent"']);

  await page.getByRole("button", { name: "Show the names" }).click();
  await phase(page, "revealed");
  const revealed = await transcript(page);
  const names = revealed.filter((line) => /^heading .*\[level=3\]$/.test(line));
  assert.deepEqual(names.slice(2).map((line) => line.replace(/"[AB] /, '"')), names.slice(0, 2), "the names stand above the replies and below them");
  assert.ok(revealed.includes('region "The two models"') && !revealed.some((line) => line.includes("Which answer")), revealed.join("\n"));
  assert.match(revealed.at(-1), /^status: Your vote is saved. A was (Crane, B was Heron|Heron, B was Crane)\.$/);
  page.assertQuiet();
});
