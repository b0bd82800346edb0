// Votes that an arena has before it serves.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Imports votes, one object each; see `startArena`. */
export async function importVotes(folder, langya, votes) {
  await writeFile(join(folder, "votes.jsonl"), votes.map((vote) => JSON.stringify(vote)).join("\n"));
  await langya("import", "votes", join(folder, "votes.jsonl"));
}

/** A vote on each of these pairs, a second after the one before, by a voter of its own. */
export function votesOn(pairs, winner) {
  return pairs.map(([model_a, model_b], at) => ({ model_a, model_b, winner, judge: `v${at}`, tstamp: 1_790_000_000 + at }));
}
