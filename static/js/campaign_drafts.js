// What was written and chosen for the latest assignments of a campaign, oldest first: a reload and an undo bring it back.

import { keep, kept } from "./page.js";

const KEPT_DRAFTS = 10;

export class CampaignDrafts {
  #key;
  #form;

  /** @param {string} campaign its id @param {HTMLFormElement} form the fields beside the decision */
  constructor(campaign, form) {
    this.#key = `langya-campaign-drafts-${campaign}`;
    this.#form = form;
  }

  /** Keeps what is chosen for an assignment, and what is written beside it. */
  keep(draft) {
    const said = {};
    for (const { name, value } of this.#form.querySelectorAll("textarea, input:checked")) if (value) said[name] = value;
    const others = this.#all().filter(({ assignment }) => assignment !== draft.assignment);
    keep("localStorage", this.#key, JSON.stringify([...others, { ...draft, said }].slice(-KEPT_DRAFTS)));
  }

  /** Fills the fields again and returns the draft; undefined where none is kept of the assignment. */
  restore(assignment) {
    const draft = this.#all().find((draft) => draft.assignment === assignment);
    if (!draft) return undefined;
    for (const input of this.#form.querySelectorAll("textarea, input")) {
      const value = draft.said[input.name];
      if (value === undefined) continue;
      if (input.type === "radio") input.checked = input.value === value;
      else input.value = value;
    }
    return draft;
  }

  #all() {
    return JSON.parse(kept("localStorage", this.#key) ?? "[]");
  }
}
