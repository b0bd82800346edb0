// The states of a battle, in the order in which a visitor meets them. Each step goes on from the one before; a step with `fresh`
// begins on a new page.

import { phase } from "../support/browser.mjs";

const TABLES = "Compare bubble sort and quicksort in a table, then write quicksort in Python, in English.";

async function send(page, prompt) {
  await page.locator("#prompt").fill(prompt);
  await page.keyboard.press("Control+Enter");
}

async function asked(page, prompt, state = "ready") {
  await send(page, prompt);
  await phase(page, state);
}

async function mode(page, name, models) {
  await page.locator('[data-part="mode"]').selectOption(name);
  await page.locator('[data-part="model-a"] option').nth(1).waitFor({ state: "attached" });
  for (const [part, value] of Object.entries(models)) await page.locator(`[data-part="${part}"]`).selectOption(value);
}

const press = (page, action) => page.locator(`[data-action="${action}"]:visible`).first().click();

export const BATTLE = [
  { name: "1 consent", fresh: true, agrees: false, step: async (page) => (await send(page, "a question"), page.locator("dialog[open]").waitFor()) },
  { name: "2 empty", fresh: true, step: async () => {} },
  { name: "3 waiting", fresh: true, step: (page) => asked(page, "please say nothing", "writing") },
  { name: "3 stopped before the first word", step: async (page) => (await press(page, "stop"), phase(page, "unanswered")) },
  { name: "4 streaming", fresh: true, step: streaming },
  { name: "5 stopped", step: async (page) => (await press(page, "stop"), phase(page, "ready")) },
  { name: "6 both failed", fresh: true, step: (page) => asked(page, `question ${performance.now()} that fails at first`, "voided") },
  { name: "7 reply breaks off", fresh: true, step: (page) => asked(page, "break off, in English", "voided") },
  { name: "8 ready", fresh: true, step: (page) => asked(page, TABLES) },
  { name: "8 vote confirmation with undo", step: async (page) => (await page.locator('.choice[data-outcome="a"]').click(), phase(page, "confirming")) },
  { name: "8 reasons", step: (page) => page.locator('[data-part="vote-confirmation"] input:visible, .vote-confirmation input:visible').first().check({ force: true }) },
  { name: "8 revealed", step: async (page) => (await press(page, "show"), phase(page, "revealed")) },
  { name: "8 chat after the vote", step: async (page) => (await send(page, "a short question"), page.locator(".turn").nth(1).waitFor(), phase(page, "revealed")) },
  { name: "9 long words", fresh: true, step: (page) => asked(page, `a short question: ${"Donaudampfschifffahrtsgesellschaft".repeat(8)}`) },
  { name: "9 right to left", fresh: true, step: (page) => asked(page, "ما الفرق بين الفرز الفقاعي والفرز السريع؟ قارن بينهما (short).") },
  { name: "9 edit", step: (page) => press(page, "edit") },
  { name: "10 hostile", fresh: true, step: (page) => asked(page, "a hostile question") },
  { name: "11 side by side", fresh: true, step: (page) => mode(page, "named", { "model-a": "heron", "model-b": "crane" }) },
  { name: "11 side by side, ready", step: (page) => asked(page, "a short question") },
  { name: "12 direct", fresh: true, step: async (page) => (await mode(page, "direct", { "model-a": "crane" }), asked(page, "a short question")) },
  { name: "13 one hidden", fresh: true, step: async (page) => (await mode(page, "one_hidden", { "model-a": "crane" }), asked(page, "a short question")) },
];

async function streaming(page) {
  await send(page, "Compare bubble sort and quicksort in a table, slowly, then write quicksort in Python.");
  await page.locator('.reply[data-side="a"] .block').nth(1).waitFor({ state: "attached" });
}
