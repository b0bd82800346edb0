// A day's work of an operator by keyboard: signs in, finds a rigging voter, looks at the evidence, excludes, sees the board
// move, undoes; pauses a model that fails, adds one from a provider's list, and looks at what a benchmark run cost. What holds
// for every page of the admin stands in every_page.test.mjs.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";

import jsQR from "jsqr";

import { startArena } from "./support/arena.mjs";
import { assertAccessible } from "./support/axe.mjs";
import { openPage, startBrowser } from "./support/browser.mjs";
import { playBattle } from "./support/play.mjs";

const PASSPHRASE = "seven herons over a quiet lake";
const RIGGED = 60;
const SUITE = fileURLToPath(new URL("../data/suites/mtbench101.jsonl", import.meta.url));
const program = process.env.LANGYA_BIN ?? new URL("../../target/debug/langya", import.meta.url).pathname;

const links = {};
let signedIn;
let arena;
let browser;
before(async () => {
  arena = await startArena(async (folder, langya) => {
    await writeFile(join(folder, "votes.csv"), await votes(folder));
    await langya("import", "votes", join(folder, "votes.csv"));
    await benchmarkRun(folder, langya);
    await campaign(folder, langya);
    const settings = await readFile(join(folder, "langya.toml"), "utf8");
    const [, server] = /base_url = "(.*)"/.exec(settings);
    await writeFile(join(folder, "langya.toml"), `${settings}\n[[models]]\nid = "stork"\nprovider = "openai"\nmodel = "failing"\nbase_url = "${server}"\n\n[moderation]\nbase_url = "${server}"\n`);
    Object.assign(links, { server, folder });
    for (const [name, role] of [["operator", "operator"], ["owner", "owner"], ["reader", "viewer"]]) {
      const place = ["--config", join(folder, "langya.toml"), "--data-dir", join(folder, "data")];
      const { stdout } = spawnSync(program, ["admin", "invite", "--role", role, ...place], { encoding: "utf8" });
      links[name] = stdout.trim().split("#")[1];
    }
  });
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await arena?.stop();
});

/** 60 honest voters on eight models, and one who always votes for the third. */
async function votes(folder) {
  const honest = join(folder, "honest.csv");
  spawnSync(program, ["simulate", "--models", "8", "--votes", "2400", "--voters", "60", "--seed", "4", "--out", honest]);
  const [heads, ...rows] = (await readFile(honest, "utf8")).trim().split("\n").map((line) => line.split(","));
  const at = ["model_a", "model_b", "winner", "judge"].map((name) => heads.indexOf(name));
  const lines = rows.map((row) => at.map((column) => row[column]).join(","));
  for (let vote = 0; vote < RIGGED; vote += 1) {
    const other = ["model-1", "model-2", "model-4", "model-5"][vote % 4];
    lines.push(vote % 2 ? `${other},model-3,model_b,rigger` : `model-3,${other},model_a,rigger`);
  }
  return ["model_a,model_b,winner,judge", ...lines].join("\n");
}

/** A benchmark run with prices that stops at its budget of three requests. */
async function benchmarkRun(folder, langya) {
  const config = join(folder, "langya.toml");
  const settings = await readFile(config, "utf8");
  await writeFile(config, settings.replaceAll('provider = "openai"', 'provider = "openai"\ninput_price = 1000\noutput_price = 4000'));
  await langya("import", "suite", "mtbench101", SUITE);
  await langya("bench", "answer", "mtbench101", "--models", "crane,heron", "--max-calls", "3");
}

async function campaign(folder, langya) {
  const lines = ["crane", "heron"].map((model) => JSON.stringify({ item: "q", prompt: "Why?", model, answer: `So says ${model}.` }));
  await writeFile(join(folder, "answers.jsonl"), lines.join("\n"));
  const keys = ['id = "pilot"', 'title = "Which answer helps more?"', 'task = "pairwise"', 'answers = "answers.jsonl"'];
  await writeFile(join(folder, "pilot.toml"), ["[campaign]", ...keys].join("\n"));
  await langya("campaign", "create", join(folder, "pilot.toml"));
  await langya("campaign", "open", "pilot");
}

/** Follows a link by keyboard and becomes a user. */
async function become(page, name) {
  await page.goto(`${arena.url}/admin/welcome#${links[name]}`);
  await page.locator("#name:focus").waitFor();
  assert.ok(!page.url().includes(links[name]), "the code is out of the address");
  await page.keyboard.type(name);
  await page.keyboard.press("Tab");
  await page.keyboard.type(PASSPHRASE);
  await page.keyboard.press("Enter");
  // The first owner of an arena comes to the list of first steps, everybody else to the own account.
  await page.waitForURL((url) => ["/admin", "/admin/account"].includes(url.pathname));
}

/** Presses Tab until the element has the focus, as people who use no mouse do. */
async function tabTo(page, locator) {
  await locator.waitFor();
  for (let presses = 0; presses < 200; presses += 1) {
    await page.keyboard.press("Tab");
    if (await locator.evaluate((element) => element === document.activeElement)) return;
  }
  assert.fail(`Tab never reaches ${locator}`);
}

async function enter(page, locator) {
  await tabTo(page, locator);
  await page.keyboard.press("Enter");
}

/** The leaderboard once so many votes are rated. */
async function board(rated) {
  for (;;) {
    const found = await (await fetch(`${arena.url}/api/v1/leaderboard`)).json();
    if (found.votes.rated === rated) return found.models;
  }
}

/** The models that a battle may have. */
async function drawn() {
  const { pairs } = await (await fetch(`${arena.url}/api/v1/pairing`)).json();
  return [...new Set(pairs.flatMap(({ models }) => models))].sort();
}

test("an operator does the day's work by keyboard alone", async () => {
  const page = await openPage(browser);
  let presses = 0;
  await page.exposeFunction("pointerPressed", () => (presses += 1));
  await page.addInitScript(() => addEventListener("pointerdown", () => window.pointerPressed(), { capture: true }));
  await become(page, "operator");
  await signInAgain(page);
  await excludeTheRigger(page);
  await undo(page);
  await pauseWhatFails(page);
  await addFromTheList(page);
  await lookAtTheCost(page);
  await readTheAudit(page);
  assert.equal(presses, 0, "no step takes a pointer");
  page.assertQuiet();
});

async function signInAgain(page) {
  await enter(page, page.getByRole("button", { name: "Sign out" }));
  await page.getByRole("heading", { name: "Sign in to the admin" }).waitFor();
  await tabTo(page, page.getByLabel("Name"));
  await page.keyboard.type("operator");
  await page.keyboard.press("Tab");
  await page.keyboard.type(PASSPHRASE);
  await page.keyboard.press("Enter");
}

/** Finds the rigging voter, looks at the evidence and the preview, excludes, and sees the board move. */
async function excludeTheRigger(page) {
  await enter(page, page.getByRole("link", { name: "Flagged voters" }));
  await page.waitForURL(`${arena.url}/admin/voters`);
  const before = await board(2400 + RIGGED);
  const rigger = page.locator("tbody tr").first();
  assert.match(await rigger.textContent(), /Votes for model-3: 60 of 60 won/);
  await enter(page, rigger.getByRole("link"));
  const evidence = page.getByRole("region", { name: "Evidence" });
  assert.match(await evidence.textContent(), /Votes for model-3: 60 of 60 won[\s\S]*This voter is flagged/);
  const reason = page.getByLabel("Reason");
  await tabTo(page, reason);
  assert.equal(await page.getByLabel("By rule").inputValue(), "anomalous_voter", "the rule is proposed");
  await page.keyboard.type("60 votes for one model");
  await page.keyboard.press("Enter");
  await page.getByText("60 votes would be excluded. Number of their voters: 1.").waitFor();
  assert.match(await page.getByRole("region", { name: "How the leaderboard would move" }).first().textContent(), /model-3/);
  assert.deepEqual(await board(2400 + RIGGED), before, "a preview changes nothing");
  await enter(page, page.getByRole("button", { name: "Exclude these votes" }));
  await page.getByRole("status").getByText("Done.").waitFor();
  const moved = await board(2400);
  const rating = (models) => models.find(({ model }) => model === "model-3").rating;
  assert.ok(rating(moved) < rating(before) - 5, `${rating(before)} before, ${rating(moved)} after`);
}

async function undo(page) {
  const excluded = await board(2400);
  await enter(page, page.getByRole("button", { name: "Preview rating them again" }));
  await enter(page, page.getByRole("button", { name: "Rate these votes again" }));
  await page.getByRole("status").getByText("Done.").waitFor();
  assert.notDeepEqual(await board(2400 + RIGGED), excluded);
}

/** Sees which model fails, by its numbers and by asking it, and pauses it. Visitors play meanwhile. */
async function pauseWhatFails(page) {
  const visitor = await openPage(browser);
  await visitor.goto(arena.url);
  const stork = page.getByRole("row", { name: /^stork/ });
  do {
    await playBattle(visitor, "Which?", "a");
    await enter(page, page.locator("#admin-pages").getByRole("link", { name: "Models", exact: true }));
    await page.waitForLoadState();
    await stork.waitFor();
  } while (!/100\.0 %/.test(await stork.textContent()));
  await visitor.context().close();
  await enter(page, stork.getByRole("link", { name: "Change stork" }));
  await page.getByRole("row", { name: /the provider answered with status 500/ }).waitFor();
  await enter(page, page.getByRole("button", { name: "Ask it one question" }));
  await page.getByRole("status").getByText("the server failed: see its own log").waitFor();
  await assertAccessible(page, "a model that fails");
  await enter(page, page.locator("#admin-pages").getByRole("link", { name: "Models", exact: true }));
  await enter(page, page.getByRole("button", { name: "Pause stork" }));
  await page.getByRole("status").getByText("Done.").waitFor();
  assert.match(await stork.textContent(), /paused/);
  assert.deepEqual(await drawn(), ["crane", "heron"]);
}

async function addFromTheList(page) {
  await enter(page, page.getByRole("link", { name: "Add models" }));
  await tabTo(page, page.getByLabel("Address of the server"));
  await page.keyboard.type(links.server);
  await enter(page, page.getByRole("button", { name: "Show its models" }));
  await page.getByText("configured already as crane").waitFor();
  await assertAccessible(page, "the list of a provider");
  await tabTo(page, page.getByRole("checkbox", { name: "Add egret" }));
  await page.keyboard.press("Space");
  await enter(page, page.getByRole("button", { name: "Preview" }));
  await page.getByRole("heading", { name: "These models would be added" }).waitFor();
  await assertAccessible(page, "a preview of an addition");
  assert.deepEqual(await drawn(), ["crane", "heron"], "a preview changes nothing");
  await enter(page, page.getByRole("button", { name: "Add these models (1)" }));
  await page.getByRole("status").getByText("Done.").waitFor();
  assert.deepEqual(await drawn(), ["crane", "egret", "heron"]);
}

async function lookAtTheCost(page) {
  await enter(page, page.getByRole("link", { name: "Benchmark runs" }));
  await page.getByRole("heading", { name: "Benchmark runs" }).waitFor();
  const run = page.locator("tbody tr").first();
  assert.match(await run.textContent(), /mtbench101[\s\S]*budget used up[\s\S]*3 \/ \d+/);
  const [cost, expected] = await Promise.all([0, 1].map(async (at) => Number(await run.locator("td.number").nth(at).textContent())));
  assert.ok(cost > 0 && cost < expected, `${cost} so far, ${expected} expected`);
}

async function readTheAudit(page) {
  await enter(page, page.getByRole("link", { name: "Audit log" }));
  await page.getByRole("heading", { name: "Audit log" }).waitFor();
  const told = await page.locator("tbody tr").allTextContents();
  assert.match(told[0], /operator[\s\S]*added a model[\s\S]*egret/);
  assert.match(told[1], /operator[\s\S]*paused a model[\s\S]*stork/);
  assert.match(told[2], /operator[\s\S]*tested a model[\s\S]*stork/);
  assert.match(told[3], /operator[\s\S]*withdrew exclusions/);
  assert.match(told[4], /operator[\s\S]*excluded votes[\s\S]*60 votes for one model/);
}

test("an owner follows the link", async () => {
  const page = await openPage(browser);
  await become(page, "owner");
  signedIn = await page.context().cookies();
  page.assertQuiet();
});

test("the runs of benchmarks are brought up to date while somebody looks", async () => {
  const page = await openPage(browser);
  await page.context().addCookies(signedIn);
  await page.clock.install();
  await page.goto(`${arena.url}/admin/benchmarks`);
  const rows = page.locator('[data-live="runs"] tbody tr');
  assert.equal(await rows.count(), 1);
  const place = ["--config", join(links.folder, "langya.toml"), "--data-dir", join(links.folder, "data")];
  const again = spawnSync(program, ["bench", "answer", "mtbench101", "--models", "crane,heron", "--max-calls", "2", ...place]);
  assert.ok(again.status !== null, "the run ended");
  await page.evaluate(() => (window.isTheSamePage = true));
  for (let looks = 0; (await rows.count()) < 2 && looks < 20; looks += 1) {
    const asked = page.waitForResponse((response) => response.url().endsWith("/admin/benchmarks"));
    await page.clock.fastForward(5_000);
    await asked;
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length > 0);
  }
  await rows.nth(1).waitFor();
  assert.equal(await page.evaluate(() => window.isTheSamePage), true);
  let asked = 0;
  page.on("request", (request) => (asked += request.url().endsWith("/admin/benchmarks") ? 1 : 0));
  await page.clock.fastForward(700_000);
  await page.clock.runFor(20_000);
  assert.equal(asked, 0, "a page that nobody touches asks no more");
  page.assertQuiet();
  await page.context().close();
});

test("an operator plans a run by keyboard, and the page follows it to its limit", async () => {
  const page = await openPage(browser);
  await page.context().addCookies(signedIn);
  await page.goto(`${arena.url}/admin/benchmarks`);
  await enter(page, page.getByRole("link", { name: "Plan a run" }));
  const choose = async (group, name) => {
    await page.getByRole("group", { name: group }).getByRole("checkbox", { name }).focus();
    await page.keyboard.press("Space");
  };
  await choose("Suites", "mtbench101");
  await choose("Models that answer", "Crane");
  await choose("Judges", "Heron");
  await page.getByLabel("Maximum requests").focus();
  await page.keyboard.type("2");
  await enter(page, page.getByRole("button", { name: "Preview requests and cost" }));
  await page.getByRole("heading", { name: "Requests and expected cost" }).waitFor();
  assert.equal(await page.getByLabel("Maximum requests").inputValue(), "2", "what was typed stays");
  await assertAccessible(page, "a plan before it starts");
  await enter(page, page.getByRole("button", { name: "Start", exact: true }));
  await page.waitForURL(/\/admin\/benchmarks\?done=1/);
  await page.evaluate(() => (window.isTheSamePage = true));
  const plan = page.locator('[data-live="plan"]');
  await plan.getByText("budget used up").waitFor();
  assert.equal(await page.evaluate(() => window.isTheSamePage), true);
  assert.match(await plan.innerText(), /2 of \d+ expected[^]*the limit of 2 requests is reached/);
  assert.match(await page.locator('[data-live="steps"]').innerText(), /mtbench101/);
  await assertAccessible(page, "a plan that has ended");
  page.assertQuiet();
  await page.context().close();
});

test("the texts of a flagged battle are deleted by a second button only, without scripts too", async () => {
  const visitor = await openPage(browser);
  await visitor.goto(arena.url);
  await playBattle(visitor, "Is this an insult?");
  const page = await openPage(browser, { javaScriptEnabled: false });
  await page.context().addCookies(signedIn);
  await page.goto(`${arena.url}/admin/moderation`);
  assert.match(await page.locator(".facts").innerText(), /Refused categories\s+none/);
  await page.getByRole("link", { name: "Review the flagged text" }).click();
  assert.notEqual(await page.locator(".decisions kbd").evaluate((key) => getComputedStyle(key).borderTopStyle), "none");
  await page.getByText("Delete the texts of this battle", { exact: true }).click();
  await page.getByText("The texts are deleted at once and cannot be restored.").waitFor();
  assert.equal(await page.getByText("Is this an insult?").count(), 1, "nothing is deleted yet");
  await page.getByRole("button", { name: "Delete now" }).click();
  await page.getByText("Nothing of this battle's texts is stored.").waitFor();
  page.assertQuiet();
});

test("a key moves to the button that keeps a flagged text, and Enter presses it", async () => {
  const visitor = await openPage(browser);
  await visitor.goto(arena.url);
  await playBattle(visitor, "Is that an insult?");
  const page = await openPage(browser);
  await page.context().addCookies(signedIn);
  await page.goto(`${arena.url}/admin/moderation`);
  await page.getByRole("link", { name: "Review the flagged text" }).first().click();
  const keep = page.getByRole("button", { name: "Keep" });
  await keep.waitFor();
  await page.keyboard.press("1");
  assert.ok(await keep.evaluate((button) => button === document.activeElement));
  assert.match(await page.locator(".facts").innerText(), /State\s+open/);
  await page.keyboard.press("Enter");
  await page.getByRole("status").getByText("Done.").waitFor();
  assert.match(await page.locator(".facts").innerText(), /State\s+kept/);
  page.assertQuiet();
});

/** Has a classifier, which learns from a few made-up questions, propose intents for the prompts of all battles. */
async function proposeIntents() {
  const labels = ["factual_qa", "solve_professional_problem", "text_assistant", "ask_for_advice", "seek_creativity", "leisure"];
  const seeds = labels.flatMap((label) => ["river", "train", "garden", "violin"].map((word) => `${label} of a ${word},${label}`));
  const file = join(links.folder, "seeds.csv");
  await writeFile(file, ["text,label", ...seeds].join("\n"));
  const place = ["--config", join(links.folder, "langya.toml"), "--data-dir", join(links.folder, "data")];
  const run = spawnSync(program, ["label", "train", "--scheme", "urs", "--folds", "2", "--seed-file", file, ...place], { encoding: "utf8" });
  assert.equal(run.status, 0, run.stderr);
}

for (const [path, prepare] of [["leaks", () => {}], ["labels?scheme=urs", proposeIntents]]) {
  test(`a number key alone decides nothing at /admin/${path}, and Enter then does`, async () => {
    const visitor = await openPage(browser);
    await visitor.goto(arena.url);
    await playBattle(visitor, "Are you Gemini?", "a");
    await prepare();
    const page = await openPage(browser);
    await page.context().addCookies(signedIn);
    await page.goto(`${arena.url}/admin/${path}`);
    const decided = [];
    page.on("request", (request) => {
      if (request.method() === "POST") decided.push(request.postData());
    });
    const phone = await openPage(browser, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await phone.context().addCookies(signedIn);
    await phone.goto(`${arena.url}/admin/${path}`);
    const hints = await Promise.all([page, phone].map((one) => one.locator("[data-review] kbd:visible, .key-hint:visible").count()));
    assert.ok(hints[0] > 0 && hints[1] === 0, `keys are named where there is a keyboard only: ${hints}`);
    const first = page.locator("[data-review] button").first();
    await page.keyboard.press("1");
    assert.ok(await first.evaluate((button) => button === document.activeElement));
    const { name, value } = await first.evaluate(({ name, value }) => ({ name, value }));
    assert.deepEqual(decided, []);
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Done.").waitFor();
    assert.deepEqual(decided.map((body) => new URLSearchParams(body).get(name)), [value]);
    page.assertQuiet();
  });
}

test("a notice stands apart from the heading above it", async () => {
  const page = await openPage(browser);
  await page.context().addCookies(signedIn);
  await page.goto(`${arena.url}/admin`);
  await page.locator("h1").evaluate((heading) => heading.insertAdjacentHTML("afterend", '<p class="notice">Trouble</p>'));
  const [heading, notice] = [await page.locator("h1").boundingBox(), await page.locator("h1 + .notice").boundingBox()];
  assert.ok(notice.y - heading.y - heading.height >= 12);
});

test("on a phone one button shows the pages of the admin, and Escape closes them", async () => {
  for (const width of [320, 360, 414]) {
    const page = await openPage(browser, { viewport: { width, height: 720 }, reducedMotion: "reduce" });
    await page.context().addCookies(signedIn);
    await page.goto(`${arena.url}/admin/audit`);
    const [menu, list] = [page.getByRole("button", { name: "Admin: Audit log" }), page.locator("#admin-pages")];
    assert.ok((await page.locator(".admin-tabs").boundingBox()).height < 130, `${width}: the tabs take a row or two`);
    assert.equal(await list.isVisible(), false);
    await enter(page, menu);
    await list.getByRole("link", { name: "People" }).waitFor();
    await assertAccessible(page, `the open menu at ${width}`);
    const { x, width: wide } = await list.boundingBox();
    assert.ok(x >= 0 && x + wide <= width, `${width}: the menu fits`);
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "hidden" });
    assert.ok(await menu.evaluate((element) => element === document.activeElement), "the focus is on the button again");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${arena.url}/admin`);
    page.assertQuiet();
    await page.context().close();
  }
});

test("on a phone the names of background jobs have room for a few words in a line", async () => {
  for (const locale of ["en-GB", "zh-CN"]) {
    const page = await openPage(browser, { viewport: { width: 390, height: 844 }, locale });
    await page.context().addCookies(signedIn);
    await page.goto(`${arena.url}/admin/operations`);
    const widths = await page.locator(".jobs tbody th").evaluateAll((names) => names.map((name) => name.getBoundingClientRect().width));
    assert.ok(widths.length > 10 && Math.min(...widths) >= 200, `${locale}: ${widths}`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, locale);
    page.assertQuiet();
    await page.context().close();
  }
});

test("on the narrowest phone with text of twice the size the forms of the admin stay on the screen", async () => {
  const page = await openPage(browser, { viewport: { width: 320, height: 720 } });
  await page.context().addCookies(signedIn);
  for (const path of ["campaigns/one?id=pilot", "requests", "keys", "account", "models/add", "models/change?model=stork"]) {
    await page.goto(`${arena.url}/admin/${path}`);
    await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320, path);
  }
  page.assertQuiet();
  await page.context().close();
});

test("loading the page that shows new links again makes no more of them", async () => {
  const page = await openPage(browser);
  await page.context().addCookies(signedIn);
  await page.goto(`${arena.url}/admin/campaigns/one?id=pilot`);
  const annotators = () => page.locator('[aria-labelledby="annotators"] tbody tr').count();
  const before = await annotators();
  await page.getByRole("button", { name: "Create links" }).click();
  await page.locator(".once").waitFor();
  assert.equal(await annotators(), before + 1);
  await page.reload();
  assert.equal(await page.locator(".once").count(), 0, "a link is shown once");
  assert.equal(await annotators(), before + 1);
  page.assertQuiet();
  await page.context().close();
});

/** The text of the QR codes in a picture of the page. */
async function readCode(page, picture) {
  const pixels = await page.evaluate(async (bytes) => {
    const bitmap = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    canvas.drawImage(bitmap, 0, 0);
    return { data: [...canvas.getImageData(0, 0, bitmap.width, bitmap.height).data], width: bitmap.width, height: bitmap.height };
  }, [...picture]);
  return jsQR(Uint8ClampedArray.from(pixels.data), pixels.width, pixels.height)?.data;
}

test("a telephone reads the key of a second factor from its picture, in both themes", async () => {
  const page = await openPage(browser);
  await become(page, "reader");
  await page.locator("#factor-passphrase").fill(PASSPHRASE);
  await page.getByRole("button", { name: "Set up a second factor" }).click();
  const code = page.getByRole("img", { name: "QR code of the key below" });
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    const address = await readCode(page, await code.screenshot());
    assert.equal(address, await page.getByRole("link", { name: "Open in an app on this device" }).getAttribute("href"));
    assert.ok(address.includes(`secret=${(await page.locator("dd code").textContent()).replaceAll(" ", "")}&`), address);
    await assertAccessible(page, `a second factor ${colorScheme}`);
  }
  page.assertQuiet();
});
