// The names of the models, after the vote.

import { fill, number, part } from "./page.js";

const place = part("reveal");
/** Pixels between the switch between the sides and the names. */
const GAP = 12;

/** Shows the models. `a` and `b` are as the server sends them; `b` is absent where one model answered alone. */
export function reveal({ battle, vote, outcome, a, b, crowd, excluded, marked }, words) {
  part("choice", place).textContent = words[`chose_${outcome}`] ?? "";
  const agreement = part("crowd", place);
  agreement.hidden = !crowd;
  agreement.textContent = crowd ? fill(words.crowd, { same: number(crowd.same), votes: number(crowd.votes) }) : "";
  tellRule(part("rule", place), excluded, marked, words);
  place.toggleAttribute("data-unrated", Boolean(excluded));
  card("a", a, outcome === "a", words);
  if (b) card("b", b, outcome === "b", words);
  part("battle-page", place).href = `/battle/${encodeURIComponent(battle)}`;
  part("receipt", place).href = `/log?vote=${encodeURIComponent(vote)}#receipt`;
  part("turns").append(place); // What is asked after the vote follows it.
  place.hidden = false;
  place.focus({ preventScroll: true });
  scrollToNames();
}

/** On a narrow screen the names begin right below the switch between the sides, however many lines that takes: nothing is left half under it. */
function scrollToNames() {
  const tabs = document.querySelector(".side-switch");
  if (!tabs.checkVisibility()) return place.scrollIntoView({ block: "nearest" });
  place.scrollIntoView({ block: "start" });
  scrollBy(0, place.getBoundingClientRect().top - tabs.getBoundingClientRect().bottom - GAP);
}

export function hideReveal() {
  place.hidden = true;
}

/** Says plainly that the vote does not count, or that it is marked, and why. */
function tellRule(at, excluded, marked, words) {
  const told = excluded ?? marked;
  at.hidden = !told;
  const kind = excluded ? "excluded" : "marked";
  at.textContent = told ? (words[`${kind}_${told.rule}`] ?? fill(words.excluded, { rule: told.rule })) : "";
}

function card(side, model, chosen, words) {
  const at = place.querySelector(`.card[data-side="${side}"]`);
  const set = (name, text) => (part(name, at).textContent = text);
  const seconds = (ms) => (isNumber(ms) ? fill(words.seconds, { n: number(ms / 1000, 1) }) : "–");
  set("name", model.name);
  set("origin", [model.organization, model.license].filter(Boolean).join(" · "));
  // In tenths, so that the three numbers agree with each other.
  const before = isNumber(model.rating) ? Math.round(10 * model.rating) : null;
  const after = before === null ? null : before + Math.round(10 * (model.rating_change ?? 0));
  set("rating", before === null ? "–" : number(before / 10, 1));
  set("rating-after", after === null ? "–" : number(after / 10, 1));
  set("first", seconds(model.first_token_ms));
  set("whole", seconds(model.duration_ms));
  const speed = model.chars_per_second;
  set("speed", isNumber(speed) ? fill(words.characters_per_second, { n: number(speed) }) : "–");
  part("price-figure", at).hidden = !model.price;
  if (model.price) set("price", price(model.price));
  part("practice", at).hidden = !model.practice;
  part("stamp", at).hidden = !chosen;
  at.classList.toggle("chosen", chosen);
  change(part("change", at), model.rating_change);
  reasoning(part("reasoning", at), model.reasoning);
}

/** Two decimals, and more where a price has them, as on the page of ratings and costs. */
function price({ input, output, currency }) {
  const amount = (value) => number(value, 2, 6);
  return `${amount(input)} / ${amount(output)} ${currency}`;
}

function change(at, points) {
  const known = isNumber(points);
  const tenths = known ? Math.round(10 * points) : 0; // A change that rounds to nothing has no sign.
  const sign = { "-1": "−", 0: "±", 1: "+" }[Math.sign(tenths)];
  at.textContent = known ? `${sign}${number(Math.abs(tenths) / 10, 1)}` : "";
  at.dataset.direction = { "-1": "down", 0: "none", 1: "up" }[Math.sign(tenths)];
}

/** Reasoning is shown as plain text, folded. */
function reasoning(at, turns) {
  const texts = (turns ?? []).filter(Boolean);
  at.hidden = texts.length === 0;
  at.open = false;
  const paragraphs = texts.map((text) => Object.assign(document.createElement("p"), { textContent: text, dir: "auto" }));
  part("reasoning-text", at).replaceChildren(...paragraphs);
}

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}
