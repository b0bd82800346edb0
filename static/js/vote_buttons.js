// The buttons of the vote: four outcomes by mouse, by arrow keys, and by the number keys unless they are switched off.

import { keySwitch, part } from "./page.js";

const KEYS = { 1: "a", 2: "b", 3: "tie", 4: "both_bad" };
const ARROWS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
/** On a touch screen the choices come up under the finger that scrolls or was about to stop the replies: they rest first. */
const REST_MS = 500;

export class VoteButtons {
  #place = part("vote-buttons");
  #hint = part("vote-buttons-hint");
  #choices = [...this.#place.querySelectorAll("[data-outcome]")];
  #keys = keySwitch();
  #rest;
  #vote;

  /** @param {(outcome: string) => void} vote */
  constructor(vote) {
    this.#vote = vote;
    for (const choice of this.#choices) choice.addEventListener("click", () => this.#cast(choice));
    this.#place.querySelector(".choices").addEventListener("keydown", (event) => this.#move(event));
    document.addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("focusin", ({ target }) => this.#raise(target));
  }

  open(hint) {
    this.hint = hint;
    clearTimeout(this.#rest);
    if (matchMedia("(pointer: coarse)").matches) this.#rest = setTimeout(() => this.#enable(true), REST_MS);
    else this.#enable(true);
  }

  close(hint) {
    this.hint = hint;
    clearTimeout(this.#rest);
    this.#enable(false);
  }

  set hint(hint) {
    this.#hint.textContent = hint;
  }

  /** Marks the outcome that is chosen; null where it is taken back, or for a new battle. */
  mark(outcome) {
    for (const choice of this.#choices) choice.classList.toggle("chosen", choice.dataset.outcome === outcome);
  }

  /** The keyboard and screen readers go on at an outcome; while the choices rest, at their group. */
  focus(outcome) {
    const choice = this.#choice(outcome);
    const place = !choice || choice.disabled ? this.#place.querySelector(".choices") : choice;
    place.focus({ preventScroll: true });
  }

  #choice(outcome) {
    return this.#choices.find((choice) => choice.dataset.outcome === outcome);
  }

  #enable(enabled) {
    for (const choice of this.#choices) choice.disabled = !enabled;
  }

  /**
   * Where there is little height the rest of the vote buttons is below the screen: it comes up for the keyboard, and stays while
   * the focus is in the vote buttons, so that no choice moves under a finger.
   */
  #raise(target) {
    const { classList } = this.#place;
    const called = target.closest(".vote-buttons-more") !== null && target.matches(":focus-visible");
    classList.toggle("raised", this.#place.contains(target) && (called || classList.contains("raised")));
  }

  #cast(choice) {
    if (!choice.disabled && choice.checkVisibility()) this.#vote(choice.dataset.outcome);
  }

  #move(event) {
    const step = ARROWS[event.key];
    const choices = this.#choices.filter((choice) => choice.checkVisibility());
    const from = choices.indexOf(event.target);
    if (!step || from < 0) return;
    event.preventDefault();
    choices[(from + step + choices.length) % choices.length].focus();
  }

  #key(event) {
    const outcome = KEYS[event.key];
    const typing = event.target.closest?.("textarea, input, select, [contenteditable]");
    if (!outcome || typing || !this.#keys.checked || event.ctrlKey || event.metaKey || event.altKey) return;
    this.#cast(this.#choice(outcome));
  }
}
