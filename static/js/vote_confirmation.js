// The moment between the choice of an outcome and the vote: the choice can be taken back, and reasons can be added while the names are
// hidden.
//
// Nothing is stored meanwhile. The clock stops as soon as the visitor turns to the reasons, or where the visitor has asked
// for that; then the vote goes out with "Show the names", or after two minutes without a touch.

import { keep, kept, part } from "./page.js";

const UNDO_MS = 2_000;
/** On a touch screen what comes up under the finger that has just chosen rests: a second tap there chooses no reason. */
const REST_MS = 500;
/** A vote waits no longer for a visitor who touches nothing. */
export const LONGEST_MS = 120_000;
const WAIT = "langya-wait";

export class VoteConfirmation {
  #place = part("vote-confirmation");
  #show = this.#place.querySelector('[data-action="show"]');
  #waits = part("wait");
  #words;
  #cast;
  #more = part("confirmation-more");
  #outcome = null;
  #timer;
  #rest;

  /** @param {{cast: () => void, undo: (outcome: string) => void}} actions `cast` sends [`vote`]. */
  constructor(words, { cast, undo }) {
    this.#words = words;
    this.#cast = cast;
    this.#waits.checked = kept("localStorage", WAIT) === "on";
    const take = ({ detail }) => detail < 2 && cast(); // The second click of a double click was meant for the vote buttons.
    this.#show.addEventListener("click", take);
    const takeBack = () => undo(this.#outcome);
    this.#place.querySelector('[data-action="undo"]').addEventListener("click", ({ detail }) => detail < 2 && takeBack());
    document.addEventListener("keydown", ({ key }) => key === "Escape" && this.#outcome && takeBack());
    for (const sign of ["pointerdown", "change", "focusin"]) {
      this.#more.addEventListener(sign, () => this.#run("waiting"));
    }
    this.#waits.addEventListener("change", ({ target }) => {
      keep("localStorage", WAIT, target.checked ? "on" : null);
      this.#run(target.checked ? "waiting" : "running");
    });
  }

  /** The vote that is not sent yet; null where there is none. */
  get vote() {
    if (!this.#outcome) return null;
    const checked = (name) => [...this.#place.querySelectorAll(`input[name="${name}"]:checked`)].map((one) => one.value);
    const [satisfaction] = checked("satisfaction").map(Number);
    const [a, b] = [checked("reasons-a"), checked("reasons-b")];
    return { outcome: this.#outcome, satisfaction, reasons: a.length + b.length > 0 ? { a, b } : undefined };
  }

  open(outcome) {
    this.#outcome = outcome;
    part("confirmation-title").textContent = this.#words[`chose_${outcome}`];
    const question = part("satisfaction");
    const isAlone = this.#place.closest("main").dataset.mode === "direct";
    const isBetter = !isAlone && !["tie", "both_bad"].includes(outcome);
    question.textContent = isBetter ? question.dataset.better : question.dataset.both;
    // What is hidden would still name the vote buttons.
    part("vote-buttons").setAttribute("aria-labelledby", "confirmation-title");
    this.#more.inert = matchMedia("(pointer: coarse)").matches;
    this.#rest = setTimeout(() => (this.#more.inert = false), REST_MS);
    this.#run(this.#waits.checked ? "waiting" : "running");
    this.#show.focus({ preventScroll: true });
  }

  close() {
    clearTimeout(this.#timer);
    clearTimeout(this.#rest);
    this.#outcome = null;
    part("vote-buttons").setAttribute("aria-labelledby", "vote-buttons-title");
  }

  /** For a new battle. */
  reset() {
    this.close();
    for (const input of this.#place.querySelectorAll("fieldset input")) input.checked = false;
  }

  /** `running`: the vote goes out by itself soon. `waiting`: it waits for the visitor. */
  #run(clock) {
    if (!this.#outcome) return;
    this.#place.dataset.clock = clock;
    part("confirmation-hint").textContent = this.#words[`confirmation_${clock}`];
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#cast, clock === "running" ? UNDO_MS : LONGEST_MS);
  }
}
