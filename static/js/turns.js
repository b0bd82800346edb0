// The conversation on the page: one article a turn, two replies in each.

import { fill, part } from "./page.js";
import { patch } from "./vote_subject.js";

/** Milliseconds of each frame in which blocks are written; laying them out and painting takes as long again and more. */
const BUDGET = 3;
/** Milliseconds from one frame to the next from which on fewer blocks are written in each. */
const LATE = 20;
/** Blocks that the first frame writes of what came at once: one of each side. */
const FIRST = 1;
/** Blocks that are written in a frame at most. */
const MOST = 64;
/** Blocks from which on only those that are seen are laid out. */
const LONG = 8;
/** For how long the server is waited for when the text of a reply is copied, in milliseconds. */
const TEXT_MS = 3_000;
/** After so many milliseconds without a word from either model the page says that it takes long. */
const SLOW_MS = 10_000;

export class Turns {
  #list = part("turns");
  #template = part("turn-template");
  #switch = document.querySelector(".side-switch");
  #main = document.querySelector("main");
  #words;
  #shown;
  /** Blocks that wait to be written, the latest of each, in the order in which they came. */
  #waiting = new Map();
  #scheduled = false;
  /** Blocks that the next frame writes: twice as many after a frame that came in time, half after one that was late. */
  #portion = FIRST;
  /** When the frame before was written, while blocks wait. */
  #wroteAt = null;
  /** The blocks of each reply: looking for one among thousands of children takes as many steps. */
  #blocks = new WeakMap();
  /** The HTML of each block of a reply as it came last. */
  #html = new WeakMap();
  /** Who waits for the text of a reply, by turn and side. */
  #asked = new Map();
  #askText;
  #long;
  /** What serves the copy buttons, once it is loaded. */
  #copying = null;

  /**
   * @param {{edit: () => void, shown: () => void, askText: (turn: number, side: string) => boolean}} actions `shown` follows the
   *   choice of a side on a narrow screen; `askText` asks the server for a reply as the model wrote it, and says whether it could.
   */
  constructor(words, { edit, shown, askText }) {
    this.#words = words;
    this.#shown = shown;
    this.#askText = askText;
    this.#switch.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-show-side]");
      if (button) this.#show(button.dataset.showSide);
    });
    this.#list.addEventListener("click", ({ target }) => target.closest('[data-action="edit"]') && edit());
  }

  /** Copy buttons come with the first turn: before it there is nothing to copy. What could not be loaded is tried again with the next. */
  async #loadCopying() {
    try {
      const copying = await import("./copying.js");
      copying.serveCopies(this.#list, (button) => this.#text(button.closest(".reply")), this.#words);
      return copying;
    } catch {
      this.#copying = null;
      return null;
    }
  }

  /** Adds a turn, or empties the one that is answered again. Gives its article. */
  begin(turn, prompt) {
    this.#copying ??= this.#loadCopying();
    const known = this.#turn(turn);
    const article = known ?? this.#add(turn, prompt);
    for (const [key, block] of this.#waiting) if (block.turn === turn) this.#waiting.delete(key);
    if (prompt) part("prompt", article).textContent = prompt;
    for (const side of ["a", "b"]) {
      const place = reply(article, side);
      const blocks = part("blocks", place);
      blocks.replaceChildren();
      blocks.classList.remove("long");
      this.#blocks.delete(blocks);
      this.#html.set(place, []);
      this.setState(turn, side, "waiting");
    }
    clearTimeout(this.#long);
    this.#long = setTimeout(() => this.has(turn) && this.#sayLong(turn), SLOW_MS);
    return article;
  }

  /** The article of a turn, or null. */
  article(turn) {
    return this.#turn(turn);
  }

  /** The text of a reply as the model wrote it; what is on the page, where the server does not answer. */
  #text(place) {
    const { side } = place.dataset;
    const turn = Number(place.closest(".turn").dataset.turn);
    const shown = part("blocks", place).innerText;
    return new Promise((resolve) => {
      this.#asked.set(`${turn} ${side}`, (text) => resolve(text ?? shown));
      if (!this.#askText(turn, side)) resolve(shown);
      setTimeout(resolve, TEXT_MS, shown);
    });
  }

  /** Takes in the text of a reply; null where the server does not have it. */
  takeText(turn, side, text) {
    this.#asked.get(`${turn} ${side}`)?.(text);
    this.#asked.delete(`${turn} ${side}`);
  }

  /** The side that has not been looked at, on a narrow screen; null where both have. */
  get unread() {
    if (!this.#switch.checkVisibility()) return null;
    return ["a", "b"].find((side) => !part("unread", this.#tab(side)).hidden) ?? null;
  }

  /**
   * Shows what changes on both sides: of each block the part that is kept of what it was, and what follows; an empty one is
   * removed. The server has made the HTML safe. A reply may have thousands of blocks at once: each frame writes as many as the
   * machine takes without being late, so that the page never stalls. On a narrow screen the side that is not shown has something to read then.
   */
  change({ turn, a = [], b = [] }) {
    for (const [side, blocks] of [["a", a], ["b", b]]) {
      if (blocks.length === 0) continue;
      const place = reply(this.#turn(turn), side);
      const all = this.#html.get(place);
      patch(all, blocks);
      for (const [index] of blocks) this.#waiting.set(`${turn} ${side} ${index}`, { turn, side, index, html: all[index] });
      // After a lost connection the blocks of a reply that has ended come again; beside one that has failed the other goes on.
      if (["ended", "failed"].includes(place.dataset.state)) continue;
      this.setState(turn, side, "writing");
      if (side !== this.#main.dataset.shownSide) part("unread", this.#tab(side)).hidden = false;
    }
    this.#soon();
  }

  #soon() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const write = () => {
      this.#scheduled = false;
      this.#writeSome();
      if (this.#waiting.size > 0) this.#soon();
    };
    // A page that nobody sees has no frames.
    if (document.hidden) setTimeout(write, 100);
    else requestAnimationFrame(write);
  }

  /** Writes as many of the waiting blocks as the frame takes. */
  #writeSome() {
    const began = performance.now();
    const isLate = this.#wroteAt !== null && began - this.#wroteAt > LATE;
    const portion = this.#wroteAt === null ? FIRST : this.#portion * (isLate ? 0.5 : 2);
    this.#portion = document.hidden ? MOST : Math.min(Math.max(portion, 1), MOST);
    let written = 0;
    for (const [key, block] of this.#waiting) {
      this.#waiting.delete(key);
      this.#write(block);
      written += 1;
      if (written >= this.#portion || performance.now() - began > BUDGET) break;
    }
    this.#wroteAt = this.#waiting.size > 0 ? began : null;
  }

  #write({ turn, side, index, html }) {
    const blocks = part("blocks", reply(this.#turn(turn), side));
    if (!this.#blocks.has(blocks)) this.#blocks.set(blocks, []);
    const all = this.#blocks.get(blocks);
    while (html && all.length <= index) {
      all.push(Object.assign(document.createElement("div"), { className: "block" }));
      blocks.append(all.at(-1));
    }
    if (all[index]) {
      all[index].innerHTML = html;
      this.#copying?.then((copying) => copying?.offerCode(all[index], this.#words));
    }
    if (all.length === LONG) blocks.classList.add("long");
  }

  /** Marks the replies of a turn that have not ended as failed, in the same words for both sides. */
  fail(turn) {
    for (const side of ["a", "b"]) {
      if (reply(this.#turn(turn), side).dataset.state !== "ended") this.setState(turn, side, "failed");
    }
  }

  /** Says of a turn of which nothing has come that it takes long, in the same words for both sides. */
  #sayLong(turn) {
    for (const side of ["a", "b"]) {
      const place = reply(this.#turn(turn), side);
      if (place.dataset.state === "waiting") part("state", place).textContent = this.#words.slow;
    }
  }

  /** `waiting`, `writing`, `ended` or `failed`. */
  setState(turn, side, state) {
    const place = reply(this.#turn(turn), side);
    if (place.dataset.state === state) return;
    place.dataset.state = state;
    part("state", place).textContent = this.#words[state];
    const dot = this.#switch.querySelector(`[data-dot="${side}"]`);
    dot.dataset.state = state;
    // A narrow screen hides the words at the reply itself.
    for (const [name, value] of [["role", "img"], ["aria-label", this.#words[state]]]) dot.setAttribute(name, value);
  }

  has(turn) {
    return this.#turn(turn) !== null;
  }

  /** The HTML blocks of both sides as they came last. */
  replies(turn) {
    return ["a", "b"].map((side) => this.#html.get(reply(this.#turn(turn), side)));
  }

  isEmpty(turn, side) {
    return this.#html.get(reply(this.#turn(turn), side)).length === 0;
  }

  /** Whether all who answer a turn have said something; also where there is no such turn. */
  isComparable(turn) {
    const sides = this.#main.dataset.mode === "direct" ? ["a"] : ["a", "b"];
    return !this.has(turn) || !sides.some((side) => this.isEmpty(turn, side));
  }

  /** Marks the replies of the side that was chosen. */
  stamp(outcome) {
    for (const place of this.#list.querySelectorAll(".reply")) part("stamp", place).hidden = place.dataset.side !== outcome;
  }

  /** What was asked after the vote stays to be read; a further chat counts its turns from one. */
  endChat() {
    for (const block of this.#waiting.values()) this.#write(block);
    this.#waiting.clear();
    for (const article of this.#list.querySelectorAll(".reveal ~ .turn")) delete article.dataset.turn;
  }

  /** Marks a turn on which no vote is rated, in these words where it is kept. */
  markUnrated(turn, text) {
    const label = part("unrated", this.#turn(turn));
    if (text) label.textContent = text;
    label.hidden = false;
  }

  /** Puts the names where the letters stood. */
  name(side, name) {
    const named = [...this.#list.querySelectorAll(`.reply[data-side="${side}"]`)].map((place) => part("name", place));
    for (const place of named) place.classList.add("named");
    // A browser that translates the page leaves names as they are.
    for (const place of [...named, part("side-name", this.#tab(side))]) Object.assign(place, { textContent: name, translate: false });
  }

  /** Names the models of the visitor's choice, of which no vote is rated. */
  showChosen({ turn, mode, models }) {
    if (!mode) return;
    for (const [side, model] of Object.entries(models)) this.name(side, model.name);
    this.markUnrated(turn, this.#words.unrated_kept);
  }

  clear() {
    this.#waiting.clear();
    this.#list.replaceChildren();
    for (const side of ["a", "b"]) {
      const name = part("side-name", this.#tab(side));
      Object.assign(name, { textContent: name.dataset.hiddenName, translate: true });
      part("unread", this.#tab(side)).hidden = true;
    }
    this.#show("a");
  }

  #add(turn, prompt) {
    const article = this.#template.content.cloneNode(true).firstElementChild;
    article.dataset.turn = turn;
    part("turn-title", article).textContent = fill(this.#words.turn, { n: turn });
    part("prompt", article).textContent = prompt ?? "";
    this.#list.append(article);
    return article;
  }

  #tab(side) {
    return this.#switch.querySelector(`[data-show-side="${side}"]`);
  }

  #turn(turn) {
    return this.#list.querySelector(`[data-turn="${Number(turn)}"]`);
  }

  /** On a narrow screen one reply shows at a time. */
  #show(side) {
    this.#main.dataset.shownSide = side;
    part("unread", this.#tab(side)).hidden = true;
    for (const button of this.#switch.querySelectorAll("[data-show-side]")) {
      button.setAttribute("aria-pressed", String(button.dataset.showSide === side));
    }
    this.#shown();
  }
}

function reply(article, side) {
  return article.querySelector(`.reply[data-side="${side}"]`);
}
