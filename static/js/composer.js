// The field for questions: grows with its text, Enter sends, and the latest question can be edited in it.

import { notice } from "./notice.js";
import { fill, keep, kept, number, part } from "./page.js";
import { forgetFormer, onSignOut } from "./sign_outs.js";

/** What is written and not sent, for a reload of this tab: of each battle its own, and that of a question which begins one. */
const DRAFT = "langya-draft";
const MAX_PROMPT_BYTES = Number(document.querySelector("main").dataset.maxPromptBytes);
/** Keyboards on the screen have no Shift+Enter: there Enter begins a new line, and the button or Ctrl+Enter sends. */
const TOUCH = matchMedia("(pointer: coarse)");

export class Composer {
  #form = part("composer");
  #field = this.#form.elements.prompt;
  #button = this.#form.querySelector('button[type="submit"]');
  #editing = part("editing");
  #words;
  #firstText = this.#field.placeholder;
  #sendText = this.#button.textContent;
  /** The battle that the text belongs to; null where it begins one. */
  #battle;
  /** Rows of an empty field. */
  #least = 2;
  /** What stood in the field before a question was edited; null while none is. */
  #before = null;
  /** What was sent and stands in no turn yet: a reload brings it back. */
  #sent = "";

  /** @param {{send: (prompt: string) => void, edit: (prompt: string) => void}} actions `edit` is given an edited question. */
  constructor({ send, edit }, words) {
    this.#words = words;
    forgetFormer();
    onSignOut(() => this.#forget());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.#button.disabled) (this.isEditing ? edit : send)(this.#field.value);
    });
    this.#field.addEventListener("keydown", (event) => {
      // Keys that choose a Chinese character, or leave the choice, are not for the page.
      if (event.isComposing || event.keyCode === 229) return;
      if (event.key === "Escape" && this.isEditing) this.endEdit();
      if (event.key !== "Enter" || event.shiftKey || (TOUCH.matches && !event.ctrlKey && !event.metaKey)) return;
      event.preventDefault();
      this.#form.requestSubmit();
    });
    this.#field.addEventListener("input", () => this.#changed());
    this.#form.querySelector('[data-action="cancel-edit"]').addEventListener("click", () => {
      this.endEdit();
      this.focus();
    });
    if (TOUCH.matches) this.#field.removeAttribute("aria-describedby"); // It says what Enter does on other screens.
  }

  /**
   * The battle on the page; null for none. What stands in the field stays there, as what is written before this script has come, or what the
   * visitor takes along into a new battle; into an empty field comes the draft of the battle.
   */
  set battle(battle) {
    if (battle === this.#battle) return;
    if (this.#battle !== undefined) for (const key of [this.#draft, this.#returned]) keep("sessionStorage", key, null);
    this.#battle = battle;
    this.text = this.text || (kept("sessionStorage", this.#draft) ?? "");
  }

  get #draft() {
    return this.#battle ? `${DRAFT} ${this.#battle}` : DRAFT;
  }

  /** Key of the stopped question that the draft has been made of. */
  get #returned() {
    return `${this.#draft} returned`;
  }

  get text() {
    return this.#field.value;
  }

  set text(text) {
    this.#field.value = text;
    this.#changed();
  }

  /** Whether a question can be sent; says why where it cannot. */
  isSendable(prompt) {
    const fault = this.#faultOf(prompt);
    if (fault) notice(fault);
    return !fault;
  }

  #faultOf(prompt) {
    const bytes = new TextEncoder().encode(prompt).length;
    if (!prompt.trim()) return this.#words.error_prompt_empty;
    if (bytes <= MAX_PROMPT_BYTES) return null;
    // In characters as this question has them: up for the one and down for the other, so that they differ.
    const characters = [...prompt].length;
    const limit = Math.floor((characters * MAX_PROMPT_BYTES) / bytes);
    const step = limit < 1_000 ? 1 : 100;
    const size = number(Math.ceil(characters / step) * step);
    return fill(this.#words.prompt_too_long, { size, limit: number(Math.floor(limit / step) * step) });
  }

  /** Keeps a question that is sent until [`release`]. The field is free for the next one; what else stands in it stays. */
  hold(prompt) {
    keep("sessionStorage", this.#returned, null);
    this.#sent = prompt;
    if (this.text === prompt) this.text = "";
    this.#changed();
  }

  /** The question that was sent stands in its turn, or is given up. */
  release() {
    this.#sent = "";
    this.#changed();
  }

  /** Puts a question that was sent in vain before what was written since. */
  putBack(prompt) {
    this.#sent = "";
    this.text = joined(prompt, this.text);
  }

  /** Puts back a question whose replies were stopped. What the visitor has made of it since, in words of their own, stays as it is. */
  putBackOnce(prompt) {
    if (this.text && kept("sessionStorage", this.#returned) === prompt) return;
    this.putBack(prompt);
    keep("sessionStorage", this.#returned, prompt);
  }

  /**
   * A question stands in its turn: a reload has brought it back into the field, perhaps before what was written since. So it has one whose
   * replies were stopped, where this one was asked in its place.
   */
  drop(prompt) {
    for (const stood of [prompt, kept("sessionStorage", this.#returned)]) {
      if (!stood || (this.text !== stood && !this.text.startsWith(`${stood}\n\n`))) continue;
      this.text = this.text.slice(stood.length + 2);
      keep("sessionStorage", this.#returned, null);
    }
  }

  get isEditing() {
    return this.#before !== null;
  }

  /** Puts the latest question into the field, to be asked in other words. */
  beginEdit(prompt) {
    this.#before ??= this.text;
    this.text = prompt;
    this.#showEdit();
    this.focus();
  }

  /** Puts back what stood in the field. */
  endEdit() {
    if (!this.isEditing) return;
    const before = this.#before;
    this.#before = null;
    this.text = before;
    this.#showEdit();
  }

  #showEdit() {
    this.#editing.hidden = !this.isEditing;
    this.#button.textContent = this.isEditing ? this.#words.send_edited : this.#sendText;
  }

  /** What the field asks for; null where the next question is the first of a battle, which has two rows. */
  set placeholder(text) {
    this.#field.placeholder = text ?? this.#firstText;
    this.#least = text ? 1 : 2;
    this.#grow();
  }

  /** Text can be written at any time; it can be sent when the arena can take it. */
  set enabled(enabled) {
    this.#button.disabled = !enabled;
  }

  focus() {
    this.#field.focus();
  }

  /** Only where this brings up no keyboard on the screen. */
  focusAtOnce() {
    if (matchMedia("(hover: hover)").matches) this.#field.focus({ preventScroll: true });
  }

  /** Where the field would bring up a keyboard on the screen, its button: a visitor whose question was put back goes on from there. */
  focusPutBack() {
    this.focusAtOnce();
    if (document.activeElement === document.body) this.#button.focus({ preventScroll: true });
  }

  /** The visitor has signed out: the next one reads nothing of what was written. */
  #forget() {
    this.endEdit();
    this.#sent = "";
    this.text = "";
    forgetFormer();
  }

  #changed() {
    if (!this.isEditing) keep("sessionStorage", this.#draft, joined(this.#sent, this.#field.value) || null);
    this.#grow();
  }

  #grow() {
    // `rows` instead of a height in a style attribute, which the content security policy forbids.
    this.#field.rows = 1; // The placeholder of an empty field counts: on a narrow screen it may take two lines.
    const line = parseFloat(getComputedStyle(this.#field).lineHeight);
    const padding = this.#field.clientHeight - line;
    const lines = Math.round((this.#field.scrollHeight - padding) / line);
    this.#field.rows = Math.min(8, Math.max(this.#least, lines));
  }
}

function joined(...texts) {
  return texts.filter(Boolean).join("\n\n");
}
