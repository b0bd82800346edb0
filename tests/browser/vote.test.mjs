// From the choice to the names: undo, reasons, and no vote lost on the way.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, phase, vote, votesOf } from "./support/browser.mjs";
import { playBattle } from "./support/play.mjs";
import { PHONE, startSite } from "./support/site.mjs";

const site = startSite();

/** A page with a battle that waits for its vote; with `hurry`, its clock stands still. */
async function readyPage(options) {
  const page = await site.open(options);
  const sent = votesOf(page);
  if (options?.hurry) await page.clock.install();
  await page.goto(site.url);
  await ask(page, "a short question");
  await phase(page, "ready");
  if (options?.hurry) await page.clock.pauseAt(new Date(Date.now() + 3_600_000));
  return { page, sent };
}

function choose(page, name) {
  return page.getByRole("button", { name, exact: true }).click();
}

function kept(page) {
  return page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("langya-vote")).length);
}

test("a choice is sent after two seconds, and until then Escape and Undo take it back", async () => {
  const { page, sent } = await readyPage({ hurry: true });
  const undo = [() => page.keyboard.press("Escape"), () => page.getByRole("button", { name: "Undo" }).click()];
  for (const takeBack of undo) {
    await choose(page, "A is better");
    await phase(page, "confirming");
    await page.clock.runFor(1_900);
    await takeBack();
    await phase(page, "ready");
    await page.clock.runFor(10_000);
    assert.equal(await page.locator("main").getAttribute("data-phase"), "ready");
    const focused = await page.evaluate(() => document.activeElement.dataset.outcome);
    assert.equal(focused, "a", "the keyboard goes on where it was");
  }
  assert.deepEqual(sent, []);
  await choose(page, "Tie");
  await phase(page, "confirming");
  await page.clock.runFor(2_000);
  await phase(page, "revealed");
  assert.deepEqual(sent.map(({ type, turn, outcome }) => [type, turn, outcome]), [["vote", 1, "tie"]]);
  assert.match(sent[0].answer, /^[0-9a-f]{16}$/, "the vote is about the replies that were shown");
  assert.equal(await kept(page), 0);
  page.assertQuiet();
});

test("reasons and satisfaction stop the clock and go with the vote, before any name is shown", async () => {
  const { page, sent } = await readyPage({ hurry: true });
  await choose(page, "B is better");
  const [a, b] = ["What describes A?", "What describes B?"].map((name) => page.getByRole("group", { name }));
  await a.getByRole("checkbox", { name: "Too long" }).check({ force: true });
  await b.getByRole("checkbox", { name: "Useful" }).check({ force: true });
  await b.getByRole("checkbox", { name: "Clear" }).check({ force: true });
  await page.getByRole("radio", { name: "5, excellent" }).check({ force: true });
  await page.clock.runFor(60_000);
  assert.equal(await page.locator("main").getAttribute("data-phase"), "confirming");
  assert.ok(await page.getByText("Take your time").isVisible());
  assert.deepEqual(sent, []);
  await page.getByRole("button", { name: "Show the names" }).click();
  await phase(page, "revealed");
  const [{ outcome, satisfaction, reasons }] = sent;
  assert.deepEqual({ outcome, satisfaction, reasons }, { outcome: "b", satisfaction: 5, reasons: { a: ["too_long"], b: ["useful", "clear"] } });

  // The next battle begins without them.
  await page.getByRole("button", { name: "New battle" }).click();
  assert.equal(await page.locator(".vote-confirmation input:checked:not([data-part='wait'])").count(), 0);
  page.assertQuiet();
});

test("a vote that nobody touches any more is sent after two minutes, not lost", async () => {
  const { page, sent } = await readyPage({ hurry: true });
  await choose(page, "A is better");
  await page.getByRole("checkbox", { name: "Wrong" }).first().check({ force: true });
  await page.clock.runFor(119_000);
  assert.deepEqual(sent, []);
  await page.clock.runFor(1_000);
  await phase(page, "revealed");
  assert.deepEqual(sent.map(({ reasons }) => reasons), [{ a: ["wrong"], b: [] }]);
});

test("who wants to be asked each time is asked each time", async () => {
  const { page, sent } = await readyPage({ hurry: true });
  await choose(page, "A is better");
  await page.getByRole("checkbox", { name: "Always wait" }).check();
  await page.keyboard.press("Escape");
  await phase(page, "ready");
  await choose(page, "A is better");
  await page.clock.runFor(60_000);
  assert.equal(await page.locator("main").getAttribute("data-phase"), "confirming");
  await page.getByRole("checkbox", { name: "Always wait" }).uncheck();
  await page.clock.runFor(2_000);
  await phase(page, "revealed");
  assert.equal(sent.length, 1);
});

test("the names of an excluded vote stand beside the sentence that it changes no rating", async () => {
  for (const [prompt, excluded] of [["Are you Gemini?", true], ["a short question", false]]) {
    const page = await site.arrive();
    await ask(page, prompt);
    await phase(page, "ready");
    await vote(page, "A is better");
    assert.equal(await page.getByText("This vote does not change any rating.").isVisible(), excluded, prompt);
    assert.equal(await page.getByText("Elo is a score that each vote moves").isVisible(), !excluded, prompt);
    page.assertQuiet();
  }
});

test("a reload sends the vote that is not sent yet, and shows the names", async () => {
  const { page } = await readyPage();
  await choose(page, "B is better");
  await page.getByRole("checkbox", { name: "Shallow" }).first().check({ force: true });
  await page.reload();
  await phase(page, "revealed");
  assert.ok(await page.locator(".reveal").getByText("You found B better.").isVisible());
  assert.equal(await kept(page), 0);
  page.assertQuiet();
});

test("a page that is left sends its vote at once", async () => {
  const { page } = await readyPage();
  await choose(page, "B is better");
  await page.evaluate(() => {
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (frame) {
      sessionStorage.setItem("sent last", frame);
      return send.call(this, frame);
    };
  });
  await page.getByRole("link", { name: "Leaderboard" }).click();
  await page.waitForURL(/leaderboard/);
  const { type, outcome } = JSON.parse(await page.evaluate(() => sessionStorage.getItem("sent last")));
  assert.deepEqual([type, outcome], ["vote", "b"]);
});

for (const [prompt, said] of [
  ["a short question", "Your vote on an earlier battle was sent and counted."],
  ["Are you Gemini?", "Your vote on an earlier battle was sent. It is kept but not rated."],
]) {
  test(`a vote that its page could not send any more is sent by the next one, which says so: ${prompt}`, () => checkLateVote(prompt, said));
}

async function checkLateVote(prompt, said) {
  const page = await site.open();
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((frame) => JSON.parse(frame).type !== "vote" && server.send(frame));
  });
  await page.goto(site.url);
  await ask(page, prompt);
  await phase(page, "ready");
  await choose(page, "Tie");
  await page.getByRole("link", { name: "Leaderboard" }).click();
  await page.waitForURL(/leaderboard/);
  assert.equal(await kept(page), 1);
  await page.close();

  const next = await page.context().newPage();
  const answered = new Promise((resolve) => {
    next.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        const frame = JSON.parse(String(payload));
        if (frame.type === "revealed") resolve(frame);
      }),
    );
  });
  await next.goto(site.url);
  assert.equal((await answered).outcome, "tie");
  await next.waitForFunction(() => !Object.keys(localStorage).some((key) => key.startsWith("langya-vote")));
  await next.getByRole("alert").filter({ hasText: said }).waitFor();
  assert.equal(await next.locator("main").getAttribute("data-phase"), "empty", "this page has a battle of its own to begin");
}

test("a kept vote of somebody who has signed out since is said not to count, and why", async () => {
  const former = await site.arrive("/about");
  const battle = await playBattle(former, "a short question");
  const page = await site.arrive("/about");
  const vote = { frame: { type: "vote", battle, outcome: "tie" }, judged: null, due: 0 };
  await page.evaluate(([battle, vote]) => localStorage.setItem(`langya-vote ${battle}`, vote), [battle, JSON.stringify(vote)]);
  await page.goto(site.url);
  const said = "A vote on an earlier battle was not counted. The person who cast it has since signed out or deleted their data.";
  await page.getByRole("alert").filter({ hasText: said }).waitFor();
  assert.equal(await kept(page), 0);
});

test("Back leads to the names of a vote and to what was written below them, and a new battle begins without either", async () => {
  const { page } = await readyPage();
  await vote(page, "Tie");
  const field = page.getByRole("textbox", { name: "Your question" });
  const names = () => page.locator('.reveal [data-part="name"]').allTextContents();
  const named = await names();
  await field.fill("a private draft");
  await page.getByRole("link", { name: "See the leaderboard" }).click();
  await page.waitForURL(/leaderboard/);
  await page.locator('.sections a[href="/"]').click();
  await page.locator('.composer button[type="submit"]:enabled').waitFor();
  assert.equal(await page.locator("main").getAttribute("data-phase"), "empty");
  assert.equal(await field.inputValue(), "", "the draft belongs to the battle in which it was written");

  await page.goBack();
  await page.goBack();
  await phase(page, "revealed");
  assert.deepEqual(await names(), named);
  assert.ok(await page.locator(".reveal").getByText("You called it a tie.").isVisible());
  assert.deepEqual(await page.locator(".turn .prompt-text").allTextContents(), ["a short question"]);
  assert.equal(await field.inputValue(), "a private draft");

  await page.getByRole("button", { name: "New battle" }).click();
  await phase(page, "empty");
  assert.equal(await page.locator('[data-part="status"]').textContent(), "", "nothing is said of the battle that was left");
  await page.reload();
  await page.locator('.composer button[type="submit"]:enabled').waitFor();
  assert.equal(await page.locator("main").getAttribute("data-phase"), "empty");
  page.assertQuiet();
});

test("a link to the battle page begins another battle also from the page that shows the names", async () => {
  const { page } = await readyPage();
  await vote(page, "Tie");
  await Promise.all([page.waitForEvent("load"), page.locator('.sections a[href="/"]').click()]);
  await page.locator('.composer button[type="submit"]:enabled').waitFor();
  assert.equal(await page.locator("main").getAttribute("data-phase"), "empty");
});

test("a link that is followed before the vote is sent leads to a page that knows of the vote", async () => {
  const { page, sent } = await readyPage();
  await choose(page, "Tie");
  await page.locator(".more > summary").click();
  await page.locator('.more a[href="/history"]').click();
  await page.waitForURL(/history/);
  assert.equal(sent.length, 1);
  assert.equal(await page.getByText("No vote, so the names stay hidden").count(), 0);
  assert.equal(await page.locator("main li, main article").first().isVisible(), true);
  assert.equal(await kept(page), 0);
});

/** A page whose votes the arena refuses with this code. */
async function refusingPage(code) {
  const page = await site.open();
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((frame) => socket.send(frame));
    socket.onMessage((frame) => {
      const { type, battle } = JSON.parse(frame);
      if (type === "vote") socket.send(JSON.stringify({ type: "error", code, message: "refused by the test", battle }));
      else server.send(frame);
    });
  });
  await page.clock.install();
  await page.goto(site.url);
  await ask(page, "a short question");
  await phase(page, "ready");
  await choose(page, "A is better");
  return page;
}

test("a vote that cannot be taken now is kept while a link is followed", async () => {
  const page = await refusingPage("rate_limited");
  await page.locator('a[href="/leaderboard"]').first().click();
  await page.waitForURL(/leaderboard/);
  assert.equal(await kept(page), 1);
});

test("a vote that is refused for good keeps the visitor on the page that says why", async () => {
  const page = await refusingPage("not_ready");
  await page.locator('a[href="/leaderboard"]').first().click();
  await page.getByRole("alert").filter({ hasText: /./ }).waitFor();
  await page.clock.runFor(2_000);
  assert.equal(new URL(page.url()).pathname, "/");
  assert.equal(await kept(page), 0);
});

test("a page that is hidden keeps the vote in case it is ended, and can still take it back", async () => {
  const { page, sent } = await readyPage();
  await choose(page, "A is better");
  const hide = (hidden) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "hidden", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await hide(true);
  assert.equal(await kept(page), 1);
  await hide(false);
  assert.equal(await kept(page), 0);
  await page.keyboard.press("Escape");
  await phase(page, "ready");
  assert.deepEqual(sent, []);
});

test("a connection that is lost while the vote is not sent yet costs nothing", async () => {
  const page = await site.open();
  const sockets = [];
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    sockets.push([socket, socket.connectToServer()]);
  });
  await page.goto(site.url);
  await ask(page, "a short question");
  await phase(page, "ready");
  await choose(page, "A is better");
  for (const end of sockets[0]) await end.close({ code: 4000, reason: "dropped by the test" });
  await page.getByText("The connection was lost. Trying again…").waitFor({ state: "visible" });
  await page.getByRole("button", { name: "Show the names" }).click();
  await phase(page, "revealed");
  assert.ok(await page.locator(".reveal").getByText("You found A better.").isVisible());
});

test("the second click of a double click does not ask for the names", async () => {
  const { page, sent } = await readyPage({ hurry: true });
  await choose(page, "A is better");
  await page.locator('[data-action="show"]').dispatchEvent("click", { detail: 2 });
  assert.equal(await page.locator("main").getAttribute("data-phase"), "confirming");
  assert.deepEqual(sent, []);
});

test("on a touch screen the choices rest before they can be tapped", async () => {
  const page = await site.open(PHONE);
  await page.clock.install();
  await page.goto(site.url);
  await page.clock.pauseAt(new Date(Date.now() + 3_600_000));
  await ask(page, "a short question");
  await phase(page, "ready");
  const choice = page.getByRole("button", { name: "A is better", exact: true });
  assert.ok(await choice.isDisabled());
  await page.clock.runFor(499);
  assert.ok(await choice.isDisabled());
  await page.clock.runFor(1);
  assert.ok(await choice.isEnabled());
});

test("on a touch screen a second tap at the same place chooses no reason", async () => {
  const { page, sent } = await readyPage({ ...PHONE, hurry: true });
  await page.clock.runFor(500);
  for (const name of ["A is better", "Tie", "Both are bad"]) {
    const box = await page.getByRole("button", { name, exact: true }).boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.touchscreen.tap(x, y);
    await phase(page, "confirming");
    await page.touchscreen.tap(x, y);
    assert.equal(await page.locator('[data-part="vote-confirmation"] fieldset input:checked').count(), 0, name);
    assert.equal(await page.locator('[data-part="vote-confirmation"]').getAttribute("data-clock"), "running", name);
    await page.keyboard.press("Escape");
    await phase(page, "ready");
    await page.clock.runFor(500);
  }
  assert.deepEqual(sent, []);
});

test("the ends of the scale of satisfaction say what they mean, to see and to hear", async () => {
  for (const [locale, poor, excellent] of [["en-GB", "poor", "excellent"], ["zh-CN", "差", "极好"]]) {
    const page = await site.open({ ...PHONE, viewport: { width: 320, height: 568 }, locale });
    await page.goto(site.url);
    await page.locator("#prompt").fill("a short question");
    await page.keyboard.press("Control+Enter");
    await phase(page, "ready");
    await page.locator('.choice[data-outcome="a"]').tap();
    await phase(page, "confirming");
    for (const [value, word] of [[1, poor], [5, excellent]]) {
      const choice = page.locator(".satisfaction label", { has: page.locator(`input[value="${value}"]`) });
      assert.ok(await choice.getByText(word, { exact: true }).isVisible(), word);
      assert.match(await choice.locator("input").getAttribute("aria-label"), new RegExp(`^${value}.+${word}$`));
    }
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
    await page.context().close();
  }
});

test("a vote that counts as a tie is explained beside the ratings that it moves", async () => {
  const { page } = await readyPage();
  await vote(page, "Both are bad");
  assert.ok(await page.getByText("“Tie” and “Both are bad” count as a tie: the lower-rated model gains a little.").isVisible());
});

test("prices after a vote have two decimals, and more where they need them", async () => {
  const page = await site.open();
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((text) => {
      const frame = JSON.parse(text);
      if (frame.type === "revealed") Object.assign(frame.a, { price: { input: 2, output: 0.0035, currency: "CNY" } });
      socket.send(JSON.stringify(frame));
    });
  });
  await page.goto(site.url);
  await ask(page, "a short question");
  await phase(page, "ready");
  await vote(page, "Tie");
  assert.equal(await page.locator('.card.a [data-part="price"]').textContent(), "2.00 / 0.0035 CNY");
});

test("a whole battle by touch", async () => {
  const page = await site.open(PHONE);
  await page.goto(site.url);
  await page.locator("[data-card]").first().tap();
  await phase(page, "ready");
  await page.getByRole("button", { name: "Model B" }).tap();
  await page.getByRole("button", { name: "B is better", exact: true }).tap();
  await phase(page, "confirming");
  await page.locator(".chip", { hasText: "Useful" }).last().tap();
  await page.locator('[data-action="show"]').tap();
  await phase(page, "revealed");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  page.assertQuiet();
});

test("on a touch screen a choice that is taken back leaves the focus at the choices, and none of its reasons", async () => {
  const { page } = await readyPage({ ...PHONE, hurry: true });
  await page.clock.runFor(500);
  await choose(page, "A is better");
  await phase(page, "confirming");
  await page.clock.runFor(500);
  await page.getByRole("checkbox", { name: "Useful" }).first().check({ force: true });
  await page.getByRole("radio", { name: "4" }).check({ force: true });
  await page.getByRole("button", { name: "Undo" }).click();
  await phase(page, "ready");
  assert.ok(await page.evaluate(() => document.activeElement.classList.contains("choices")));
  assert.equal(await page.locator(".vote-confirmation fieldset input:checked").count(), 0);
  page.assertQuiet();
});

test("the page in the other language shows the names, too, and after them a new battle", async () => {
  const { page } = await readyPage();
  await vote(page, "Tie");
  const names = () => page.locator('.reveal [data-part="name"]').allTextContents();
  const named = await names();
  await page.locator(".tools a.language").click();
  await page.waitForURL(/lang=zh/);
  await phase(page, "revealed");
  assert.deepEqual(await names(), named);
  assert.equal(await page.evaluate(() => location.hash), "");
  await page.locator('[data-action="new"]').click();
  await phase(page, "empty");
  await page.locator(".tools a.language").click();
  await page.waitForURL(/lang=en/);
  await page.locator('.composer button[type="submit"]:enabled').waitFor();
  assert.equal(await page.locator("main").getAttribute("data-phase"), "empty");
  page.assertQuiet();
});
