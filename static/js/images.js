// Images beside the first question of a battle: chosen, pasted or dropped, shown small, and sent with the question.

import { COLON, fill, keep, kept, number, part } from "./page.js";

/** Says after a reload of this tab that images were chosen: the files themselves are gone with the page. */
const CHOSEN = "langya-images";
const TYPES = ["image/png", "image/jpeg", "image/webp"];
/** Pixels of a side of a small picture, twice what it takes on the page. */
const SMALL = 128;

export class Images {
  #place = part("attached");
  #list = part("attached-list", this.#place);
  #button = part("attach", this.#place);
  #input = part("attach-files", this.#place);
  #words = JSON.parse(this.#place.dataset.strings);
  #max = Number(this.#place.dataset.max);
  #maxBytes = Number(this.#place.dataset.maxBytes);
  #say;
  /** The chosen ones: `{ file, row, id }`, with an id from when the arena has it. */
  #chosen = [];

  /** @param {(text: string) => void} say what is wrong, or nothing any more */
  constructor(say) {
    this.#say = say;
    const limit = number(Math.floor(this.#maxBytes / 100_000) / 10, 1);
    this.#words.error_image_too_large = fill(this.#words.error_image_too_large, { limit });
    this.#words.error_too_many_images = fill(this.#words.error_too_many_images, { max: number(this.#max) });
    const form = part("composer");
    this.#button.addEventListener("click", () => this.#input.click());
    this.#input.addEventListener("change", () => {
      this.#add(this.#input.files);
      this.#input.value = "";
    });
    form.addEventListener("paste", (event) => this.#takeOver(event, event.clipboardData));
    form.addEventListener("dragover", (event) => event.dataTransfer.types.includes("Files") && event.preventDefault());
    form.addEventListener("drop", (event) => this.#takeOver(event, event.dataTransfer));
    if (kept("sessionStorage", CHOSEN)) say(this.#words.not_kept);
    keep("sessionStorage", CHOSEN, null);
  }

  get words() {
    return this.#words;
  }

  get isEmpty() {
    return this.#chosen.length === 0;
  }

  /**
   * Sends those that the arena does not have yet and gives the ids of all. Fails with an error that says what to do; an image that the
   * arena refuses is no longer attached then.
   */
  async send() {
    this.#say(this.#words.sending);
    const faults = [];
    for (const image of this.#chosen) {
      try {
        image.id ??= await this.#post(image.file);
      } catch ({ message, cause }) {
        faults.push(message);
        if (cause !== image.file) break;
        this.#remove(image);
      }
    }
    if (faults.length > 0) throw new Error(faults.join(" "));
    this.#say("");
    return this.#chosen.map(({ id }) => id);
  }

  /** The question with these images has begun. */
  clear() {
    this.#chosen = [];
    this.#list.replaceChildren();
    this.#show();
  }

  /** The arena does not know them any more. */
  forgetIds() {
    for (const image of this.#chosen) image.id = undefined;
  }

  async #post(file) {
    let answer;
    try {
      answer = await fetch("/images", { method: "POST", body: file, headers: { "content-type": "application/octet-stream" } });
    } catch {
      throw new Error(this.#words.not_sent);
    }
    const said = await answer.json().catch(() => ({}));
    if (answer.ok) return said.image;
    const text = this.#words[`error_${said.code}`] ?? said.message ?? this.#words.not_sent;
    if (![413, 415, 422].includes(answer.status)) throw new Error(text);
    throw new Error(fill(this.#words.left_out, { why: ofFile(file, text) }), { cause: file });
  }

  /** Text that is pasted or dropped goes its usual way. */
  #takeOver(event, { files }) {
    if (files.length === 0 || !this.#button.checkVisibility()) return;
    event.preventDefault();
    this.#add(files);
  }

  /** Says of each fault one file that has it. */
  #add(files) {
    const faults = new Map();
    for (const file of files) {
      const fault = this.#faultOf(file);
      if (!fault) this.#choose(file);
      else if (!faults.has(fault)) faults.set(fault, fault === this.#words.error_too_many_images ? fault : ofFile(file, fault));
    }
    this.#say([...faults.values()].join(" "));
    this.#show();
  }

  #faultOf({ type, size }) {
    if (!TYPES.includes(type)) return this.#words.error_image_unusable;
    if (size > this.#maxBytes) return this.#words.error_image_too_large;
    return this.#chosen.length < this.#max ? null : this.#words.error_too_many_images;
  }

  #choose(file) {
    const row = part("attached-row", this.#place).content.cloneNode(true).firstElementChild;
    const image = { file, row };
    this.#chosen.push(image);
    this.#list.append(row);
    this.#draw(file, row);
    row.querySelector("button").addEventListener("click", () => {
      this.#remove(image);
      this.#say(""); // What was wrong may have been wrong with this one.
      this.#button.focus();
    });
  }

  #remove(image) {
    this.#chosen = this.#chosen.filter((other) => other !== image);
    image.row.remove();
    this.#show();
  }

  /** A picture of our own making: the page loads images from the arena alone. Where there is none, its frame has the name of the file. */
  async #draw(file, row) {
    const canvas = row.querySelector("canvas");
    try {
      const bitmap = await createImageBitmap(file);
      const scale = SMALL / Math.max(bitmap.width, bitmap.height);
      [canvas.width, canvas.height] = [Math.ceil(bitmap.width * scale), Math.ceil(bitmap.height * scale)];
      canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
      bitmap.close();
    } catch {
      // What this browser cannot draw the arena may still read.
      row.prepend(Object.assign(document.createElement("span"), { className: "undrawn", ariaHidden: "true", dir: "auto", textContent: file.name }));
    }
  }

  #show() {
    keep("sessionStorage", CHOSEN, this.isEmpty ? null : "chosen");
    this.#list.hidden = this.isEmpty;
    this.#button.disabled = this.#chosen.length >= this.#max;
    this.#chosen.forEach(({ row }, at) => {
      const name = fill(this.#words.image, { n: at + 1 });
      row.querySelector("canvas").setAttribute("aria-label", name);
      row.querySelector("button").setAttribute("aria-label", fill(this.#words.remove, { n: at + 1 }));
    });
  }
}

/** A text about a file; its name may be in a script of the other direction. */
function ofFile({ name }, text) {
  return `\u2068${name}\u2069${COLON}${text}`;
}

/** Shows images of a question at its turn. */
export function show(article, ids, words) {
  const list = part("images", article);
  list.hidden = ids.length === 0;
  list.replaceChildren(
    ...ids.map((id, at) => {
      const address = `/images/${encodeURIComponent(id)}`;
      const link = Object.assign(document.createElement("a"), { href: address, target: "_blank" });
      link.append(Object.assign(new Image(), { src: address, alt: fill(words.image ?? "{n}", { n: at + 1 }) }));
      const row = document.createElement("li");
      row.append(link);
      return row;
    }),
  );
}
