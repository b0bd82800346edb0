// The first question of a battle, and the cards that propose one. The models of the visitor's choice go with it, images, the consent to what is
// stored, and under pressure the solution of a computation. Scripts for what is seldom are loaded where it is needed: the first visit stays small.

import { notice } from "./notice.js";
import { announce, part } from "./page.js";

const main = document.querySelector("main");
/** Questions to begin with: one card for each intent, and others of the same intent when asked for. */
const cards = [...document.querySelectorAll("[data-card]")];
/** Cards that come up under the finger that has begun another battle rest first: a second tap there asks nothing. */
const REST_MS = 500;
/** More challenges in a row mean that the page's solutions are not taken. */
const PROOFS = 3;

export class FirstQuestion {
  /** The question as it was asked, for another pair of models, and the ids of the images beside it. */
  prompt = "";
  images = [];
  #words;
  #modes;
  /** Absent where the arena takes no images, or where their script fails to load. */
  #attached = null;
  /** The version of the text that the visitor has agreed to on this page. */
  #consent;
  /** Challenges that came for the question that waits. */
  #proofs = 0;

  /** @param words of all scripts of the page @param {import("./modes.js").Modes} modes */
  constructor(words, modes) {
    this.#words = words;
    this.#modes = modes;
  }

  /** Lets images be attached, where the arena takes them: the button shows once its script is there. */
  async loadImages() {
    const place = part("attached");
    if (!place) return;
    const script = await import("./images.js").catch(() => null);
    place.hidden = !script;
    if (!script) return;
    this.#attached = new script.Images(notice);
    Object.assign(this.#words, { ...this.#attached.words, ...this.#words });
    delete place.dataset.awaits;
  }

  /** Before the first battle the visitor agrees to what is stored. Fails without a word where the visitor does not. */
  async #agree() {
    if (!("asks" in main.dataset)) return;
    const asked = import("./consent.js").then(({ askForConsent }) => askForConsent());
    this.#consent = await asked.catch(() => Promise.reject(new Error(this.#words.not_sent)));
    if (!this.#consent) throw new Error("");
    delete main.dataset.asks;
  }

  /**
   * The frame that asks it, with images that the arena has; without these (null) with those that are attached, which are sent first.
   * Fails with an error that says what to do.
   */
  async frame(prompt, intent, images) {
    this.#proofs = 0;
    await this.#agree();
    const isBare = !this.#attached || this.#attached.isEmpty;
    const ids = images ?? (isBare ? [] : await this.#attached.send());
    return { type: "start", prompt, images: ids, intent, consent: this.#consent, render: "blocks", ...this.#modes.start };
  }

  /** Whether a challenge is worth its computation. */
  get isProvable() {
    return this.#proofs < PROOFS;
  }

  /**
   * Computes what the arena asks for under pressure. Gives the solution, and null where another challenge has come meanwhile. Fails with
   * an error that says why there is none.
   */
  async prove(proof) {
    const round = (this.#proofs += 1);
    const script = await import("./proof_of_work.js").catch(() => null);
    const solution = await script?.prove(proof).catch(() => null);
    if (round !== this.#proofs) return null;
    if (!solution) throw new Error(script ? this.#words.error_proof_required : this.#words.proof_not_loaded);
    return solution;
  }

  /** The question stands in its turn: so do its images, and none are attached any more. */
  async moveImages(article, ids = []) {
    this.#attached?.clear();
    if (ids.length === 0) return;
    // Without the script the question stands alone, as the models still see its images.
    const { show } = await import("./images.js").catch(() => ({}));
    show?.(article, ids, this.#words);
  }

  /** The arena does not know the attached images any more. */
  forgetImageIds() {
    this.#attached?.forgetIds();
  }
}

let rest;

/** Lets the cards rest; a tap that comes too early meets nothing. */
export function restCards() {
  const place = document.querySelector(".cards");
  clearTimeout(rest);
  place.inert = true;
  rest = setTimeout(() => (place.inert = false), REST_MS);
}

/** @param {(prompt: string, intent: string) => void} send @param {string} shuffled what is said after other questions came */
export function serveCards(send, shuffled) {
  for (const card of cards) {
    const text = card.querySelector('[data-part="card-prompt"]');
    card.addEventListener("click", () => send(text.textContent, card.dataset.intent));
  }
  document.querySelector('[data-action="shuffle"]').addEventListener("click", () => {
    cards.forEach(turnOver);
    announce(shuffled);
  });
}

function turnOver(card) {
  const prompts = JSON.parse(card.dataset.prompts);
  const text = card.querySelector('[data-part="card-prompt"]');
  const step = 1 + Math.floor(Math.random() * (prompts.length - 1));
  text.textContent = prompts[(prompts.indexOf(text.textContent) + step) % prompts.length];
}
