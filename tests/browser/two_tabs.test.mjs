// One visitor with two tabs: a vote is sent by one of them, and never on replies that the voter has not seen.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, phase, vote, votesOf } from "./support/browser.mjs";
import { startSite } from "./support/site.mjs";

const site = startSite();

const WENT_ON = "This battle has continued in another tab, so your vote was not saved. Read the latest replies and vote again.";
/** Event numbers of another log are at least so far away. */
const EPOCH_GAP = 2 ** 20;

function choose(page, name) {
  return page.getByRole("button", { name, exact: true }).click();
}

function kept(page) {
  return page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("langya-vote")).length);
}

/** What the browser reports to a page that another tab covers, or that is seen again. */
function hide(page, hidden) {
  return page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

/** A page whose visitor has chosen A and thinks about the reasons, under another tab. */
async function coveredPage() {
  const page = await site.arrive();
  await ask(page, "a short question");
  await phase(page, "ready");
  await choose(page, "A is better");
  await hide(page, true);
  assert.equal(await kept(page), 1);
  return page;
}

/** Ends a page as a phone does, before it can do anything. */
async function kill(page) {
  await page.evaluate(() => {
    WebSocket.prototype.send = () => {};
    Storage.prototype.setItem = () => {};
  });
  await page.close();
}

test("a choice that one tab still holds is not sent by another one, and can be taken back", async () => {
  const page = await coveredPage();
  const other = await page.context().newPage();
  const sent = votesOf(other);
  await other.goto(site.url);
  await ask(other, "another short question");
  await phase(other, "ready"); // Whatever the page had to send before has gone.
  assert.deepEqual(sent, []);
  await hide(page, false);
  await page.getByRole("button", { name: "Undo" }).click();
  await phase(page, "ready");
  await vote(page, "B is better");
  assert.ok(await page.locator(".reveal").getByText("You found B better.").isVisible());
  assert.equal(await kept(page), 0);
  assert.deepEqual(sent, []);
  page.assertQuiet();
});

test("a vote whose tab is ended without a word is sent by the one that is open", async () => {
  const page = await coveredPage();
  const other = await page.context().newPage();
  const sent = votesOf(other);
  await other.goto(site.url);
  await ask(other, "another short question");
  await phase(other, "ready");
  assert.deepEqual(sent, []);
  await kill(page);
  await other.waitForFunction(() => !Object.keys(localStorage).some((key) => key.startsWith("langya-vote")));
  assert.deepEqual(sent.map(({ outcome }) => outcome), ["a"]);
  assert.equal(await other.locator("main").getAttribute("data-phase"), "ready", "its own battle stays");
});

test("a tab that is ended and comes back sends the vote that it held, and shows the names", async () => {
  const page = await coveredPage();
  const battle = await page.evaluate(() => sessionStorage.getItem("langya-battle"));
  await kill(page);
  const again = await page.context().newPage();
  await again.addInitScript((id) => sessionStorage.setItem("langya-battle", id), battle);
  await again.goto(site.url);
  await phase(again, "revealed");
  assert.ok(await again.locator(".reveal").getByText("You found A better.").isVisible());
});

test("without locks a choice is left to its tab until that would have sent it, and no longer", async () => {
  const page = await coveredPage();
  await kill(page);
  const next = await page.context().newPage();
  const sent = votesOf(next);
  await next.addInitScript(() => Object.defineProperty(navigator, "locks", { value: undefined }));
  await next.clock.install();
  await next.goto(site.url);
  await ask(next, "another short question");
  await phase(next, "ready");
  await next.clock.fastForward(60_000);
  await ask(next, "a third short question");
  await phase(next, "ready");
  assert.deepEqual(sent, []);
  await next.clock.fastForward(60_000);
  await next.waitForFunction(() => !Object.keys(localStorage).some((key) => key.startsWith("langya-vote")));
  assert.deepEqual(sent.map(({ outcome }) => outcome), ["a"]);
});

test("a tab whose vote was sent while it stood still asks for the receipt when it is seen again", async () => {
  const page = await coveredPage();
  await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("langya-vote")).forEach((key) => localStorage.removeItem(key)));
  await hide(page, false);
  await phase(page, "revealed");
});

/**
 * A page whose votes are lost: with the first of them its connection breaks, and none comes until `page.reconnect()`. `shift`
 * is added to the numbers that the next connection sends of a battle, which it sends from its beginning, as after a restart.
 */
async function losingPage(shift = 0) {
  const page = await site.open();
  let connections = 0;
  let open = true;
  const passed = [];
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    if (!open) return socket.close({ code: 4000, reason: "refused by the test" });
    connections += 1;
    const isFirst = connections === 1;
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const frame = JSON.parse(text);
      if (frame.type === "vote" && isFirst) {
        open = false;
        server.close({ code: 4000, reason: "dropped by the test" });
        return socket.close({ code: 4000, reason: "dropped by the test" });
      }
      if (frame.type === "vote") passed.push(frame);
      server.send(frame.type === "resume" && shift ? JSON.stringify({ ...frame, after: 0 }) : text);
    });
    server.onMessage((text) => {
      const frame = JSON.parse(text);
      socket.send(frame.seq && !isFirst ? JSON.stringify({ ...frame, seq: frame.seq + shift }) : text);
    });
  });
  page.reconnect = () => {
    open = true;
    return page.evaluate(() => dispatchEvent(new Event("online")));
  };
  await page.goto(site.url);
  await ask(page, "a short question");
  await phase(page, "ready");
  await choose(page, "A is better");
  await page.getByRole("button", { name: "Show the names" }).click();
  await page.getByText("The connection was lost. Trying again…").waitFor();
  return { page, passed };
}

/** Another tab with the battle of this one, as a browser makes it that doubles a tab; its vote is kept out of it. */
async function doubled(page, battle) {
  const other = await page.context().newPage();
  await other.routeWebSocket(/\/ws\/battle/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => JSON.parse(text).type !== "vote" && server.send(text));
  });
  await other.addInitScript((id) => {
    sessionStorage.setItem("langya-battle", id);
    // The tab that was lost takes care of its vote; this one does as if it did not know of it.
    Object.defineProperty(window, "localStorage", { value: { getItem: () => null, setItem() {}, removeItem() {} } });
  }, battle ?? (await page.evaluate(() => sessionStorage.getItem("langya-battle"))));
  await other.goto(site.url);
  await phase(other, "ready");
  return other;
}

async function askOn(other) {
  await ask(other, "another short question");
  await phase(other, "ready");
}

async function regenerate(other) {
  await other.evaluate(() => {
    const main = document.querySelector("main");
    window.written = new Promise((resolve) =>
      new MutationObserver(() => main.dataset.phase === "writing" && resolve()).observe(main, { attributes: true }),
    );
  });
  await other.getByRole("button", { name: "Regenerate both" }).click();
  await other.evaluate(() => window.written);
  await phase(other, "ready");
}

async function askInOtherWords(other) {
  await other.locator('[data-action="edit"]').last().click();
  const field = other.getByRole("textbox", { name: "Your question" });
  await field.fill("compare two ways");
  await field.press("Enter");
  await other.locator(".prompt-text", { hasText: "compare two ways" }).waitFor();
  await phase(other, "ready");
}

for (const [name, shift, goOn, turns] of [
  ["asked on", 0, askOn, 2],
  ["answered again", 0, regenerate, 1],
  ["asked on, and loaded again", 2 * EPOCH_GAP, askOn, 2],
  ["asked in other words, and loaded again", 2 * EPOCH_GAP, askInOtherWords, 1],
]) {
  test(`a vote that was lost is not repeated on a battle that another tab has ${name}`, async () => {
    const { page, passed } = await losingPage(shift);
    await goOn(await doubled(page));
    await page.reconnect();
    await page.locator('main:is([data-phase="ready"], [data-phase="revealed"])').waitFor();
    assert.deepEqual(passed, []);
    assert.equal(await page.getByRole("alert").textContent(), WENT_ON);
    assert.equal(await kept(page), 0);
    assert.equal(await page.locator(".turn").count(), turns);
    await vote(page, "B is better");
    assert.ok(await page.locator(".reveal").getByText("You found B better.").isVisible());
    assert.deepEqual(passed.map(({ outcome }) => outcome), ["b"]);
  });
}

for (const [name, shift] of [
  ["on a battle that stands where it stood", 0],
  ["on the same replies with other numbers, as after a restart", 2 * EPOCH_GAP],
]) {
  test(`a vote that was lost is repeated ${name}`, async () => {
    const { page, passed } = await losingPage(shift);
    await page.reconnect();
    await phase(page, "revealed");
    assert.ok(await page.locator(".reveal").getByText("You found A better.").isVisible());
    assert.deepEqual(passed.map(({ outcome }) => outcome), ["a"]);
    assert.equal(await kept(page), 0);
  });
}

test("a choice that is not sent yet is dropped as soon as another tab goes on", async () => {
  const page = await site.arrive();
  const sent = votesOf(page);
  await ask(page, "a short question");
  await phase(page, "ready");
  const other = await doubled(page);
  await choose(page, "A is better");
  await phase(page, "confirming");
  await regenerate(other);
  await page.getByRole("alert").filter({ hasText: WENT_ON }).waitFor();
  await phase(page, "ready");
  assert.deepEqual(sent, []);
  await vote(page, "B is better");
  assert.ok(await page.locator(".reveal").getByText("You found B better.").isVisible());
  page.assertQuiet();
});

test("a vote of an earlier visit is not sent on a battle that has gone on since, and is sent on one that has not", async () => {
  for (const goesOn of [true, false]) {
    const { page } = await losingPage();
    const battle = await page.evaluate(() => sessionStorage.getItem("langya-battle"));
    await page.close();
    if (goesOn) await askOn(await doubled(page, battle));
    const next = await page.context().newPage();
    const sent = votesOf(next);
    await next.goto(site.url);
    await next.waitForFunction(() => !Object.keys(localStorage).some((key) => key.startsWith("langya-vote")));
    assert.deepEqual(sent.map(({ outcome }) => outcome), goesOn ? [] : ["a"]);
    assert.equal(await next.locator("main").getAttribute("data-phase"), "empty");
  }
});

test("of two tabs that vote differently on one battle the first counts, and the second says so", async () => {
  const page = await site.arrive();
  await ask(page, "a short question");
  await phase(page, "ready");
  const other = await page.context().newPage();
  const battle = await page.evaluate(() => sessionStorage.getItem("langya-battle"));
  await other.addInitScript((id) => sessionStorage.setItem("langya-battle", id), battle);
  await other.goto(site.url);
  await phase(other, "ready");
  await vote(page, "A is better");
  await vote(other, "B is better");
  const said = "You had already voted on this battle, and your first vote counts: You found A better.";
  await other.getByRole("alert").filter({ hasText: said }).waitFor();
  assert.ok(await other.locator(".reveal").getByText("You found A better.").isVisible());
  assert.equal(await other.getByText("Your vote is saved.").count(), 0);
  assert.equal(await kept(other), 0);
});

test("a later vote of an earlier visit is said not to count, where another one was first", async () => {
  const { page } = await losingPage();
  const battle = await page.evaluate(() => sessionStorage.getItem("langya-battle"));
  const text = await page.evaluate((id) => localStorage.getItem(`langya-vote ${id}`), battle);
  await page.close();
  const { frame } = JSON.parse(text);
  const next = await page.context().newPage();
  await next.goto(`${site.url}/about`);
  await next.evaluate((id) => localStorage.removeItem(`langya-vote ${id}`), battle);
  await next.evaluate(
    (frame) =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${location.origin.replace("http", "ws")}/ws/battle`);
        socket.onopen = () => socket.send(JSON.stringify({ ...frame, outcome: "b" }));
        socket.onmessage = () => resolve(socket.close());
      }),
    frame,
  );
  await next.evaluate(([id, text]) => localStorage.setItem(`langya-vote ${id}`, text), [battle, text]);
  await next.goto(site.url);
  await next.getByRole("alert").filter({ hasText: "A vote on an earlier battle was not counted." }).waitFor();
  assert.ok(await next.getByText("You found B better.").isVisible());
  assert.equal(await kept(next), 0);
});

test("a tab shows the question that another one has asked above the replies to it", async () => {
  const page = await site.arrive();
  await ask(page, "a short question");
  await phase(page, "ready");
  const other = await doubled(page);
  const asked = page.locator(".turn .prompt-text");
  await askOn(other);
  await asked.nth(1).filter({ hasText: "another short question" }).waitFor();
  await askInOtherWords(other);
  await asked.nth(1).filter({ hasText: "compare two ways" }).waitFor();
  await phase(page, "ready");
  assert.deepEqual(await asked.allTextContents(), ["a short question", "compare two ways"]);
  page.assertQuiet();
});

test("a question that comes after that of another tab is back in its field", async () => {
  const page = await site.open();
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const { type, battle } = JSON.parse(text);
      if (type !== "message") return server.send(text);
      socket.send(JSON.stringify({ type: "battle", battle, turn: 2, seq: 98, prompt: "asked in another tab" }));
      socket.send(JSON.stringify({ type: "error", code: "not_ready", message: "too early", battle }));
    });
  });
  await page.goto(site.url);
  await ask(page, "a short question");
  await phase(page, "ready");
  await ask(page, "asked in this tab");
  await page.getByRole("alert").filter({ hasText: "Both replies must end first." }).waitFor();
  assert.deepEqual(await page.locator(".turn .prompt-text").allTextContents(), ["a short question", "asked in another tab"]);
  assert.equal(await page.getByRole("textbox", { name: "Your question" }).inputValue(), "asked in this tab");
  assert.equal(await page.locator("main").getAttribute("data-phase"), "writing");
});
