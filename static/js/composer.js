// The field for questions: grows with its text, Enter sends, examples fill it.

import { keep, kept, part } from "./page.js";

/** What is written and not sent, for a reload of this tab. */
const DRAFT = "langya-draft";

export class Composer {
  #form = part("composer");
  #field = this.#form.elements.prompt;
  #button = this.#form.querySelector("button");

  #firstText = this.#field.placeholder;
  #followUpText;

  /** @param {(prompt: string) => void} send */
  constructor(send, followUpText) {
    this.#followUpText = followUpText;
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.#button.disabled) send(this.#field.value);
    });
    this.#field.addEventListener("keydown", (event) => {
      // An Enter that ends the choice of a Chinese character does not send.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      this.#form.requestSubmit();
    });
    this.#field.addEventListener("input", () => this.#changed());
    for (const example of document.querySelectorAll("[data-example]")) {
      example.addEventListener("click", () => send(example.textContent));
    }
    this.text = kept("sessionStorage", DRAFT) ?? "";
  }

  get text() {
    return this.#field.value;
  }

  set text(text) {
    this.#field.value = text;
    this.#changed();
  }

  /** Whether the next question goes on with a battle. */
  set followUp(followUp) {
    this.#field.placeholder = followUp ? this.#followUpText : this.#firstText;
  }

  /** Text can be written at any time; it can be sent when the arena can take it. */
  set enabled(enabled) {
    this.#button.disabled = !enabled;
  }

  focus() {
    this.#field.focus();
  }

  #changed() {
    keep("sessionStorage", DRAFT, this.#field.value || null);
    this.#grow();
  }

  #grow() {
    // `rows` instead of a height in a style attribute, which the content security policy forbids.
    this.#field.rows = 1;
    if (!this.#field.value) return; // The placeholder must not count.
    const line = parseFloat(getComputedStyle(this.#field).lineHeight);
    const padding = this.#field.clientHeight - line;
    const lines = Math.round((this.#field.scrollHeight - padding) / line);
    this.#field.rows = Math.min(8, Math.max(1, lines));
  }
}
