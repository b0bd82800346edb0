// The arenas that the pictures and the tests of every page are taken from: empty, with few votes, with everything, with 30 and
// with 300 models, and one that people join by a passphrase.

import { spawnSync } from "node:child_process";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { PROGRAM } from "../support/arena.mjs";
import { correlation } from "../support/correlation.mjs";
import { called, importManyVotes } from "../support/many_models.mjs";
import { playBattle } from "../support/play.mjs";
import { importVotes, votesOn } from "../support/votes.mjs";

const PASSPHRASE = "seven herons over a quiet lake";
const LONG_NAME = "Pneumonoultramicroscopicsilicovolcanoconiosis-72B-Instruct-Q4_K_M-imatrix-2026-11-21";
/** Names that are hard to show, of models that answer nobody. */
const HARD_NAMES = `
[[models]]
id = "egret"
name = "نموذج اللغة العربية ٧"
organization = "مختبر البحيرة"
license = "Apache-2.0"
provider = "openai"
base_url = "SERVER/v1"
weight = 0

[[models]]
id = "stork"
name = "${LONG_NAME}"
organization = "Gesellschaft für Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtenschaft"
license = "LicenseRef-a-license-of-its-own-with-a-long-name"
provider = "openai"
base_url = "SERVER/v1"
model = "failing"
weight = 0

[moderation]
base_url = "SERVER/v1"
`;

/** Any site may show the leaderboard in a frame. */
const EMBEDDED = '\n[site]\nembed_on = ["*"]\n';

/** What fills each arena before it serves (`fill`, see `startArena`) and is done once it serves (`ready`, with a page of a visitor). */
export const ARENAS = {
  empty: { fill: (folder) => appendFile(join(folder, "langya.toml"), EMBEDDED) },
  few: { fill: (folder, langya) => importVotes(folder, langya, votesOn([["crane", "heron"], ["heron", "crane"], ["egret", "crane"]], "model_a")) },
  full: { fill: fillAll, ready: useAll },
  "30 models": { fill: (folder, langya) => importManyVotes(folder, langya, called, () => ({}), 30) },
  "300 models": { fill: (folder, langya) => importManyVotes(folder, langya, called, () => ({}), 300) },
  closed: { fill: close },
};

async function close(folder) {
  const { stdout } = spawnSync(PROGRAM, ["passphrase"], { input: PASSPHRASE, encoding: "utf8" });
  await appendFile(join(folder, "langya.toml"), `\n[access]\nmode = "passphrase"\npassphrase_hash = "${stdout.trim()}"\n`);
}

async function fillAll(folder, langya) {
  const settings = await readFile(join(folder, "langya.toml"), "utf8");
  const [, server] = /base_url = "(.*)\/v1"/.exec(settings);
  await appendFile(join(folder, "langya.toml"), HARD_NAMES.replaceAll("SERVER", server) + EMBEDDED);
  await correlation(folder, langya);
  await langya("bench", "answer", "mtbench101", "--models", "crane,heron", "--max-calls", "3");
  // Its question is one that the visitor asks.
  const item = { question_id: 1, category: "专业能力", subcategory: "物理", question: "A short question?", reference: "A short answer." };
  await writeFile(join(folder, "alignbench.jsonl"), JSON.stringify(item));
  await langya("import", "suite", "alignbench", join(folder, "alignbench.jsonl"));
  const invites = [];
  for (const task of ["pairwise", "score", "rank"]) invites.push(await campaign(folder, langya, task));
  const judged = [await campaign(folder, langya, "pairwise", "judged"), await campaign(folder, langya, "score", "scored")];
  return { folder, invites, judged };
}

/** A campaign of one task, open; returns its id and invitations. */
async function campaign(folder, langya, task, id = task) {
  const models = ["crane", "heron", "swan"].slice(0, task === "rank" ? 3 : 2);
  const row = (item, model) => ({ item, prompt: `Question **${item}**, 问题 ${item}?`, model, answer: ANSWER, reference: "The reference." });
  const lines = ["q1", "q2", "q3"].flatMap((item) => models.map((model) => JSON.stringify(row(item, model))));
  const place = join(folder, id);
  await mkdir(place);
  await writeFile(join(place, "answers.jsonl"), lines.join("\n"));
  const keys = [`id = "${id}"`, 'title = "Which answer helps more? 哪个回答更有帮助？"', `task = "${task}"`, 'answers = "answers.jsonl"', "public = true"];
  if (task === "score") keys.push('rubric = "superclue"');
  await writeFile(join(place, "campaign.toml"), ["[campaign]", ...keys, 'instructions = "Read **both** answers to the end."'].join("\n"));
  await langya("campaign", "create", join(place, "campaign.toml"));
  const invited = print(folder, "campaign", "invite", id, "--count", "3");
  await langya("campaign", "open", id);
  return [id, ...invited.trim().split("\n")];
}

/** The owner starts a plan of benchmarks, which ends at its limit. */
async function runPlan(page, url) {
  await page.goto(`${url}/admin/benchmarks/plan?suite=mtbench101&model=crane&judge=heron&rounds=1&max_calls=2`);
  await page.locator('main form[action="/admin/benchmarks/start"] button').click();
  await page.locator('[data-live="plan"] .result-warning').waitFor();
}

const ANSWER = "An answer with a list:\n\n- first\n- second\n\n```python\nprint(1)\n```\n".repeat(2);

/** Runs the program in an arena's folder and returns what it prints. */
function print(folder, ...command) {
  const place = ["--config", join(folder, "langya.toml"), "--data-dir", join(folder, "data")];
  const { stdout, stderr, status } = spawnSync(PROGRAM, [...command, ...place], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
  return stdout;
}

/** An owner signs in, a visitor holds battles; returns what the addresses of pages are made of. */
async function useAll(page, url, { folder, invites, judged }) {
  for (const [id, ...tokens] of judged) {
    for (const [at, token] of tokens.entries()) await judgeAll(`${url}/api/v1/campaigns/${id}`, token, at);
    print(folder, "campaign", "close", id);
  }
  const [, code] = print(folder, "admin", "invite", "--role", "owner").trim().split("#");
  await page.goto(`${url}/admin/welcome#${code}`);
  await page.locator("#name").fill("ada");
  await page.locator("#name").press("Tab");
  await page.keyboard.type(PASSPHRASE);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${url}/admin`);
  await runPlan(page, url);
  await page.goto(`${url}/about`);
  const battles = [];
  for (const [prompt, outcome] of BATTLES) battles.push(await playBattle(page, prompt, outcome));
  const [battle, flagged, open] = battles;
  await page.goto(`${url}/battle/${battle}`);
  await page.getByRole("button", { name: "Make a link" }).click();
  const shared = await page.locator(".share-link a").getAttribute("href");
  return { ...(await adminAddresses(page, url, flagged)), battle, open, shared, invites: Object.fromEntries(invites.map(([task, ...tokens]) => [task, tokens])) };
}

/** All judgements of an annotator: mostly for the first answer, and high scores. */
async function judgeAll(api, token, annotator) {
  const post = async (path, body) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return (await fetch(`${api}/${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
  };
  for (let done = annotator; ; done += 1) {
    const shown = await post("next", {});
    if (shown.finished) return;
    const answers = Object.fromEntries((shown.questions ?? []).map(({ id }, at) => [id, 9 - ((at + done) % 4)]));
    const said = shown.b === undefined ? { score: 9 - (done % 3) } : { outcome: done % 4 === 3 ? "tie" : "a" };
    await post("judgements", { assignment: shown.assignment, ...said, answers });
  }
}

const LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft".repeat(3);
/** Questions of the visitor, with their outcomes; the last one is open. */
const BATTLES = [
  [`Compare bubble sort and quicksort, and explain ${LONG_WORD}`, "a"],
  ["Is this an insult, in short?", "both_bad"],
  ["ما الفرق بين الفرز الفقاعي والفرز السريع؟ قارن بينهما في جدول.", undefined],
  ["a short question", "tie"],
];

/** The addresses of the admin that have an id in them. */
async function adminAddresses(page, url, battle) {
  await page.goto(`${url}/admin/requests`);
  await page.getByLabel("Id of the battle").fill(battle);
  await page.getByLabel("Who asks, and why").fill("A letter of 24 November: the question names a person.");
  await page.getByRole("button", { name: "Enter" }).click();
  await page.waitForURL(/requests\/one/);
  const request = page.url().slice(url.length).replace("&done=1", "");
  await page.goto(`${url}/admin/moderation`);
  const flag = await page.locator('a[href^="/admin/moderation/one"]').first().getAttribute("href");
  await page.goto(`${url}/admin/votes`);
  const voter = await page.locator('a[href*="voter="]').first().getAttribute("href");
  return { request, flag, voter: new URL(voter, url).searchParams.get("voter") };
}
