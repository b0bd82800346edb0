// The page on which annotators judge: one assignment after the other, by keyboard or touch. A decision is kept on the device until
// the arena has stored it, so that a lost connection loses nothing.

import { CampaignDrafts } from "./campaign_drafts.js";
import { CampaignLink } from "./campaign_link.js";
import { announce, fill, fromNow, isStorageOff, keep, kept, keySwitch, part } from "./page.js";
import { UnsentDecisions } from "./unsent_decisions.js";

const main = document.querySelector(".campaign");
const texts = JSON.parse(main.dataset.texts);
const campaign = main.dataset.campaign;
const api = `/api/v1/campaigns/${campaign}`;
const LONGEST_WAIT = 8000;
/** An arena that is silent for so long is asked again: a phone that changes its network may keep a dead connection. */
const SILENCE_MS = 60_000;
/** After so long a wait is shown. */
const SLOW_MS = 1000;
/** The choices of the next assignment rest: the second half of a double click, tap or key was meant for the one before. */
const REST_MS = 500;
/** Whether what differs between two answers is marked, on this device. */
const MARKED = "langya-campaign-marked";

const link = new CampaignLink(campaign);
let assignment = null;
let ranking = [];
/** Choices while questions are still to be answered. */
let chosen = null;
const fields = [...main.querySelectorAll("[data-question]")];
let busy = false;
/** The timer of the choices' rest; null once they can be used. */
let resting = null;
const unsent = new UnsentDecisions(campaign);
const drafts = new CampaignDrafts(campaign, part("choices"));
/** The judgements that this page has had stored and not undone, by the names that the arena gave them, oldest first. */
const stored = [];
/** Refusals that stay the same however often the request is sent. */
const FINAL = ["not_last", "unknown_judgement", "unknown_link", "link_revoked", "link_expired"];
const shortcuts = keySwitch();
let isMarking = kept("localStorage", MARKED) === "1";

/** Sends a request once; `answer` is null where the arena does not answer it now. */
async function send(path, body, by = link.token) {
  const response = await fetch(api + path, {
    method: "POST",
    headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(SILENCE_MS),
  }).catch(() => null);
  // What is no JSON is no answer of the arena: a proxy or the sign-in page of a wireless network sends it.
  const answer = await response?.json().catch(() => null);
  const isAnswered = answer && response.status < 500 && response.status !== 429;
  return { response, answer: isAnswered ? answer : null };
}

/**
 * Sends a request until the arena answers it; what it refuses is an error with a code. `hasArrived` is asked before a request that must not
 * be repeated is sent again: its answer may have been lost.
 */
async function post(path, body, hasArrived) {
  for (let wait = 500; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    const { response, answer } = await send(path, body);
    if (answer) {
      show("problem", false);
      if (response.ok) return answer;
      throw Object.assign(new Error(answer.message), { code: answer.code });
    }
    const asked = 1000 * (Number(response?.headers.get("retry-after")) || 0);
    complain(delayText(response, asked), false);
    await connection(Math.max(wait, asked));
    if (await hasArrived?.()) return null;
  }
}

/** Why there is no answer yet, and that the page goes on by itself. */
function delayText(response, asked) {
  const isKept = unsent.of(link.token).length > 0;
  if (!response) return isKept ? texts.offline : texts.offline_nothing_kept;
  if (response.status !== 429) return isKept ? texts.unavailable : texts.unavailable_nothing_kept;
  const when = fromNow(Math.max(1, Math.round(Math.max(asked, LONGEST_WAIT) / 1000)));
  return fill(isKept ? texts.too_fast : texts.too_many, { when });
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
  const endWait = showWait();
  try {
    await work();
  } catch (error) {
    complain(refusalText(error), !FINAL.includes(error.code));
  } finally {
    busy = false;
    endWait();
    main.removeAttribute("aria-busy");
    setChoices(assignment !== null);
  }
}

/** Says in the place of the progress that something takes long; returns what ends that. */
function showWait() {
  const progress = part("progress");
  const before = progress.textContent;
  const timer = setTimeout(() => {
    if (!part("problem").hidden) return; // It says what is waited for.
    progress.textContent = texts.loading;
    show("progress");
  }, SLOW_MS);
  return () => {
    clearTimeout(timer);
    if (progress.textContent === texts.loading) progress.textContent = before;
  };
}

/** Text of an error for the annotator. */
function refusalText({ code, message }) {
  if (code === "campaign_not_open" && unsent.of(link.token).length) return texts.campaign_not_open_waiting;
  return texts[code] ?? message;
}

function setChoices(enabled) {
  for (const button of part("choices").querySelectorAll("button")) button.disabled = !enabled;
  if (fields.length) part("submit").disabled = !enabled || chosen === null;
  part("undo").disabled = busy || resting !== null;
}

/** Lets what can be decided rest; a click that comes too early meets nothing, not even what lies below. */
function rest() {
  clearTimeout(resting);
  resting = setTimeout(() => setRest(null), REST_MS);
  setRest(resting);
}

function setRest(timer) {
  resting = timer;
  for (const child of part("choices").children) child.inert = timer !== null;
  part("undo").disabled = busy || timer !== null;
}

/** Sends what is not stored yet; returns what to say where a decision does not count. */
async function sendWaiting() {
  let problem = null;
  for (const { by, ...decision } of unsent.of(link.token)) {
    try {
      const { judgement, differs } = await post("/judgements", decision);
      stored.push(judgement);
      if (differs) problem = texts.decided_before;
    } catch (error) {
      // A decision about an assignment that is gone cannot be sent at any time.
      if (!["unknown_assignment", "invalid_judgement", "bad_request", "too_long"].includes(error.code)) throw error;
      problem = texts.not_taken;
    }
    unsent.drop(decision);
  }
  sendForOthers();
  return problem;
}

/** Sends once what others who judged on this device left unsent, each decision with the token of its annotator, which is kept no longer. */
async function sendForOthers() {
  for (const { by, ...decision } of unsent.ofOthers(link.token)) {
    const { response, answer } = await send("/judgements", decision, by);
    // A paused campaign takes the decision once it is open again, as the page said to its annotator.
    const isRefused = answer?.code && answer.code !== "campaign_not_open";
    if (answer && (response.ok || isRefused)) unsent.drop(decision);
  }
}

/** The unit to judge, with the answers in display form. */
function shownNext() {
  return post("/next", { render: isMarking && part("differences") ? "differences" : "html" });
}

function showTexts(answer) {
  part("prompt").innerHTML = answer.html.prompt;
  const box = part("reference-box");
  if (box) {
    box.hidden = !answer.html.reference;
    part("reference").innerHTML = answer.html.reference ?? "";
  }
  for (const section of document.querySelectorAll("[data-answer]")) {
    section.hidden = answer[section.dataset.answer] === undefined;
    part(`answer-${section.dataset.answer}`).innerHTML = answer.html[section.dataset.answer] ?? "";
  }
}

/** Marks what differs between the answers, or shows them as they were written again; what is chosen stays. */
function toggleDifferences() {
  alone(async () => {
    isMarking = !isMarking;
    keep("localStorage", MARKED, isMarking ? "1" : null);
    showMarking();
    const answer = await shownNext();
    // It may have gone to others meanwhile.
    if (answer.assignment !== assignment) return showNext(answer);
    showTexts(answer);
    const marks = main.querySelectorAll(".campaign-answer mark").length;
    announce(!isMarking ? texts.marks_removed : marks ? texts.differences_marked : texts.nothing_marked);
  });
}

function showMarking() {
  part("differences")?.setAttribute("aria-pressed", String(isMarking));
  part("differences")?.classList.toggle("chosen", isMarking);
  if (part("as-written")) show("as-written", isMarking);
}

async function next() {
  showNext(await shownNext());
}

function showNext(answer) {
  const progress = part("progress");
  progress.textContent = fill(texts.progress, answer.progress);
  show("progress");
  show("undo", answer.progress.done > 0);
  assignment = answer.finished ? null : answer.assignment;
  ranking = [];
  choose(null);
  part("choices").reset();
  show("work", !answer.finished);
  show("finished", Boolean(answer.finished));
  rest();
  if (answer.finished) {
    const because = texts[`because_${answer.because}`];
    part("because").textContent = because ?? "";
    show("because", Boolean(because));
    return part("finished").focus();
  }
  showTexts(answer);
  for (const button of main.querySelectorAll("[data-rank]")) button.hidden = answer[button.dataset.rank] === undefined;
  const asked = (answer.questions ?? []).map(({ id }) => id);
  for (const field of fields) {
    const { question, letter } = field.dataset;
    field.hidden = !asked.includes(question) || (Boolean(letter) && answer[letter] === undefined);
    field.disabled = field.hidden;
  }
  restoreDraft();
  showRanking();
  scrollTo({ top: 0 });
  part("task").focus({ preventScroll: true });
}

/** Keeps the decision and what was written and chosen beside it. */
function keepDraft() {
  if (assignment !== null && fields.length) drafts.keep({ assignment, chosen, ranking });
}

function restoreDraft() {
  const draft = drafts.restore(assignment);
  if (!draft) return;
  ranking = draft.ranking;
  choose(draft.chosen);
}

/** Marks what is chosen; it is sent once the questions are answered. */
function choose(said) {
  chosen = said;
  if (!fields.length) return;
  const [[kind, value]] = Object.entries(said ?? { none: "" });
  for (const button of part("choices").querySelectorAll("[data-outcome], [data-score], [data-preference]")) {
    const is = String(button.dataset[kind] ?? "") === String(value) && said !== null;
    button.classList.toggle("chosen", is);
    button.setAttribute("aria-pressed", String(is));
  }
  part("submit").disabled = said === null;
  show("unanswered", said === null);
}

/** Moves to this question, or to the button behind the last one. */
function focusField(at) {
  const shown = fields.filter((field) => !field.hidden);
  (shown[at]?.querySelector("input:checked, input, textarea") ?? part("submit")).focus();
}

/** Answers by question, and by letter where a question is about each answer. */
function answers() {
  const given = {};
  for (const field of fields.filter((field) => !field.disabled)) {
    const { question, letter } = field.dataset;
    const text = field.querySelector("textarea, input:checked")?.value ?? "";
    if (!text.trim()) continue;
    const value = "scale" in field.dataset ? Number(text) : text;
    if (letter) given[question] = { ...given[question], [letter]: value };
    else given[question] = value;
  }
  return given;
}

function decide(said) {
  if (!fields.length) return judge(said);
  choose(said);
  keepDraft();
  focusField(0);
}

function judge(said) {
  alone(async () => {
    unsent.keep({ assignment, ...said, by: link.token });
    assignment = null;
    await sendAndGoOn(texts.saved);
  });
}

/** Sends what waits and shows what is next. */
async function sendAndGoOn(saved) {
  const problem = await sendWaiting();
  if (!problem && saved) announce(saved);
  await next();
  if (problem) complain(problem, false);
}

function rank(letter) {
  const places = [...main.querySelectorAll("[data-rank]:not([hidden])")];
  if (!places.some((button) => button.dataset.rank === letter)) return;
  ranking = ranking.includes(letter) ? ranking.slice(0, ranking.indexOf(letter)) : [...ranking, letter];
  showRanking();
  if (ranking.length === places.length) return decide({ ranking });
  choose(null);
  keepDraft();
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
    await takeBackLast();
    announce(texts.undone);
    await next();
  });
}

/** Takes the latest judgement of this page back, by its name: not one of another tab, and not a second one where an answer is lost. */
async function takeBackLast() {
  if (stored.length) {
    await post("/undo", { judgement: stored.at(-1) });
    return stored.pop();
  }
  // After a reload the page knows no name: the progress shows whether a request has arrived.
  const { progress } = await shownNext();
  return post("/undo", {}, async () => (await shownNext()).progress.done < progress.done);
}

function begin() {
  show("intro", false);
  alone(async () => {
    announce(texts.loading);
    if (link.token === null) await link.takePlace(post);
    await sendAndGoOn();
  });
}

part("begin").addEventListener("click", begin);
part("undo").addEventListener("click", undo);
part("differences")?.addEventListener("click", toggleDifferences);
part("retry").addEventListener("click", begin);
part("choices").addEventListener("click", ({ target }) => {
  const { outcome, preference, score, rank: letter } = target.dataset ?? {};
  if (outcome) decide({ outcome });
  if (preference) decide({ preference: Number(preference) });
  if (score) decide({ score: Number(score) });
  if (letter) rank(letter);
});
part("choices").addEventListener("input", keepDraft);
part("choices").addEventListener("submit", (event) => {
  event.preventDefault();
  if (chosen && !busy) judge({ ...chosen, answers: answers() });
});
/** Chooses in a question by a digit: a point of a scale, or the first, second … option; then the next question has its turn. */
function answer(event, field, digit) {
  const options = [...field.querySelectorAll("input")];
  const point = (wanted) => options.find(({ value }) => value === String(wanted));
  const option = "scale" in field.dataset ? (point(digit) ?? (digit === 0 && point(10))) : options[digit - 1];
  if (!option) return;
  event.preventDefault();
  option.checked = true;
  keepDraft();
  focusField(fields.filter((field) => !field.hidden).indexOf(field) + 1);
}

/** The outcomes by their digits, or the points of the preference scale from left to right. */
function nthChoice(digit) {
  const preferences = [...main.querySelectorAll("[data-preference]")];
  if (preferences.length) return digit <= preferences.length && `[data-preference="${preferences[digit - 1].dataset.preference}"]`;
  return digit <= 4 && `[data-outcome="${["a", "b", "tie", "both_bad"][digit - 1]}"]`;
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat) return;
  if (!shortcuts.checked || event.target.matches("textarea")) return;
  const key = event.key.toLowerCase();
  const field = event.target.closest("[data-question]");
  if (field && /^\d$/.test(key)) return answer(event, field, Number(key));
  if (key === "u" && !part("undo").hidden && !part("undo").disabled) return undo();
  if (assignment === null || busy) return;
  if (key === "d" && part("differences")) return toggleDifferences();
  if (resting !== null) return;
  const wanted = {
    pairwise: /^[1-7]$/.test(key) && nthChoice(Number(key)),
    score: /^\d$/.test(key) && `[data-score="${key === "0" ? 10 : key}"]`,
    rank: /^[a-e]$/.test(key) && `[data-rank="${key}"]`,
  }[main.dataset.task];
  if (!wanted) return;
  event.preventDefault();
  main.querySelector(wanted)?.click();
});

showMarking();
show("not-stored", isStorageOff() && link.isKnownByDevice);
link.showOwn();
sendForOthers();
if (link.isThere) show("intro");
else complain(texts.no_link, false);
