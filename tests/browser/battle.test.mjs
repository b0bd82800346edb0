// A visitor's battle, by mouse and by keyboard, with everything that may go wrong on the way.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NAMES } from "./support/arena.mjs";
import { ask, phase, vote } from "./support/browser.mjs";
import { PHONE, startSite } from "./support/site.mjs";

const site = startSite();

function choice(page, name) {
  return page.getByRole("button", { name, exact: true });
}

test("a battle by mouse: ask, read, vote, see the names, begin again", async () => {
  const page = await site.arrive();
  await page.getByRole("button", { name: "What is 17 × 23? Show each step." }).click();
  await phase(page, "ready");
  assert.equal(await page.locator(".turn .prompt-text").textContent(), "What is 17 × 23? Show each step.");
  assert.ok(await page.locator('.reply[data-side="a"] .block').count());
  assert.ok(await page.locator('.reply[data-side="b"] .block').count());
  await choice(page, "A is better").click();
  await phase(page, "confirming");
  await page.getByRole("radio", { name: "4" }).check({ force: true });
  await page.getByRole("button", { name: "Show the names" }).click();
  await phase(page, "revealed");
  const shown = await page.locator('.reveal [data-part="name"]').allTextContents();
  assert.deepEqual(shown.sort(), NAMES);
  assert.ok(await page.locator(".reveal").getByText("You found A better.").isVisible());
  await page.getByRole("button", { name: "New battle" }).click();
  await phase(page, "empty");
  assert.equal(await page.locator(".turn").count(), 0);
  page.assertQuiet();
});

test("a battle by keyboard only", async () => {
  const page = await site.arrive();
  const prompt = page.getByRole("textbox", { name: "Your question" });
  await page.waitForFunction(() => document.activeElement.id === "prompt"); // The field has the focus at once,
  await page.locator("body").evaluate(() => document.activeElement.blur()); // and the keyboard finds it again:
  await page.keyboard.press("Control+Home");
  await page.locator(".skip").focus();
  await page.keyboard.press("Enter");
  for (let step = 0; step < 12 && !(await focused(prompt)); step += 1) await page.keyboard.press("Tab");
  assert.ok(await focused(prompt), "Tab leads to the question");
  await page.keyboard.type("a short");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("question");
  assert.equal(await prompt.inputValue(), "a short\nquestion");
  await page.keyboard.press("Enter");
  await phase(page, "ready");
  await page.keyboard.press("3");
  await phase(page, "confirming");
  await page.keyboard.press("Enter"); // on "Show the names"
  await phase(page, "revealed");
  assert.ok(await page.locator(".reveal").getByText("You called it a tie.").isVisible());
  page.assertQuiet();
});

test("arrow keys move within the vote buttons, and the number keys can be switched off", async () => {
  const page = await site.arrive();
  await ask(page, "a short question");
  await phase(page, "ready");
  await page.getByLabel("Keys 1–4 vote").uncheck();
  await page.locator("h2", { hasText: "Which answer" }).click();
  await page.keyboard.press("1");
  await choice(page, "A is better").focus();
  await page.keyboard.press("ArrowRight");
  assert.ok(await focused(choice(page, "B is better")));
  await page.keyboard.press("Enter");
  await phase(page, "confirming");
  await page.keyboard.press("Enter");
  await phase(page, "revealed");
  assert.ok(await page.locator(".reveal").getByText("You found B better.").isVisible());
  page.assertQuiet();
});

test("names are nowhere on the page before the vote", async () => {
  const page = await site.arrive();
  const frames = [];
  page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => frames.push(String(payload))));
  await ask(page, "compare two ways");
  await phase(page, "ready");
  const before = (await page.content()) + frames.join("\n");
  for (const name of NAMES) assert.ok(!before.toLowerCase().includes(name.toLowerCase()), `${name} shows early`);
  await vote(page, "Both are bad");
  const text = await page.locator("main").innerText();
  for (const name of NAMES) assert.ok(text.includes(name), `${name} is missing`);
});

test("a vote opens only when both replies have ended, and stop ends them", async () => {
  const page = await site.arrive();
  await ask(page, "answer slowly");
  assert.ok(await choice(page, "A is better").isDisabled());
  await page.keyboard.press("1");
  assert.equal(await page.locator("main").getAttribute("data-phase"), "writing");
  await page.locator('.reply[data-side="a"] .block').first().waitFor();
  await page.getByRole("button", { name: "Stop" }).press("Enter");
  await phase(page, "ready");
  assert.ok(await focused(page.locator(".turn")), "the keyboard goes on at the replies");
  assert.ok(await choice(page, "A is better").isEnabled());
  const text = await page.locator(".replies").innerText();
  assert.ok(!text.includes("the original paper") && !text.includes("return a"), "both replies ended early");
  await page.getByRole("status").filter({ hasText: /^Both replies have ended\. You can vote now\.$/ }).waitFor();
  page.assertQuiet();
});

test("a second turn goes on with the battle, and both sides can regenerate", async () => {
  const page = await site.arrive();
  await ask(page, "a short question");
  await phase(page, "ready");
  await ask(page, "another short question");
  await phase(page, "ready");
  assert.equal(await page.locator(".turn").count(), 2);
  await page.getByRole("button", { name: "Regenerate both" }).click();
  await phase(page, "ready");
  assert.ok(await page.locator(".turn:last-child").evaluate((turn) => turn === document.activeElement), "the keyboard goes on at the replies");
  assert.equal(await page.locator(".turn").count(), 2);
  assert.equal(await page.locator(".turn:last-child .prompt-text").textContent(), "another short question");
  page.assertQuiet();
});

test("hostile Markdown does nothing", async () => {
  const page = await site.arrive();
  await ask(page, "be hostile");
  await phase(page, "ready");
  const replies = page.locator(".reply-body");
  assert.equal(await replies.locator("script, img, svg, iframe, style, form, input, [style], [onerror]").count(), 0);
  for (const link of await replies.locator("a[href]").all()) {
    assert.match(await link.getAttribute("href"), /^https?:/);
    assert.match(await link.getAttribute("rel"), /noopener/);
  }
  // A link whose address is refused does not look like one.
  const colours = await replies.locator("a:not([href])").evaluateAll((all) => all.map((one) => [one, one.parentElement].map((at) => getComputedStyle(at).color)));
  assert.ok(colours.length > 0 && colours.every(([own, around]) => own === around), JSON.stringify(colours));
  assert.ok(await page.getByText("<script>alert(1)</script>").first().isVisible());
  page.assertQuiet();
});

test("a reload resumes the battle with its questions and replies", async () => {
  const page = await site.arrive();
  await ask(page, "a short question");
  await phase(page, "ready");
  await ask(page, "compare two ways");
  await phase(page, "ready");
  const before = await page.locator(".turns").innerText();
  await page.reload();
  await phase(page, "ready");
  // Blocks are written a few milliseconds a frame, so some may come after the phase.
  await page.waitForFunction((text) => document.querySelector(".turns").innerText === text, before);
  await vote(page, "Tie");
  page.assertQuiet();
});

test("a dropped connection is taken up again without a lost or doubled block", async () => {
  const page = await site.open();
  const sockets = [];
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    sockets.push([socket, socket.connectToServer()]);
  });
  await page.goto(site.url);
  await ask(page, "answer slowly");
  await page.locator('.reply[data-side="b"] .block').nth(1).waitFor();
  for (const end of sockets[0]) await end.close({ code: 4000, reason: "dropped by the test" });
  await page.getByText("The connection was lost. Trying again…").waitFor();
  await page.getByText("The connection was lost. Trying again…").waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Stop" }).click();
  await phase(page, "ready");
  assert.equal(sockets.length, 2);
  const starts = await page.locator('.reply[data-side="a"]').innerText();
  assert.equal(starts.split("Both sort by comparing").length + starts.split("简要比较").length, 3);
  page.assertQuiet();
});

test("replies that were stopped while nobody could read them are marked", async () => {
  const page = await site.open();
  const sockets = [];
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    sockets.push([socket, socket.connectToServer()]);
    // Away for longer than the arena waits.
    if (sockets.length > 1 && sockets.length < 5) for (const end of sockets.at(-1)) end.close({ code: 4000, reason: "refused" });
  });
  await page.goto(site.url);
  await ask(page, "answer slowly");
  await page.locator('.reply[data-side="b"] .block').nth(1).waitFor();
  for (const end of sockets[0]) await end.close({ code: 4000, reason: "dropped by the test" });
  await phase(page, "ready");
  await page.getByText("Replies stop when nobody is connected").waitFor();
  await page.getByRole("button", { name: "Regenerate both" }).click();
  await page.getByText("Replies stop when nobody is connected").waitFor({ state: "hidden" });
});

test("a server that says nothing is left for another connection", async () => {
  const page = await site.open();
  await page.clock.install();
  let connections = 0;
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    connections += 1;
    if (connections > 1) socket.connectToServer();
  });
  await page.goto(site.url);
  await page.getByRole("textbox", { name: "Your question" }).fill("a short question");
  await page.keyboard.press("Enter");
  await phase(page, "asking");
  await page.clock.fastForward(7000);
  await page.getByText("The connection was lost. Trying again…").waitFor();
  await page.clock.fastForward(1000);
  await phase(page, "ready");
  await vote(page, "Tie");
  assert.equal(connections, 2);
  page.assertQuiet();
});

test("an empty question is answered with a plain sentence", async () => {
  const page = await site.arrive();
  await page.getByRole("button", { name: "Send" }).click();
  assert.equal(await page.getByRole("alert").textContent(), "Write a question first.");
  assert.equal(await page.locator("main").getAttribute("data-phase"), "empty");
  page.assertQuiet();
});

test("a question that is too long stays in the field, with the limit beside it, and is not sent", async () => {
  const page = await site.arrive();
  const sent = [];
  page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => sent.push(String(payload))));
  const prompt = "too long ".repeat(3_600); // 32,400 bytes, and the limit is 32,000
  await page.getByRole("textbox", { name: "Your question" }).fill(prompt);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("alert").filter({ hasText: "This question is too long: about 32,400 characters, and at most about 32,000 of this kind can be sent." }).waitFor();
  assert.equal(await page.getByRole("textbox", { name: "Your question" }).inputValue(), prompt);
  await page.getByRole("textbox", { name: "Your question" }).fill("太长了".repeat(6_667)); // 60,003 bytes
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("alert").filter({ hasText: "about 20,100 characters, and at most about 10,600 of this kind" }).waitFor();
  assert.deepEqual(sent, []);
  page.assertQuiet();
});

test("when both sides fail, both columns say so, the question stays and can be asked again", async () => {
  const page = await site.arrive();
  await ask(page, "a short question that fails at first");
  await phase(page, "voided");
  const states = page.locator('.turn [data-part="state"]');
  assert.deepEqual(await states.allTextContents(), ["No complete answer", "No complete answer"]);
  assert.equal(await page.locator(".turn .prompt-text").textContent(), "a short question that fails at first");
  assert.match(await page.getByRole("alert").textContent(), /ask the same two again/);
  const text = await page.locator("body").innerText();
  for (const name of NAMES) assert.ok(!text.includes(name), `${name} shows without a vote`);
  await page.getByRole("button", { name: "Ask the same two models again" }).click();
  await phase(page, "ready");
  assert.equal(await page.locator(".turn .prompt-text").textContent(), "a short question that fails at first");
  assert.equal(await page.locator(".turn").count(), 1);
  await vote(page, "Tie");
  page.assertQuiet();
});

test("a follow-up that fails stays as a draft, and the models are asked the first question again", async () => {
  const page = await site.arrive();
  await ask(page, "a short question to go on from");
  await phase(page, "ready");
  await ask(page, "a short follow-up that fails at first");
  await phase(page, "voided");
  await page.getByRole("button", { name: "Ask the same two models again" }).click();
  await phase(page, "ready");
  assert.deepEqual(await page.locator(".turn .prompt-text").allTextContents(), ["a short question to go on from"]);
  assert.equal(await page.locator("#prompt").inputValue(), "a short follow-up that fails at first");
  page.assertQuiet();
});

test("a reply that breaks off ends both columns in the same words", async () => {
  const page = await site.arrive();
  await ask(page, "break off, slowly");
  await phase(page, "voided");
  const states = page.locator('.turn [data-part="state"]');
  assert.deepEqual(await states.allTextContents(), ["No complete answer", "No complete answer"]);
  assert.ok(await page.getByRole("button", { name: "Ask the same two models again" }).isVisible());
  page.assertQuiet();
});

/** A page whose battle has just lost its vote. `page.later()` sends the end of side B, with this text. */
async function failingPage(late) {
  const page = await site.open();
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((text) => {
      socket.send(text);
      const { code, battle } = JSON.parse(text);
      if (code !== "voided") return;
      page.later = () => {
        socket.send(JSON.stringify({ type: "blocks", turn: 1, seq: 99, b: [[40, 0, `<p>${late}</p>`]] }));
        socket.send(JSON.stringify({ type: "done", battle, turn: 1, side: "b", seq: 100 }));
      };
    });
  });
  await page.goto(site.url);
  await ask(page, "break off, slowly");
  await phase(page, "voided");
  return page;
}

test("where one side has failed the other goes on to its end, and there is no vote", async () => {
  const page = await failingPage("the rest of B");
  const states = () => page.locator('.turn [data-part="state"]').allTextContents();
  assert.deepEqual(await states(), ["No complete answer", "No complete answer"]);
  page.later();
  await page.locator('.reply[data-side="b"]', { hasText: "the rest of B" }).waitFor();
  assert.deepEqual(await states(), ["No complete answer", "Ended"]);
  assert.equal(await page.locator("main").getAttribute("data-phase"), "voided");
  assert.equal(await page.locator(".vote-buttons").isVisible(), false);
  page.assertQuiet();
});

test("text that is on its way when a battle is left changes nothing any more", async () => {
  const page = await failingPage("too late to count");
  await page.getByRole("button", { name: "New battle" }).click();
  await phase(page, "empty");
  page.later();
  // One turn of the page's own loop and a frame, in which the late one would have been shown.
  await page.evaluate(() => new Promise((shown) => setTimeout(() => requestAnimationFrame(shown))));
  assert.equal(await page.getByText("too late to count").count(), 0);
  assert.equal(await page.locator("main").getAttribute("data-phase"), "empty");
});

test("the question of a battle that takes no vote comes back into its field with a reload", async () => {
  const page = await site.arrive();
  const field = page.getByRole("textbox", { name: "Your question" });
  await ask(page, "a short question that fails at first, and comes back");
  await phase(page, "voided");
  await page.reload();
  assert.equal(await field.inputValue(), "a short question that fails at first, and comes back");
  await field.press("Enter");
  await phase(page, "ready");
  assert.equal(await field.inputValue(), "");
  await page.reload();
  await phase(page, "ready");
  assert.equal(await field.inputValue(), "");
  page.assertQuiet();
});

test("a stop before the first word opens no vote, says so, and the question is back in its field", async () => {
  const page = await site.arrive();
  const field = page.getByRole("textbox", { name: "Your question" });
  await ask(page, "say nothing yet");
  await page.getByRole("button", { name: "Stop" }).click();
  for (const visit of ["first", "again"]) {
    await phase(page, "unanswered");
    await page.getByRole("alert").filter({ hasText: "there is nothing to vote on" }).waitFor();
    assert.equal(await page.locator(".vote-buttons").isVisible(), false, visit);
    assert.equal(await field.inputValue(), "say nothing yet", visit);
    assert.equal(await page.locator(".turn .prompt-text").textContent(), "say nothing yet", visit);
    if (visit === "first") await page.reload();
  }
  await field.fill("a short question");
  await field.press("Enter");
  await phase(page, "ready");
  assert.deepEqual(await page.locator(".turn .prompt-text").allTextContents(), ["a short question"]);
  await vote(page, "Tie");
  page.assertQuiet();
});

test("reloads leave a question that was stopped before the first word in its field once, before what was written meanwhile", async () => {
  const page = await site.arrive();
  const field = page.getByRole("textbox", { name: "Your question" });
  await ask(page, "say nothing yet");
  await field.fill("what I write meanwhile");
  await page.getByRole("button", { name: "Stop" }).click();
  for (const visit of ["first", "again", "and again"]) {
    await phase(page, "unanswered");
    assert.equal(await field.inputValue(), "say nothing yet\n\nwhat I write meanwhile", visit);
    await page.reload();
  }
  page.assertQuiet();
});

test("a battle that was left for too long shows its replies, and its question can be asked again", async () => {
  const page = await site.open();
  let isOver = false;
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((text) => {
      const { type, battle } = JSON.parse(text);
      const ends = isOver && type === "ready";
      if (ends) isOver = false;
      socket.send(ends ? JSON.stringify({ type: "error", code: "battle_over", message: "left", battle }) : text);
    });
  });
  await page.goto(site.url);
  await ask(page, "a short question");
  await phase(page, "ready");
  const before = await page.locator(".replies").innerText();
  isOver = true;
  await page.reload();
  await phase(page, "voided");
  await page.getByRole("alert").filter({ hasText: "This battle is over." }).waitFor();
  await page.waitForFunction((text) => document.querySelector(".replies").innerText === text, before);
  await page.getByRole("button", { name: "Ask the same two models again" }).click();
  await phase(page, "ready");
  assert.deepEqual(await page.locator(".turn .prompt-text").allTextContents(), ["a short question"]);
  page.assertQuiet();
});

test("a draft survives a reload, and goes when it is sent", async () => {
  const page = await site.arrive();
  const field = page.getByRole("textbox", { name: "Your question" });
  await field.fill("a short question in two\nlines");
  await page.reload();
  assert.equal(await field.inputValue(), "a short question in two\nlines");
  await field.press("Enter");
  await phase(page, "ready");
  await page.reload();
  await phase(page, "ready");
  assert.equal(await field.inputValue(), "");
  page.assertQuiet();
});

test("what is written before the scripts have come stays in the field", async () => {
  const page = await site.open();
  let come;
  const coming = new Promise((resolve) => (come = resolve));
  await page.route(/\/battle[^/]*\.js/, async (route) => {
    await coming;
    await route.continue();
  });
  await page.goto(site.url, { waitUntil: "commit" });
  const field = page.getByRole("textbox", { name: "Your question" });
  await field.fill("a short question");
  come();
  await page.waitForFunction(() => !document.querySelector('[data-part="composer"] button[type="submit"]').disabled);
  assert.equal(await field.inputValue(), "a short question");
  await field.press("Enter");
  await phase(page, "ready");
  page.assertQuiet();
});

test("on a phone one reply shows at a time and nothing scrolls sideways", async () => {
  const page = await site.arrive("", PHONE);
  await ask(page, "compare two ways");
  await phase(page, "ready");
  const [a, b] = ["a", "b"].map((side) => page.locator(`.reply[data-side="${side}"]`));
  assert.ok((await a.isVisible()) && !(await b.isVisible()));
  await page.getByRole("button", { name: "Model B" }).click();
  assert.ok(!(await a.isVisible()) && (await b.isVisible()));
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  page.assertQuiet();
});

function focused(locator) {
  return locator.evaluate((element) => element === document.activeElement);
}

test("a vote that does not count is shown plainly, in both languages", async () => {
  for (const [locale, sentence] of [
    ["en-GB", "Your vote is kept, but it does not count in the ratings"],
    ["zh-CN", "投票已保存，但不计入评分"],
  ]) {
    const page = await site.arrive("", { locale });
    await page.getByRole("textbox").first().fill("Are you ChatGPT?");
    await page.keyboard.press("Enter");
    await phase(page, "ready");
    await vote(page, "3");
    const rule = page.locator('.reveal [data-part="rule"]');
    assert.ok(await rule.isVisible());
    assert.ok((await rule.textContent()).startsWith(sentence), await rule.textContent());
    page.assertQuiet();
  }
});

test("a browser that stores nothing reads once that a lost connection ends the battle", async () => {
  const said = "Your browser stores no data for this site, so a battle ends when the connection is lost, and each connection counts as a new visitor.";
  for (const stores of [true, false]) {
    const page = await site.open();
    const refuse = () => Object.defineProperty(window, "localStorage", { get: () => { throw new DOMException("refused", "SecurityError"); } });
    if (!stores) await page.addInitScript(refuse);
    await page.goto(site.url);
    await page.locator('.composer button[type="submit"]:enabled').waitFor();
    assert.equal(await page.getByText(said).isVisible(), !stores);
    await ask(page, "a short question");
    await phase(page, "ready");
    assert.equal(await page.getByText(said).isVisible(), false);
  }
});
