// The page on which annotators judge: one assignment after the other, by keyboard or touch. A decision is kept on the device until
// the arena has stored it, so that a lost connection loses nothing.

import { announce, fill, keep, kept, part } from "./page.js";

const main = document.querySelector(".campaign");
const texts = JSON.parse(main.dataset.texts);
const campaign = main.dataset.campaign;
const api = `/api/v1/campaigns/${campaign}`;
const TOKEN = `langya-campaign-${campaign}`;
/** A decision that is not stored yet, as JSON. */
const WAITING = `langya-campaign-waiting-${campaign}`;
const LONGEST_WAIT = 8000;

const token = takeToken();
let assignment = null;
let ranking = [];
let busy = false;

/** The link's token; it leaves the address, so that it is neither seen nor shared. */
function takeToken() {
  const address = new URL(location.href);
  const invited = address.searchParams.get("invite");
  if (invited) {
    keep("localStorage", TOKEN, invited);
    address.searchParams.delete("invite");
    history.replaceState(null, "", address);
  }
  return invited ?? kept("localStorage", TOKEN);
}

/** Sends a request until the arena answers it; what it refuses is an error with a code. */
async function post(path, body) {
  for (let wait = 500; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    const response = await fetch(api + path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    }).catch(() => null);
    if (response && response.status < 500 && response.status !== 429) {
      show("problem", false);
      const answer = await response.json();
      if (response.ok) return answer;
      throw Object.assign(new Error(answer.message), { code: answer.code });
    }
    complain(texts.offline, false);
    await connection(wait);
  }
}

/** Resolves after a while, and earlier where the browser says that the connection is back. */
function connection(wait) {
  return new Promise((resolve) => {
    const timer = setTimeout(done, wait);
    addEventListener("online", done);
    function done() {
      clearTimeout(timer);
      removeEventListener("online", done);
      resolve();
    }
  });
}

function show(name, shown = true) {
  part(name).hidden = !shown;
}

function complain(text, retry = true) {
  part("problem-text").textContent = text;
  show("retry", retry);
  show("problem");
}

/** Does one thing at a time. */
async function alone(work) {
  if (busy) return;
  busy = true;
  main.setAttribute("aria-busy", "true");
  setChoices(false);
  try {
    await work();
  } catch (error) {
    complain(texts[error.code] ?? error.message);
  } finally {
    busy = false;
    main.removeAttribute("aria-busy");
    setChoices(assignment !== null);
  }
}

function setChoices(enabled) {
  for (const button of part("choices").querySelectorAll("button")) button.disabled = !enabled;
  part("undo").disabled = busy;
}

async function sendWaiting() {
  const waiting = kept("localStorage", WAITING);
  if (!waiting) return;
  try {
    await post("/judgements", JSON.parse(waiting));
  } catch (error) {
    // A decision about an assignment that is gone cannot be sent at any time.
    if (!["unknown_assignment", "invalid_judgement", "bad_request"].includes(error.code)) throw error;
  }
  keep("localStorage", WAITING, null);
}

async function next() {
  const answer = await post("/next", { render: "html" });
  const progress = part("progress");
  progress.textContent = fill(texts.progress, answer.progress);
  show("progress");
  show("undo", answer.progress.done > 0);
  assignment = answer.finished ? null : answer.assignment;
  ranking = [];
  show("work", !answer.finished);
  show("finished", Boolean(answer.finished));
  if (answer.finished) return part("finished").focus();
  part("prompt").innerHTML = answer.html.prompt;
  const box = part("reference-box");
  if (box) {
    box.hidden = !answer.html.reference;
    part("reference").innerHTML = answer.html.reference ?? "";
  }
  for (const section of document.querySelectorAll("[data-answer]")) {
    const letter = section.dataset.answer;
    section.hidden = answer[letter] === undefined;
    part(`answer-${letter}`).innerHTML = answer.html[letter] ?? "";
    const button = main.querySelector(`[data-rank="${letter}"]`);
    if (button) button.hidden = section.hidden;
  }
  showRanking();
  scrollTo({ top: 0 });
  part("task").focus({ preventScroll: true });
}

function judge(said) {
  alone(async () => {
    keep("localStorage", WAITING, JSON.stringify({ assignment, ...said }));
    assignment = null;
    await sendWaiting();
    announce(texts.saved);
    await next();
  });
}

function rank(letter) {
  const places = [...main.querySelectorAll("[data-rank]:not([hidden])")];
  if (!places.some((button) => button.dataset.rank === letter)) return;
  ranking = ranking.includes(letter) ? ranking.slice(0, ranking.indexOf(letter)) : [...ranking, letter];
  showRanking();
  if (ranking.length === places.length) judge({ ranking });
}

function showRanking() {
  for (const button of main.querySelectorAll("[data-rank]")) {
    const letter = button.dataset.rank.toUpperCase();
    const place = ranking.indexOf(button.dataset.rank) + 1;
    button.textContent = place ? fill(texts.ranked, { letter, place }) : letter;
    button.classList.toggle("chosen", place > 0);
  }
}

function undo() {
  alone(async () => {
    await sendWaiting();
    await post("/undo", {});
    announce(texts.undone);
    await next();
  });
}

function begin() {
  show("intro", false);
  alone(async () => {
    announce(texts.loading);
    await sendWaiting();
    await next();
  });
}

part("begin").addEventListener("click", begin);
part("undo").addEventListener("click", undo);
part("retry").addEventListener("click", begin);
part("choices").addEventListener("click", ({ target }) => {
  const { outcome, score, rank: letter } = target.dataset ?? {};
  if (outcome) judge({ outcome });
  if (score) judge({ score: Number(score) });
  if (letter) rank(letter);
});
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat) return;
  const key = event.key.toLowerCase();
  if (key === "u" && !part("undo").hidden && !busy) return undo();
  if (assignment === null || busy) return;
  const wanted = {
    pairwise: ["1", "2", "3", "4"].includes(key) && `[data-outcome="${["a", "b", "tie", "both_bad"][key - 1]}"]`,
    score: /^\d$/.test(key) && `[data-score="${key === "0" ? 10 : key}"]`,
    rank: /^[a-e]$/.test(key) && `[data-rank="${key}"]`,
  }[main.dataset.task];
  if (!wanted) return;
  event.preventDefault();
  main.querySelector(wanted)?.click();
});

if (token) show("intro");
else complain(texts.no_link, false);
