// The decisions of a campaign that the arena has not stored yet, oldest first, kept on the device so that a lost connection and a reload lose none.
// Each has the token of its annotator as `by`: a tab without a connection may have one, and another tab, or somebody else on this device, another.

import { keep, kept } from "./page.js";

export class UnsentDecisions {
  #key;
  /** Those of this page, by their assignments; they last without storage. */
  #own = new Map();

  /** @param {string} campaign its id */
  constructor(campaign) {
    this.#key = `langya-campaign-waiting-${campaign}`;
  }

  /** The decisions of the annotator with this token. Those of others would be refused with it, and lost. */
  of(token) {
    const earlier = this.#keptWithout(null).filter(({ assignment, by }) => (by ?? token) === token && !this.#own.has(assignment));
    return [...earlier, ...this.#own.values()];
  }

  /** The decisions of everybody else who judged on this device. */
  ofOthers(token) {
    return this.#keptWithout(null).filter(({ by }) => (by ?? token) !== token);
  }

  /** Keeps a decision of this page; `by` is the token of its annotator. */
  keep(decision) {
    this.#own.set(decision.assignment, decision);
    keep("localStorage", this.#key, JSON.stringify([...this.#keptWithout(decision.assignment), decision]));
  }

  drop({ assignment }) {
    this.#own.delete(assignment);
    const left = this.#keptWithout(assignment);
    keep("localStorage", this.#key, left.length ? JSON.stringify(left) : null);
  }

  /** What the device keeps of everybody, without the decision on one assignment. */
  #keptWithout(assignment) {
    const all = [JSON.parse(kept("localStorage", this.#key) ?? "[]")].flat();
    return all.filter((other) => other.assignment !== assignment);
  }
}
