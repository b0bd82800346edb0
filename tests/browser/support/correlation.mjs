// Votes, a benchmark and brought scores of the same models, whose names are out to do harm or are known by other names
// elsewhere.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { benchmark } from "./benchmark.mjs";

const HOSTILE = "<img src=x onerror=alert(1)> a model with a very long name of 2026-11-21";
/** From the strongest to the weakest; the first four are those of the benchmark. */
const MODELS = ["crane", "heron", "wise", HOSTILE, "egret", "stork", "ibis", "loon", "teal", "swan"];
const INTENTS = ["factual_qa", "solve_professional_problem", "leisure", "text_assistant"];

/** Fills the database of an arena; see `startArena`. */
export async function correlation(folder, langya) {
  await benchmark(folder, langya);
  await writeFile(join(folder, "votes.jsonl"), votes().map((vote) => `${JSON.stringify(vote)}\n`).join(""));
  await langya("import", "votes", join(folder, "votes.jsonl"));
  const scores = MODELS.map((model, at) => ["mtbench101", `"${model}"`, 9 - at * 0.4 + (at % 3) * 0.5, "", "Elsewhere", "Report 7"].join(","));
  await writeFile(join(folder, "scores.csv"), `suite,model,score,part,series,source\n${scores.join("\n")}\n`);
  await langya("import", "scores", join(folder, "scores.csv"));
}

/** Each two models meet eight times; the stronger one wins most, and always an hour later. */
function votes() {
  const all = [];
  for (const [a, model_a] of MODELS.entries()) {
    for (const [b, model_b] of MODELS.slice(0, a).entries()) {
      for (let round = 0; round < 8; round += 1) {
        const upset = (a * 5 + b * 3 + round * 7) % 10 < 5 - Math.min(4, (a - b) / 2);
        const winner = round === 7 ? "tie" : upset ? "model_a" : "model_b";
        const language = round % 2 ? "English" : "Chinese";
        const intent = round % INTENTS.length;
        const satisfaction = 1 + ((a + b + round) % 3) + (intent % 3);
        all.push({ model_a, model_b, winner, language, intent: INTENTS[intent], satisfaction, judge: `v${round}` });
      }
    }
  }
  // An order that mixes the pairs.
  const mixed = all.map((vote, at) => [(at * 7919) % all.length, vote]).sort((one, other) => one[0] - other[0]);
  return mixed.map(([, vote], at) => ({ ...vote, tstamp: 1_790_000_000 + at * 3600 }));
}
