// The ballot: four outcomes by mouse, by arrow keys, and by the number keys unless they are switched off.

import { keep, kept, part } from "./page.js";

const KEYS = { 1: "a", 2: "b", 3: "tie", 4: "both_bad" };
const ARROWS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
const SWITCH = "langya-number-keys";

export class Ballot {
  #place = part("ballot");
  #hint = part("ballot-hint");
  #choices = [...this.#place.querySelectorAll("[data-outcome]")];
  #satisfaction = part("satisfaction");
  #keys = part("keys");
  #vote;

  /** @param {(outcome: string, satisfaction: number | undefined) => void} vote */
  constructor(vote) {
    this.#vote = vote;
    for (const choice of this.#choices) choice.addEventListener("click", () => this.#cast(choice));
    this.#place.querySelector(".choices").addEventListener("keydown", (event) => this.#move(event));
    document.addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("focusin", ({ target }) => this.#raise(target));
    this.#keys.checked = kept("localStorage", SWITCH) !== "off";
    this.#keys.addEventListener("change", () => keep("localStorage", SWITCH, this.#keys.checked ? "on" : "off"));
  }

  open(hint) {
    this.#set(true, hint);
  }

  close(hint) {
    this.#set(false, hint);
  }

  /** For a new battle. */
  reset() {
    for (const input of this.#satisfaction.querySelectorAll("input")) input.checked = false;
    for (const choice of this.#choices) choice.classList.remove("chosen");
  }

  #set(open, hint) {
    for (const choice of this.#choices) choice.disabled = !open;
    this.#hint.textContent = hint;
  }

  /**
   * Where there is little height the rest of the ballot is below the screen: it comes up for the keyboard, and stays while
   * the focus is in the ballot, so that no choice moves under a finger.
   */
  #raise(target) {
    const { classList } = this.#place;
    const called = target.closest(".ballot-more") !== null && target.matches(":focus-visible");
    classList.toggle("raised", this.#place.contains(target) && (called || classList.contains("raised")));
  }

  #cast(choice) {
    if (choice.disabled) return;
    choice.classList.add("chosen");
    const value = this.#satisfaction.querySelector("input:checked")?.value;
    this.#vote(choice.dataset.outcome, value ? Number(value) : undefined);
  }

  #move(event) {
    const step = ARROWS[event.key];
    const from = this.#choices.indexOf(event.target);
    if (!step || from < 0) return;
    event.preventDefault();
    this.#choices[(from + step + this.#choices.length) % this.#choices.length].focus();
  }

  #key(event) {
    const outcome = KEYS[event.key];
    const typing = event.target.closest?.("textarea, input, select, [contenteditable]");
    if (!outcome || typing || !this.#keys.checked || event.ctrlKey || event.metaKey || event.altKey) return;
    this.#cast(this.#choices.find((choice) => choice.dataset.outcome === outcome));
  }
}
