// The battle page. Phases: empty → asking → writing → ready → confirming → voting → revealed, or voided; `resuming` after a reload,
// `proving` while the page computes what the arena asks for under pressure. In `confirming` the choice can be taken back (vote_confirmation.js).
// After `revealed` the visitor may go on asking both models, which is neither rated nor kept: `chatting`.
// The server decides everything; this page shows what it says and asks again after a lost connection.

import { Ballot } from "./ballot.js";
import { serveCards } from "./cards.js";
import { Composer } from "./composer.js";
import { Departure } from "./departure.js";
import { Modes } from "./modes.js";
import { announce, fill, fromNow, isStorageOff, keep, kept, number, part } from "./page.js";
import { hideReveal, reveal } from "./reveal.js";
import { Socket } from "./socket.js";
import { judge, Standing } from "./standing.js";
import { Turns } from "./turns.js";
import { careFor, dropVote, isFree, keepVote, keptVote, unsentVoteSender } from "./unsent_votes.js";
import { LONGEST_MS, VoteConfirmation } from "./vote_confirmation.js";

const KEPT = "langya-battle";
const MAX_PROMPT_BYTES = Number(document.querySelector("main").dataset.maxPromptBytes);
/** The code with which the server closes the socket of a visitor who has signed out. */
const SIGNED_OUT = 4401;
/** For how long the server may be silent, in milliseconds: what it answers at once, and what a model may think about. */
const PATIENCE = { asking: 6000, resuming: 6000, voting: 6000, writing: 20000 };
/** After so many milliseconds without a word from either model the page says that it takes long. */
const SLOW_MS = 10_000;
/** A reply that nobody reads for a moment longer than this is stopped. */
const GRACE_MS = 1_000;
const main = document.querySelector("main");
const words = JSON.parse(main.dataset.strings);
const modes = new Modes(words);
const turns = new Turns(words, { edit, shown: hintAtSides, askText: (turn, side) => socket.send({ type: "text", turn, side }) });
const ballot = new Ballot(hold);
const confirmation = new VoteConfirmation(words, { cast, undo });
const composer = new Composer({ send: ask, edit: askAgain }, words);
/** Absent where the arena takes no images, or where their script fails to load. */
const attached = part("attached") && (await loadImages());
if (attached) Object.assign(words, { ...attached.words, ...words });
const socket = new Socket(main.dataset.socket, { opened, frame: receive, lost, patience });

let battle = null;
/** The battle whose vote is in, and the names: its models can be asked on. */
let voted = null;
let turn = 0;
/** Names this answering of the turn. */
let answering;
let seq = 0;
/** The latest question: it is offered to two other models where it got no answer. */
let question = "";
/** The first question of the battle, for another pair of models, and the ids of the images beside it. */
let opening = "";
let openingImages = [];
/** What the server has not yet answered: a start, a message or a vote. */
let pending = null;
let phase = "empty";
/** What the vote is about, from the choice of an outcome until its receipt; null where that is not known. */
let judged = null;
/** Ends this page's care for the vote. */
let endCare = null;
/** What a connection that is back tells of the battle that is judged, until it has told all. */
let standing = null;
/** The number of the event that said so where the replies have ended. */
let readyAt = 0;
/** Whether the vote is kept because the page is hidden. */
let isKept = false;
const sendUnsent = unsentVoteSender({ deliver: sendKept, isOwn: isVotedOnHere });
let slow;
/** When the connection was lost while replies were written; null while it stands. */
let lostAt = null;
/** Whether it was away for so long that they may have been stopped. */
let mayEndEarly = false;
/** The version of the text that the visitor has agreed to on this page. */
let consent;
/** Challenges that came for the pending start. */
let proofs = 0;
/** More of them in a row mean that the page's solutions are not taken. */
const PROOFS = 3;

// ---- what the visitor does

function ask(prompt, intent, images = null) {
  if (!isSendable(prompt) || !["empty", "ready", "revealed"].includes(phase)) return;
  if (voted) return chat(prompt);
  if (!battle && modes.fault) return notice(modes.fault);
  if (!battle && "asks" in main.dataset) return agreeAndAsk(prompt, intent, images);
  notice("");
  composer.text = "";
  setPhase("asking");
  proofs = 0;
  if (battle) request({ type: "message", battle, prompt });
  else if (images || !attached || attached.isEmpty) start(prompt, intent, images ?? []);
  else sendImagesAndStart(prompt, intent);
}

function start(prompt, intent, images) {
  request({ type: "start", prompt, images, intent, consent, render: "blocks", ...modes.start });
}

async function sendImagesAndStart(prompt, intent) {
  try {
    const images = await attached.send();
    if (phase === "asking" && !battle) start(prompt, intent, images);
  } catch (error) {
    if (phase !== "asking" || battle) return;
    setPhase("empty");
    composer.text = prompt;
    notice(error.message);
  }
}

/** Before the first battle the visitor agrees to what is stored. */
async function agreeAndAsk(prompt, intent, images) {
  notice("");
  try {
    const { askForConsent } = await import("./consent.js");
    consent = await askForConsent();
  } catch {
    return notice(words.not_sent);
  }
  if (!consent) return;
  delete main.dataset.asks;
  ask(prompt, intent, images);
}

/** Goes on with both models after the vote. */
function chat(prompt) {
  notice("");
  composer.text = "";
  setPhase("chatting");
  request({ type: "message", battle: voted.battle, prompt, unrated: true, render: "blocks" });
}

/** Has both models answer the latest question again, in other words. */
function askAgain(prompt) {
  if (!isSendable(prompt) || phase !== "ready") return;
  notice("");
  composer.endEdit();
  setPhase("asking");
  request({ type: "regenerate", battle, prompt });
}

/** Where there is no battle any more, the question begins another one. */
function edit() {
  if (phase === "ready") return composer.beginEdit(question);
  const prompt = question;
  newBattle();
  composer.text = prompt;
}

function isSendable(prompt) {
  const bytes = new TextEncoder().encode(prompt).length;
  const fault = prompt.trim() ? bytes > MAX_PROMPT_BYTES && tooLong(bytes) : words.error_prompt_empty;
  if (fault) notice(fault);
  return !fault;
}

/** The size of a question beside the limit, in kilobytes: up for the one and down for the other, so that they differ. */
function tooLong(bytes) {
  const size = number(Math.ceil(bytes / 100) / 10, 1);
  return fill(words.error_prompt_too_long, { size, limit: number(Math.floor(MAX_PROMPT_BYTES / 100) / 10, 1) });
}

/** The outcome is chosen; nothing is sent yet. */
function hold(outcome) {
  if (phase !== "ready") return;
  notice("");
  composer.endEdit();
  ballot.mark(outcome);
  judged = { ...judge(turn, seq, turns.replies(turn)), answer: answering };
  endCare = careFor(battle);
  setPhase("confirming");
  confirmation.open(outcome);
}

function undo(outcome) {
  confirmation.close();
  dropVote(battle);
  letGo();
  ballot.mark(null);
  setPhase("ready");
  ballot.focus(outcome);
  announce(words.undone);
}

/** Sends the vote that is not sent yet. */
function cast() {
  if (phase !== "confirming") return;
  const frame = voteFrame();
  confirmation.close();
  setPhase("voting");
  keepVote({ frame, judged, due: Date.now() });
  request(frame);
}

function voteFrame() {
  return { type: "vote", battle, turn: judged?.turn, answer: judged?.answer, ...confirmation.vote };
}

/** The vote is taken back, answered, or another page's. */
function letGo() {
  endCare?.();
  judged = null;
  endCare = null;
  standing = null;
}

/** The battle has gone on in another tab, so the vote would be about other replies: it has to be given again. */
function dropOutdated() {
  dropVote(battle);
  letGo();
  pending = null;
  confirmation.reset();
  ballot.mark(null);
  departure.stay();
  setPhase(seq === readyAt ? "ready" : "writing");
  notice(words.error_battle_went_on);
}

function newBattle() {
  if (phase === "writing") socket.send({ type: "stop", battle });
  if (phase === "chatting") actions["stop-chat"]();
  forget();
  turns.clear();
  ballot.mark(null);
  confirmation.reset();
  hideReveal();
  modes.end();
  notice("");
  setPhase("empty");
  scrollTo({ top: 0 });
  composer.focus();
}

const actions = {
  stop: () => socket.send({ type: "stop", battle }),
  "stop-chat": () => socket.send({ type: "stop", battle: voted.battle }),
  regenerate: () => {
    notice("");
    setPhase("asking");
    // The button is hidden now: the keyboard goes on at the replies.
    turns.article(turn)?.focus({ preventScroll: true });
    request({ type: "regenerate", battle });
  },
  new: newBattle,
  retry: () => askOthers(question),
  again: () => askOthers(opening),
};

function askOthers(prompt) {
  const images = prompt === opening ? openingImages : [];
  newBattle();
  ask(prompt, undefined, images);
}

for (const [name, action] of Object.entries(actions)) {
  document.querySelector(`[data-action="${name}"]`).addEventListener("click", action);
}

const departure = new Departure({ isVoting: () => phase === "confirming", cast });

// A page that is left casts its vote; one that is only hidden, as on a phone that may end it, keeps it for the next visit.
addEventListener("pagehide", () => {
  cast();
  endCare?.();
});
document.addEventListener("visibilitychange", () => {
  if (phase !== "confirming") return;
  if (document.hidden) {
    keepVote({ frame: voteFrame(), judged, due: Date.now() + LONGEST_MS });
    isKept = keptVote(battle) !== null;
  } else if (isKept && !keptVote(battle)) {
    cast(); // Its time was over while this page stood still, and another one has sent it: this one asks for the receipt.
  } else {
    dropVote(battle);
  }
});

/** Sends a vote without a word, unless it is on the battle that is shown. */
async function sendKept(vote) {
  // Loaded where there are any, which is seldom: the first visit stays small.
  const { deliver } = await import("./vote_delivery.js");
  const answer = await deliver(main.dataset.socket, vote);
  if (answer?.type === "revealed") return receive(answer);
  if (answer?.battle) settle(answer);
  if (answer?.battle === battle && battle) notice(words[`error_${answer.code}`] ?? answer.message);
}

function isVotedOnHere(id) {
  return id === battle && ["confirming", "voting"].includes(phase);
}

// ---- the connection

function request(frame) {
  pending = frame;
  // A vote waits until a connection that is back has told how the battle stands.
  if (!socket.send(standing?.question ?? frame)) socket.open();
}

function opened() {
  mayEndEarly ||= lostAt !== null && performance.now() - lostAt > GRACE_MS;
  lostAt = null;
  if (part("notice").dataset.lost !== undefined) {
    notice("");
    announce(words.reconnected);
  }
  sendUnsent();
  if (battle) socket.send({ type: "resume", battle, after: seq, render: "blocks" });
  // One that was lost before it had told all goes on where the one before it ended.
  standing ??= judged && new Standing(judged);
  if (standing) return socket.send(standing.question);
  // A start was lost whole, and a vote may be sent twice; anything else might become two turns. If it did arrive, the
  // server shows its turn now.
  if (pending?.type === "start" || pending?.type === "vote" || pending?.unrated) socket.send(pending);
  else if (pending) takeBack(words.not_sent);
}

function patience() {
  return PATIENCE[phase] ?? Infinity;
}

/** Connects again while there is something to wait for. */
function lost(code) {
  if (code === SIGNED_OUT) {
    location.assign("/sign-in");
    return false;
  }
  if (phase === "chatting" && !pending) return endChat();
  if (voted) turns.endChat();
  const needed = pending !== null || (battle !== null && !["revealed", "voided"].includes(phase));
  if (phase === "writing") lostAt ??= performance.now();
  if (needed) {
    notice(words.reconnecting);
    part("notice").dataset.lost = "";
  }
  return needed;
}

/** What was asked after the vote lives with its connection. */
function endChat() {
  turns.fail(turn);
  turns.endChat();
  setPhase("revealed");
  notice(words.chat_lost);
  return false;
}

/** Computes what the arena asks for before a battle, then asks again. */
async function proveAndAsk(proof) {
  const asked = pending;
  const round = (proofs += 1);
  setPhase("proving");
  notice(words.proving);
  announce(words.proving);
  // Loaded where it is asked for, which is seldom: the first visit stays small.
  const script = await import("./proof_of_work.js").catch(() => null);
  const solution = await script?.prove(proof).catch(() => null);
  // Meanwhile the visitor may have left this question, or a lost connection has sent it again.
  if (pending !== asked || round !== proofs) return;
  if (!solution) return takeBack(script ? words.error_proof_required : words.proof_not_loaded);
  notice("");
  setPhase("asking");
  request({ ...asked, proof: solution });
}

/** Undoes what the server did not take; a question goes back into the field. */
function takeBack(reason) {
  const { type, prompt } = pending;
  pending = null;
  letGo();
  notice(reason);
  if (type === "vote") ballot.mark(null);
  setPhase(voted ? "revealed" : battle ? "ready" : "empty");
  if (prompt && type === "regenerate") composer.beginEdit(prompt);
  else if (prompt && !composer.text) composer.text = prompt;
}

// ---- what the server says

function receive(frame) {
  const ours = frame.battle === undefined || frame.battle === (voted?.battle ?? battle);
  if (["revealed", "error"].includes(frame.type) && frame.battle) settle(frame);
  if (!ours && !(frame.type === "battle" && pending?.type === "start")) return;
  if (typeof frame.seq === "number" && !voted) seq = Math.max(seq, frame.seq);
  standing?.take(frame);
  receivers[frame.type]?.(frame);
  if (standing && frame.type === "text") voteWhereJudged();
}

/** Sends the vote that waits, if the battle stands where it was judged. */
function voteWhereJudged() {
  if (!standing.isSame) return dropOutdated();
  standing = null;
  judged = { ...judged, seq };
  if (pending) socket.send(pending);
}

/** The server has answered a vote that was kept. One that it cannot take now is kept for the next visit. */
function settle(frame) {
  const isToldOf = frame.battle === battle && !departure.isUnderWay;
  const isForLater = !isToldOf && ["storage", "rate_limited", "draining", "superseded"].includes(frame.code);
  if (!isForLater) dropVote(frame.battle);
  if (frame.type !== "error" || frame.battle !== battle) return;
  if (isForLater) departure.follow();
  else departure.stay();
}

const receivers = {
  battle(frame) {
    if (voted) return chatTurn(frame);
    if (judged && !standing) dropOutdated();
    const prompt = frame.prompt ?? pending?.prompt;
    if (prompt !== undefined) question = prompt;
    const images = frame.images ?? pending?.images;
    if (prompt !== undefined && frame.turn === 1) [opening, openingImages] = [prompt, images ?? openingImages];
    if (prompt !== undefined && composer.text === prompt) composer.text = "";
    if (pending?.type !== "vote") pending = null;
    // A battle that the arena has loaded anew is told from its beginning, which is no new turn.
    if (frame.battle !== battle || frame.turn !== turn) mayEndEarly = false;
    battle = frame.battle;
    keep("sessionStorage", KEPT, battle); // for a reload of this tab
    [turn, answering] = [frame.turn, frame.answer];
    modes.begin(frame.mode);
    showTurn(turn, prompt);
    if (images?.length) showImages(turns.article(turn), images);
    attached?.clear();
    showChosen(frame);
    if (!["confirming", "voting"].includes(phase)) setPhase("writing");
  },
  blocks(frame) {
    // They name no battle: after the end of one, those that are still on their way are of no other.
    if ((battle || voted) && turns.has(frame.turn)) turns.change(frame);
  },
  text({ turn, side, text }) {
    turns.takeText(turn, side, text);
  },
  done(frame) {
    const state = voted && turns.isEmpty(frame.turn, frame.side) ? "failed" : "ended";
    if (turns.has(frame.turn)) turns.setState(frame.turn, frame.side, state);
  },
  ready(frame) {
    if (phase === "chatting") {
      setPhase("revealed");
      announce(words.chat_ended);
    }
    if (!voted) readyAt = frame.seq;
    if (voted || frame.turn !== turn || ["confirming", "voting"].includes(phase)) return;
    setPhase("ready");
    announce(words.both_ended);
    if (mayEndEarly) notice(words.may_end_early);
    mayEndEarly = false;
  },
  revealed(frame) {
    if (voted) return; // The vote was sent twice.
    const { a, b } = frame;
    if (a.name === b?.name) for (const side of [a, b]) side.name += ` (${side.id})`; // Their names alone tell nothing.
    departure.follow();
    const latest = turn;
    forget();
    [voted, turn] = [frame, latest];
    setPhase("revealed");
    nameSides();
    turns.stamp(frame.outcome);
    reveal(frame, words);
    announce(fill(words.revealed, { a: frame.a.name, b: frame.b?.name }));
  },
  error({ code, message, retry_after, proof }) {
    if (code === "superseded") return; // The battle that was left; the screen shows the next one.
    if (code === "not_ready" && !pending) return; // Of a vote that this page has dropped, or a stop that came too late.
    if (proof && pending?.type === "start" && proofs < PROOFS) {
      proveAndAsk(proof);
      return;
    }
    if (code === "image_unknown") attached?.forgetIds();
    const later = retry_after && fill(words.again_later, { when: fromNow(retry_after) });
    const text = later || (words[`error_${code}`] ?? message);
    if (["unknown_battle", "battle_over"].includes(code)) {
      newBattle();
      notice(text);
    } else if (code === "voided" || code === "empty_reply") {
      if (turns.has(turn)) turns.fail(turn);
      forget();
      setPhase("voided");
      notice(text);
    } else if (pending) {
      takeBack(text);
    } else {
      notice(text);
    }
  },
};

/** A turn after the vote: nobody is hidden, and nothing is rated. */
function chatTurn(frame) {
  const { prompt } = pending;
  pending = null;
  turn = frame.turn;
  showTurn(turn, prompt);
  turns.markUnrated(turn);
  nameSides();
}

function nameSides() {
  for (const side of ["a", "b"]) if (voted[side]) turns.name(side, voted[side].name);
}

/** Names the models of the visitor's choice, of which no vote is rated. */
function showChosen({ turn, mode, models }) {
  if (!mode) return;
  for (const [side, model] of Object.entries(models)) turns.name(side, model.name);
  turns.markUnrated(turn, words.unrated_kept);
}

/** Loaded where there are any, which is seldom: the first visit stays small. */
async function showImages(article, ids) {
  // Without its script the question stands alone, as the models still see its images.
  const { show } = await import("./images.js").catch(() => ({}));
  show?.(article, ids, words);
}

async function loadImages() {
  try {
    const { Images } = await import("./images.js");
    return new Images(notice);
  } catch {
    part("attached").hidden = true;
    return null;
  }
}

function showTurn(number, prompt) {
  const fresh = !turns.has(number);
  const article = turns.begin(number, prompt);
  clearTimeout(slow);
  slow = setTimeout(() => ["writing", "chatting"].includes(phase) && turns.slow(number), SLOW_MS);
  if (fresh) {
    // Whoever types the next question already is not taken away from it.
    if (!composer.text) article.focus({ preventScroll: true });
    article.scrollIntoView({ block: "start" });
  }
  announce(words.started);
}

// ---- the page

function setPhase(next) {
  phase = next;
  main.dataset.phase = phase;
  composer.enabled = ["empty", "ready", "revealed"].includes(phase);
  composer.placeholder = voted ? words.chat_on : battle && words.follow_up;
  if (phase === "ready") ballot.open(words.vote_now);
  else ballot.close(phase === "voting" ? words.sending_vote : words.wait_for_both);
  hintAtSides();
}

/** A visitor who can vote is told of a side that has not been looked at. */
function hintAtSides() {
  const side = phase === "ready" ? turns.unread : null;
  main.toggleAttribute("data-unread", side !== null);
  if (phase === "ready") ballot.hint = side ? fill(words.unread, { side: side.toUpperCase() }) : words.vote_now;
}

function notice(text) {
  const place = part("notice");
  delete place.dataset.lost;
  place.textContent = text;
  place.hidden = text === "";
}

function forget() {
  confirmation.close();
  composer.endEdit();
  letGo();
  battle = null;
  voted = null;
  pending = null;
  turn = 0;
  seq = 0;
  readyAt = 0;
  keep("sessionStorage", KEPT, null);
}

serveCards(ask, words.shuffled);
part("not-stored").hidden = !isStorageOff();
battle = kept("sessionStorage", KEPT);
const unsent = battle && keptVote(battle);
if (unsent && (await isFree(unsent))) {
  ({ frame: pending, judged } = unsent);
  endCare = careFor(battle);
}
setPhase(pending ? "voting" : battle ? "resuming" : "empty");
if (battle) socket.open();
sendUnsent();
if (phase === "empty") composer.focusAtOnce();
