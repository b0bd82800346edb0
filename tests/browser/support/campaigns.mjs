// A site with campaigns, and what an annotator does there.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { PROGRAM } from "./arena.mjs";
import { startSite } from "./site.mjs";

/** Items of each campaign. */
export const ITEMS = 30;
/** For so long the choices of what is shown next rest. */
export const REST_MS = 500;

/**
 * Starts an arena with these campaigns: `[id, task, keys, write]`, with the keys of its file beside the usual ones, and with `write(item,
 * model)` for answers of its own.
 */
export function startCampaigns(campaigns) {
  let data;
  const tokens = {};
  const site = startSite({
    async fill(folder) {
      data = join(folder, "data");
      for (const [id, ...rest] of campaigns) {
        await create(folder, id, ...rest);
        tokens[id] = langya("invite", id, "--count", "12").trim().split("\n");
        langya("open", id);
      }
    },
  });

  /** Runs `langya campaign` and returns what it prints. */
  function langya(...command) {
    const run = spawnSync(PROGRAM, ["campaign", ...command, "--data-dir", data], { encoding: "utf8" });
    assert.equal(run.status, 0, run.stderr);
    return run.stdout;
  }

  async function create(folder, id, task, keys, write) {
    await writeCampaign(folder, id, task, keys, write);
    langya("create", join(folder, id, "campaign.toml"));
  }

  /**
   * A page whose clock a test can move on. Its requests pass through the test from the start: a request right after the first `route` of a page that
   * is open may still go out past it.
   */
  async function open(options) {
    const page = await site.open(options);
    await page.clock.install();
    await page.route("**/api/v1/campaigns/**", (route) => route.fallback());
    return page;
  }

  /** A page of an annotator who has begun. */
  async function begin(id, options) {
    const page = await open(options);
    await page.goto(`${site.url}/campaign/${id}#invite=${tokens[id].pop()}`);
    await page.locator('[data-part="begin"]').click();
    await shown(page, 0);
    return page;
  }

  function judgements(id) {
    return JSON.parse(langya("report", id, "--format", "json")).judgements;
  }

  return { site, tokens, langya, open, begin, judgements };
}

/** Waits until so many are judged and the next one can be. */
export async function shown(page, done) {
  await judged(page, done);
  await page.clock.runFor(REST_MS);
}

/** Waits until so many are judged and the next one is shown, whose choices still rest. */
export function judged(page, done) {
  return page.waitForFunction(
    (done) =>
      document.querySelector('[data-part="progress"]')?.textContent.match(/\d+/)?.[0] === String(done) &&
      !document.querySelector(".campaign").hasAttribute("aria-busy"),
    done,
  );
}

async function writeCampaign(folder, id, task, keys, write) {
  const models = task === "rank" ? ["crane", "heron", "swan"] : ["crane", "heron"];
  const answer = (item, model) =>
    JSON.stringify({
      item: `q${item}`,
      prompt: `Question **${item}**, 问题 ${item}?`,
      model,
      answer: write ? write(item, model) : `An answer of some length <b>raw</b>, with a list:\n\n- first\n- second\n\n\`\`\`python\nprint(${item})\n\`\`\`\n`.repeat(2),
      reference: "The reference.",
      category: item % 2 ? "专业能力" : "Writing Ability",
    });
  const lines = Array.from({ length: ITEMS }, (_, item) => models.map((model) => answer(item, model))).flat();
  await mkdir(join(folder, id));
  await writeFile(join(folder, id, "answers.jsonl"), lines.join("\n"));
  const head = `[campaign]\nid = "${id}"\ntitle = "Which answer helps more?"\ntask = "${task}"\nanswers = "answers.jsonl"\n`;
  await writeFile(join(folder, id, "campaign.toml"), head + keys);
}
