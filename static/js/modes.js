// Choice of the models that answer: two hidden ones, or models that the visitor chooses. The choice is remembered in this browser.
//
// The page itself names no model. Those that can be chosen come from the register when a visitor wants to choose.

import { keep, kept, part } from "./page.js";

const KEPT = "langya-mode";
const REGISTER = "/api/v1/models";
const main = document.querySelector("main");

export class Modes {
  /** Absent where the arena offers no choice. */
  #place = part("modes");
  #mode = part("mode");
  #models = [part("model-a"), part("model-b")];
  #words;
  /** What is said in other words: everywhere, of chosen models, where all of them are known, and of one that answers alone. */
  #said = { everywhere: {}, chosen: {}, known: {}, alone: {} };
  #usual;
  /** The models that can be chosen; null until they are asked for. */
  #list = null;

  /** @param {Record<string, string>} words of all scripts of the page; the few that differ are put in for each battle */
  constructor(words) {
    this.#words = words;
    if (this.#place) {
      this.#said = JSON.parse(this.#place.dataset.strings);
      choose(this.#mode, remembered().mode);
      this.#place.addEventListener("change", () => this.#changed());
    }
    Object.assign(words, this.#said.everywhere);
    this.#usual = { ...words };
    this.end();
  }

  /** What the choice adds to a `start`. */
  get start() {
    const mode = this.#mode?.value ?? "anonymous";
    if (mode === "anonymous") return {};
    const [a, b] = this.#models.map((field) => field.value);
    return mode === "named" ? { mode, models: [a, b] } : { mode, model: a };
  }

  /** Why no battle can begin with this choice; null where one can. */
  get fault() {
    const { mode, model, models = [model] } = this.start;
    if (!mode) return null;
    if (models.includes("")) {
      this.#load();
      return this.#words.models_missing;
    }
    return models[0] === models[1] ? this.#words.same_model : null;
  }

  /** A battle in this mode is on the page. */
  begin(mode = "anonymous") {
    main.dataset.mode = mode;
    const { chosen, known, alone } = this.#said;
    const differing = { named: { ...chosen, ...known }, one_hidden: chosen, direct: { ...chosen, ...known, ...alone } };
    Object.assign(this.#words, this.#usual, differing[mode]);
  }

  /** No battle is on the page: the choice is. */
  end() {
    this.begin();
    this.#show();
  }

  #changed() {
    const models = this.#models.map((field) => field.value);
    keep("localStorage", KEPT, JSON.stringify({ mode: this.#mode.value, models: this.#list ? models : remembered().models }));
    this.#show();
  }

  #show() {
    if (!this.#place) return;
    this.#place.dataset.choice = this.#mode.value;
    part("mode-explained").textContent = this.#mode.selectedOptions[0].dataset.explained;
    if (this.#mode.value !== "anonymous") this.#load();
  }

  async #load() {
    this.#list ??= offered();
    try {
      this.#fill(await this.#list);
    } catch {
      this.#list = null; // Asked again with the next choice or question.
    }
  }

  #fill(models) {
    for (const [at, field] of this.#models.entries()) {
      if (field.options.length > 0) return;
      field.append(...models.map(({ id, name, practice }) => new Option(practice ? `${name} · ${field.dataset.practice}` : name, id)));
      field.selectedIndex = Math.min(at, models.length - 1);
      // What is no longer offered is not chosen.
      choose(field, remembered().models?.[at]);
    }
  }
}

/** The models that take part, by name. */
async function offered() {
  const answer = await fetch(REGISTER);
  if (!answer.ok) throw new Error(answer.statusText);
  const { models } = await answer.json();
  return models.filter(({ state }) => state === "active").sort((one, other) => one.name.localeCompare(other.name));
}

function remembered() {
  return JSON.parse(kept("localStorage", KEPT) ?? "{}");
}

function choose(field, value) {
  if ([...field.options].some((option) => option.value === value)) field.value = value;
}
