// What a visitor sees of limits: nothing in ordinary use, a moment of computation under pressure, and when to come back.

import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { ask, phase } from "./support/browser.mjs";
import { startSite } from "./support/site.mjs";

/** The second battle within an hour begins with a proof, the fourth is refused. */
const LIMITS = `
[limits]
turns_per_arena = [0, 3]
proof_above = 0.01
`;

const site = startSite({ fill: (folder) => appendFile(join(folder, "langya.toml"), LIMITS) });

/** Every frame of the page's sockets, as objects. */
function frames(page) {
  const seen = [];
  page.on("websocket", (socket) => {
    for (const event of ["framesent", "framereceived"]) {
      socket.on(event, ({ payload }) => seen.push(JSON.parse(payload)));
    }
  });
  return seen;
}

/** Sends a question, and waits for nothing. */
async function send(page, prompt) {
  await page.getByRole("textbox").fill(prompt);
  await page.keyboard.press("Enter");
}

test("under pressure the page computes by itself, says so, and typing goes on", async () => {
  const page = await site.open();
  const seen = frames(page);
  await page.goto(site.url);
  await ask(page, "the first question");
  await phase(page, "ready");
  assert.ok(!seen.some((frame) => frame.proof), "nobody is asked without pressure");
  await page.getByRole("button", { name: "New battle" }).click();
  await phase(page, "empty");

  await page.evaluate(() => {
    window.said = [];
    const notice = document.querySelector('[data-part="notice"]');
    new MutationObserver(() => window.said.push(notice.textContent)).observe(notice, { childList: true });
  });
  await send(page, "the second question");
  await page.getByRole("textbox").pressSequentially("what I type meanwhile");
  await phase(page, "ready");
  assert.equal(await page.getByRole("textbox").inputValue(), "what I type meanwhile");
  const required = seen.find((frame) => frame.code === "proof_required");
  const sent = seen.filter((frame) => frame.type === "start").at(-1);
  assert.equal(sent.proof.challenge, required.proof.challenge);
  assert.equal(sent.proof.numbers.length, required.proof.puzzles);
  const said = await page.evaluate(() => window.said);
  assert.ok(
    said.some((text) => text.includes("Your browser first does a short computation")),
    said.join(),
  );
  assert.ok(await page.locator('[data-part="notice"]').isHidden(), "it is over");
  page.assertQuiet();

  // A third one uses the arena's hour up, and the next visitor reads when to come back.
  const late = await site.open();
  await late.goto(site.url);
  await send(late, "the third question");
  await phase(late, "ready");
  await late.getByRole("button", { name: "New battle" }).click();
  await send(late, "one more question");
  await late.locator('[data-part="notice"]', { hasText: "You can continue" }).waitFor();
  const told = await late.locator('[data-part="notice"]').textContent();
  assert.match(told, /^You have sent too much in a short time\. You can continue in \d+ minutes\.$/);
  assert.equal(await late.getByRole("textbox").inputValue(), "one more question", "the question is not lost");
  late.assertQuiet();
});

test("a limit that lasts longer than an hour is said to be that of a day", async () => {
  const page = await site.open();
  const refusal = JSON.stringify({ type: "error", code: "rate_limited", message: "", retry_after: 8 * 3600 });
  await page.routeWebSocket(/\/ws\/battle/, (socket) => socket.onMessage(() => socket.send(refusal)));
  await page.goto(site.url);
  await send(page, "a question too many");
  await page.locator('[data-part="notice"]', { hasText: "You have reached today's limit. You can continue in 8 hours." }).waitFor();
  page.assertQuiet();
});

test("in Chinese a wait is said as people say it", async () => {
  const page = await site.open({ locale: "zh-CN" });
  const refusal = JSON.stringify({ type: "error", code: "rate_limited", message: "", retry_after: 40 });
  await page.routeWebSocket(/\/ws\/battle/, (socket) => socket.onMessage(() => socket.send(refusal)));
  await page.goto(site.url);
  await page.locator("main textarea").first().fill("再问一个");
  await page.keyboard.press("Enter");
  await page.locator('[data-part="notice"]', { hasText: "操作过于频繁，请 40 秒后再试。" }).waitFor();
  page.assertQuiet();
});

test("the hardest proof leaves the page free to answer, in a worker and without one", async () => {
  const page = await site.open();
  await page.goto(site.url);
  for (const worker of [true, false]) {
    const result = await page.evaluate(async (withWorker) => {
      const { prove } = await import("/static/js/proof_of_work.js");
      if (!withWorker) window.Worker = undefined;
      let turns = 0;
      const counting = setInterval(() => (turns += 1));
      const proof = { challenge: "challenge", seed: "0123456789abcdef0123456789abcdef", puzzles: 16, bits: 14 };
      const { challenge, numbers } = await prove(proof);
      clearInterval(counting);
      return { challenge, numbers, turns };
    }, worker);
    assert.equal(result.challenge, "challenge");
    assert.equal(result.numbers.length, 16);
    assert.ok(result.turns > 5, `${result.turns} turns of the page's loop, worker: ${worker}`);
  }
  page.assertQuiet();
});
