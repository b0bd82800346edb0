// The battle page. Phases: empty → asking → writing → ready → voting → revealed, or voided; `resuming` after a reload, `proving`
// while the page computes what the arena asks for under pressure.
// The server decides everything; this page shows what it says and asks again after a lost connection.

import { Ballot } from "./ballot.js";
import { Composer } from "./composer.js";
import { announce, fill, fromNow, keep, kept, number, part } from "./page.js";
import { prove } from "./proof.js";
import { hideReveal, reveal } from "./reveal.js";
import { Socket } from "./socket.js";
import { Turns } from "./turns.js";

const KEPT = "langya-battle";
const MAX_PROMPT_BYTES = Number(document.querySelector("main").dataset.maxPromptBytes);
/** The code with which the server closes the socket of a visitor who has signed out. */
const SIGNED_OUT = 4401;
/** For how long the server may be silent, in milliseconds: what it answers at once, and what a model may think about. */
const PATIENCE = { asking: 6000, resuming: 6000, voting: 6000, writing: 20000 };
const main = document.querySelector("main");
const words = JSON.parse(main.dataset.strings);
const turns = new Turns(words);
const ballot = new Ballot(vote);
const composer = new Composer(ask, words.follow_up);
const socket = new Socket(main.dataset.socket, { opened, frame: receive, lost, patience });

let battle = null;
let turn = 0;
let seq = 0;
/** The latest question: it is offered to two other models where it got no answer. */
let question = "";
/** What the server has not yet answered: a start, a message or a vote. */
let pending = null;
let phase = "empty";
/** Challenges that came for the pending start. */
let proofs = 0;
/** More of them in a row mean that the page's solutions are not taken. */
const PROOFS = 3;

// ---- what the visitor does

function ask(prompt) {
  if (!prompt.trim()) return notice(words.error_prompt_empty);
  const bytes = new TextEncoder().encode(prompt).length;
  if (bytes > MAX_PROMPT_BYTES) return notice(tooLong(bytes));
  if (phase !== "empty" && phase !== "ready") return;
  notice("");
  composer.text = "";
  setPhase("asking");
  proofs = 0;
  if (battle) request({ type: "message", battle, prompt });
  else request({ type: "start", prompt, render: "html" });
}

/** The size of a question beside the limit, in kilobytes: up for the one and down for the other, so that they differ. */
function tooLong(bytes) {
  const size = number(Math.ceil(bytes / 100) / 10, 1);
  return fill(words.error_prompt_too_long, { size, limit: number(Math.floor(MAX_PROMPT_BYTES / 100) / 10, 1) });
}

function vote(outcome, satisfaction) {
  if (phase !== "ready") return;
  notice("");
  setPhase("voting");
  request({ type: "vote", battle, outcome, satisfaction });
}

function newBattle() {
  if (phase === "writing") socket.send({ type: "stop", battle });
  forget();
  turns.clear();
  ballot.reset();
  hideReveal();
  notice("");
  setPhase("empty");
  scrollTo({ top: 0 });
  composer.focus();
}

const actions = {
  stop: () => socket.send({ type: "stop", battle }),
  regenerate: () => {
    notice("");
    setPhase("asking");
    request({ type: "regenerate", battle });
  },
  new: newBattle,
  retry: () => {
    const prompt = question;
    newBattle();
    ask(prompt);
  },
};
for (const [name, action] of Object.entries(actions)) {
  document.querySelector(`[data-action="${name}"]`).addEventListener("click", action);
}

// ---- the connection

function request(frame) {
  pending = frame;
  if (!socket.send(frame)) socket.open();
}

function opened() {
  if (part("notice").dataset.lost !== undefined) {
    notice("");
    announce(words.reconnected);
  }
  if (battle) socket.send({ type: "resume", battle, after: seq, render: "html" });
  // A start was lost whole, and a vote may be sent twice; anything else might become two turns. If it did arrive, the
  // server shows its turn now.
  if (pending?.type === "start" || pending?.type === "vote") socket.send(pending);
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
  const needed = pending !== null || (battle !== null && !["revealed", "voided"].includes(phase));
  if (needed) {
    notice(words.reconnecting);
    part("notice").dataset.lost = "";
  }
  return needed;
}

/** Computes what the arena asks for before a battle, then asks again. */
async function proveAndAsk(proof) {
  const asked = pending;
  const round = (proofs += 1);
  setPhase("proving");
  notice(words.proving);
  announce(words.proving);
  const solution = await prove(proof);
  // Meanwhile the visitor may have left this question, or a lost connection has sent it again.
  if (pending !== asked || round !== proofs) return;
  notice("");
  setPhase("asking");
  request({ ...asked, proof: solution });
}

/** Undoes what the server did not take; a question goes back into the field. */
function takeBack(reason) {
  if (!composer.text && pending?.prompt) composer.text = pending.prompt;
  pending = null;
  notice(reason);
  setPhase(battle ? "ready" : "empty");
}

// ---- what the server says

function receive(frame) {
  const ours = frame.battle === undefined || frame.battle === battle;
  if (!ours && !(frame.type === "battle" && pending?.type === "start")) return;
  if (typeof frame.seq === "number") seq = Math.max(seq, frame.seq);
  receivers[frame.type]?.(frame);
}

const receivers = {
  battle(frame) {
    const prompt = frame.prompt ?? pending?.prompt;
    if (prompt !== undefined) question = prompt;
    if (prompt !== undefined && composer.text === prompt) composer.text = "";
    if (pending?.type !== "vote") pending = null;
    battle = frame.battle;
    keep("sessionStorage", KEPT, battle); // for a reload of this tab
    turn = frame.turn;
    const fresh = !turns.has(turn);
    const article = turns.begin(turn, prompt);
    if (phase !== "voting") setPhase("writing");
    if (fresh) {
      // Whoever types the next question already is not taken away from it.
      if (!composer.text) article.focus({ preventScroll: true });
      article.scrollIntoView({ block: "start" });
    }
    announce(words.started);
  },
  delta(frame) {
    if (turns.has(frame.turn)) turns.setState(frame.turn, frame.side, "writing");
  },
  html(frame) {
    if (turns.has(frame.turn)) turns.setBlock(frame.turn, frame.side, frame.block, frame.html);
  },
  done(frame) {
    if (turns.has(frame.turn)) turns.setState(frame.turn, frame.side, "ended");
  },
  ready(frame) {
    if (frame.turn !== turn || phase === "voting") return;
    setPhase("ready");
    announce(words.both_ended);
  },
  revealed(frame) {
    forget();
    setPhase("revealed");
    for (const side of ["a", "b"]) turns.name(side, frame[side].name);
    reveal(frame, words);
    announce(fill(words.revealed, { a: frame.a.name, b: frame.b.name }));
  },
  error({ code, message, retry_after, proof }) {
    if (code === "superseded") return; // The battle that was left; the screen shows the next one.
    if (proof && pending?.type === "start" && proofs < PROOFS) {
      proveAndAsk(proof);
      return;
    }
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

// ---- the page

function setPhase(next) {
  phase = next;
  main.dataset.phase = phase;
  composer.enabled = phase === "empty" || phase === "ready";
  composer.followUp = battle !== null;
  if (phase === "ready") ballot.open(words.vote_now);
  else ballot.close(phase === "voting" ? words.sending_vote : words.wait_for_both);
}

function notice(text) {
  const place = part("notice");
  delete place.dataset.lost;
  place.textContent = text;
  place.hidden = text === "";
}

function forget() {
  battle = null;
  pending = null;
  turn = 0;
  seq = 0;
  keep("sessionStorage", KEPT, null);
}

battle = kept("sessionStorage", KEPT);
setPhase(battle ? "resuming" : "empty");
if (battle) socket.open();
