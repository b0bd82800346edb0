// Votes on many models, imported before an arena serves: thirty, or with LANGYA_TEST_SIZE=long three hundred, whose fits take an
// unoptimised program minutes.

import { importVotes } from "./votes.mjs";

export const MODELS = process.env.LANGYA_TEST_SIZE === "long" ? 300 : 30;
/** Opponents of each model, as steps from it: most pairs never meet. */
const STEPS = [1, 2, 3, 5, 8, 13];

/** One name is longer than a phone is wide. */
export const called = (model) => (model === 3 ? "model-3 with a very long name of 2026-11-21, instruction-tuned and quantised" : `model-${model}`);

/** Imports votes of which the model with the lower number wins two of three. `name` says what a model is called. */
export function importManyVotes(folder, langya, name = called, more = () => ({}), models = MODELS) {
  const all = [];
  for (let model = 0; model < models; model += 1) {
    for (const step of STEPS) {
      const [one, other] = [model, (model + step) % models].sort((x, y) => x - y);
      for (const winner of ["model_a", "model_b", "model_a"]) {
        const names = { model_a: name(one), model_b: name(other) };
        // All at once: a history would take forty fits more.
        all.push({ ...names, winner, judge: `v${all.length % 97}`, tstamp: 1_790_000_000, ...more(all.length) });
      }
    }
  }
  return importVotes(folder, langya, all);
}
