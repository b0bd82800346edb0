// The battle page. Phases: empty → asking → writing → ready → confirming → voting → revealed, or voided; `unanswered` where replies were stopped
// before there was anything to vote on, `resuming` after a reload, `proving` while the page computes what the arena asks for under pressure. In
// `confirming` the choice can be taken back (voting.js).
// After `revealed` the visitor may go on asking both models, which is neither rated nor kept: `chatting`.
// The server decides everything; this page shows what it says and asks again after a lost connection.

import { Composer } from "./composer.js";
import { FirstQuestion, restCards, serveCards } from "./first_question.js";
import { Modes } from "./modes.js";
import { endOutage, errorText, isOffline, notice, noticeOutage } from "./notice.js";
import { announce, fill, isStorageOff, part } from "./page.js";
import { rememberBattle, rememberVoted, rememberedBattle } from "./remembered_battle.js";
import { hideReveal, reveal } from "./reveal.js";
import { isSignedOut } from "./sign_outs.js";
import { Socket } from "./socket.js";
import { Turns } from "./turns.js";
import { VoteButtons } from "./vote_buttons.js";
import { Voting } from "./voting.js";

/** The code with which the server closes the socket of a visitor who has signed out. */
const SIGNED_OUT = 4401;
/** For how long the server may be silent, in milliseconds: what it answers at once, and what a model may think about. */
const PATIENCE = { asking: 6000, resuming: 6000, voting: 6000, writing: 20000 };
/** The phases in which a question can be sent. */
const TAKES_QUESTIONS = ["empty", "ready", "unanswered", "revealed"];
/** A reply that nobody reads for a moment longer than this is stopped. */
const GRACE_MS = 1_000;
const main = document.querySelector("main");
const words = JSON.parse(main.dataset.strings);
const modes = new Modes(words);
const turns = new Turns(words, { edit, shown: hintAtSides, askText: (turn, side) => socket.send({ type: "text", turn, side }) });
const voteButtons = new VoteButtons(hold);
const composer = new Composer({ send: ask, edit: askAgain }, words);
const first = new FirstQuestion(words, modes);
// Not awaited: a question that is sent before the script has come would be ignored.
first.loadImages();
const socket = new Socket(main.dataset.socket, { opened, frame: receive, lost, patience });

let battle = null;
/** The battle whose vote is in, and the names: its models can be asked on. */
let voted = null;
/** The battle that takes no vote, of which one reply may still go on. */
let rest = null;
let turn = 0;
/** Names this answering of the turn. */
let answering;
let seq = 0;
/** The latest question: it is offered to two other models where it got no answer. */
let question = "";
/** A question that got no answer in the middle of a conversation: the next battle begins with the first one, and this one is its draft. */
let followUp = "";
/** The unanswered request: a start, a message or a vote. */
let pending = null;
/** Whether a connection has taken it. */
let isTaken = false;
let phase = "empty";
/** The number of the event that said so where the replies have ended. */
let readyAt = 0;
/** When the connection was lost while replies were written; null while it stands. */
let lostAt = null;
/** Whether it was away for so long that they may have been stopped. */
let mayEndEarly = false;
const voting = new Voting(words, { battle: () => battle, phase: () => phase, cast, undone, receive });

// ---- what the visitor does

function ask(prompt, intent, images = null) {
  if (!composer.isSendable(prompt) || !TAKES_QUESTIONS.includes(phase)) return;
  if (voted) return chat(prompt);
  if (!battle && modes.fault) return notice(modes.fault);
  notice("");
  composer.hold(prompt);
  const type = phase === "unanswered" ? "regenerate" : "message";
  setPhase("asking");
  if (battle) request({ type, battle, prompt });
  else start(prompt, intent, images);
}

/** The consent and images come before their question, and meanwhile the visitor may have left it. */
async function start(prompt, intent, images) {
  const isLeft = () => phase !== "asking" || battle;
  try {
    const frame = await first.frame(prompt, intent, images);
    if (!isLeft()) request(frame);
  } catch (error) {
    if (isLeft()) return;
    setPhase("empty");
    composer.putBack(prompt);
    composer.focusPutBack();
    notice(error.message);
  }
}

/** Goes on with both models after the vote. */
function chat(prompt) {
  notice("");
  composer.hold(prompt);
  setPhase("chatting");
  request({ type: "message", battle: voted.battle, prompt, unrated: true, render: "blocks" });
}

/** Has both models answer the latest question again, in other words. */
function askAgain(prompt) {
  if (!composer.isSendable(prompt) || phase !== "ready") return;
  notice("");
  composer.endEdit();
  composer.hold(prompt);
  setPhase("asking");
  request({ type: "regenerate", battle, prompt });
}

/** Where there is no battle any more, the question begins another one. */
function edit() {
  if (phase === "ready") return composer.beginEdit(question);
  const prompt = question;
  newBattle();
  composer.putBack(prompt);
}

/** The outcome is chosen; nothing is sent yet. */
function hold(outcome) {
  if (phase !== "ready") return;
  notice("");
  composer.endEdit();
  voteButtons.mark(outcome);
  setPhase("confirming");
  voting.hold(outcome, { turn, answer: answering, seq, replies: turns.replies(turn) });
}

/** The choice is taken back. */
function undone(outcome) {
  voting.clearReasons();
  voteButtons.mark(null);
  setPhase("ready");
  voteButtons.focus(outcome);
  announce(words.undone);
}

/** Sends the vote. */
function cast(vote) {
  setPhase("voting");
  request(vote);
}

/** The battle has gone on in another tab, so the vote would be about other replies: it has to be given again. */
function dropOutdated() {
  voting.drop();
  pending = null;
  voteButtons.mark(null);
  setPhase(seq === readyAt ? "ready" : "writing");
  notice(words.error_battle_went_on);
}

function newBattle() {
  followUp = "";
  const goesOn = phase === "writing" ? battle : rest;
  if (goesOn) socket.send({ type: "stop", battle: goesOn });
  if (phase === "chatting") actions["stop-chat"]();
  composer.release();
  forget();
  turns.clear();
  voteButtons.mark(null);
  voting.clearReasons();
  hideReveal();
  modes.end();
  notice("");
  setPhase("empty");
  scrollTo({ top: 0 });
  composer.focus();
}

/** The button that was used is hidden soon: the keyboard goes on at the replies. */
const toReplies = () => turns.article(turn)?.focus({ preventScroll: true });

function stop(id) {
  toReplies();
  socket.send({ type: "stop", battle: id });
}

const actions = {
  stop: () => stop(battle),
  "stop-chat": () => stop(voted.battle),
  regenerate: () => {
    notice("");
    setPhase("asking");
    toReplies();
    request({ type: "regenerate", battle });
  },
  new: newBattle,
  retry() {
    const [begin, unanswered] = [first.prompt || question, question];
    askOthers(begin);
    if (unanswered !== begin) followUp = unanswered;
  },
  again: () => askOthers(first.prompt),
};

function askOthers(prompt) {
  const images = prompt === first.prompt ? first.images : [];
  newBattle();
  ask(prompt, undefined, images);
}

for (const [name, action] of Object.entries(actions)) {
  document.querySelector(`[data-action="${name}"]`).addEventListener("click", action);
}

// ---- the connection

function request(frame) {
  pending = frame;
  // A vote waits until a connection that is back has said how the battle stands.
  isTaken = socket.send(voting.question ?? frame);
  if (!isTaken) socket.open();
}

function opened() {
  mayEndEarly ||= lostAt !== null && performance.now() - lostAt > GRACE_MS;
  lostAt = null;
  if (endOutage()) announce(words.reconnected);
  voting.sendUnsent();
  if (battle) socket.send({ type: "resume", battle, after: seq, render: "blocks" });
  voting.compare();
  if (voting.question) return socket.send(voting.question);
  if (!pending) return;
  // A start was lost whole, and a vote may be sent twice; anything else that the last connection took might become two turns. If it did
  // arrive, the server shows its turn now.
  const isRepeatable = !isTaken || ["start", "vote"].includes(pending.type) || pending.unrated;
  if (isRepeatable) isTaken = socket.send(pending);
  else takeBack(words.not_sent);
}

function patience() {
  return PATIENCE[phase] ?? Infinity;
}

/** Connects again while there is something to wait for. */
function lost(code) {
  if (code === SIGNED_OUT || isSignedOut()) {
    location.assign("/sign-in");
    return false;
  }
  if (phase === "chatting" && !pending) return endChat();
  if (voted) turns.endChat();
  if (phase === "writing") lostAt ??= performance.now();
  // Without a network a question that no connection has taken is not lost in waiting: it goes back into its field.
  if (pending?.prompt && !isTaken && isOffline()) takeBack(words.not_sent);
  const needed = pending !== null || (battle !== null && !["revealed", "voided"].includes(phase));
  if (needed && !isOffline()) noticeOutage(words.reconnecting);
  return needed;
}

/** Questions after the vote live with their connection. */
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
  setPhase("proving");
  notice(words.proving);
  announce(words.proving);
  // Meanwhile the visitor may have left this question, or a lost connection has sent it again.
  const isLeft = () => pending !== asked;
  const solution = await first.prove(proof).catch(({ message }) => isLeft() || takeBack(message));
  if (!solution || isLeft()) return;
  notice("");
  setPhase("asking");
  request({ ...asked, proof: solution });
}

/** Undoes what the server did not take; a question goes back into the field. */
function takeBack(reason) {
  const { type, prompt } = pending;
  pending = null;
  voting.letGo();
  notice(reason);
  if (type === "vote") voteButtons.mark(null);
  // Another tab may have asked before: its replies are being written.
  if (phase !== "writing") setPhase(voted ? "revealed" : battle ? endedPhase() : "empty");
  composer.release();
  if (prompt && type === "regenerate" && phase === "ready") composer.beginEdit(prompt);
  else if (prompt) composer.putBack(prompt);
}

function endedPhase() {
  return turns.isComparable(turn) ? "ready" : "unanswered";
}

// ---- what the server says

function receive(frame) {
  const ours = frame.battle === undefined || frame.battle === (voted?.battle ?? battle ?? rest);
  if (["revealed", "error"].includes(frame.type) && frame.battle) voting.settle(frame);
  if (!ours && !(frame.type === "battle" && pending?.type === "start" && isAsked(frame))) return;
  if (typeof frame.seq === "number" && !voted) seq = Math.max(seq, frame.seq);
  voting.take(frame);
  receivers[frame.type]?.(frame);
  if (voting.question && frame.type === "text") voteWhereJudged();
}

/** Whether a turn is of the question that waits here: one that another tab has asked comes with its own. */
function isAsked({ prompt }) {
  return !pending?.prompt || prompt === undefined || prompt === pending.prompt;
}

/** Sends the vote that waits, if the battle stands where it was judged. */
function voteWhereJudged() {
  if (!voting.endComparison(seq)) return dropOutdated();
  if (pending) socket.send(pending);
}

const receivers = {
  battle(frame) {
    if (voted) return chatTurn(frame);
    if (voting.isOutdatedByTurn) dropOutdated();
    const prompt = frame.prompt ?? pending?.prompt;
    if (prompt !== undefined) question = prompt;
    const images = frame.images ?? (isAsked(frame) ? pending?.images : undefined);
    if (prompt !== undefined && frame.turn === 1) [first.prompt, first.images] = [prompt, images ?? first.images];
    // What waits beside another question is answered by itself.
    if (isAsked(frame)) {
      composer.release();
      if (pending?.type !== "vote") pending = null;
    }
    if (prompt !== undefined) composer.drop(prompt);
    if (followUp) composer.text = [followUp, composer.text].filter(Boolean).join("\n\n");
    followUp = "";
    // A battle that the arena has loaded again is sent from its beginning, which is no new turn.
    if (frame.battle !== battle || frame.turn !== turn) mayEndEarly = false;
    battle = frame.battle;
    rememberBattle(battle);
    [turn, answering] = [frame.turn, frame.answer];
    modes.begin(frame.mode);
    showTurn(turn, prompt);
    first.moveImages(turns.article(turn), images);
    turns.showChosen(frame);
    if (!["confirming", "voting"].includes(phase)) setPhase("writing");
  },
  blocks(frame) {
    // They name no battle: after the end of one, those that are still on their way are of no other.
    if ((battle || voted || rest) && turns.has(frame.turn)) turns.change(frame);
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
    endOutage();
    if (endedPhase() === "unanswered") return giveBack();
    setPhase("ready");
    announce(words.both_ended);
    if (mayEndEarly) notice(words.may_end_early);
    mayEndEarly = false;
  },
  revealed(frame) {
    if (voted) return; // The vote was sent twice.
    const { a, b } = frame;
    if (a.name === b?.name) for (const side of [a, b]) side.name += ` (${side.id})`; // Their names alone distinguish nothing.
    const latest = turn;
    forget();
    rememberVoted(frame.battle);
    voting.followLink();
    [voted, turn] = [frame, latest];
    setPhase("revealed");
    nameSides();
    turns.stamp(frame.outcome);
    reveal(frame, words);
    if (voting.isFirst) announce(fill(words.revealed, { a: frame.a.name, b: frame.b?.name }));
  },
  error({ code, reason, message, retry_after, proof }) {
    if (code === "superseded") return; // The battle that was left; the screen shows the next one.
    if (code === "not_ready" && !pending) return; // Of a vote that this page has dropped, or a stop that came too late.
    if (proof && pending?.type === "start" && first.isProvable) {
      proveAndAsk(proof);
      return;
    }
    if (code === "image_unknown") first.forgetImageIds();
    const text = errorText({ code, reason, message, retry_after }, words);
    const asked = pending?.prompt;
    if (["voided", "empty_reply"].includes(code) || (code === "battle_over" && battle && turns.has(turn))) {
      endWithoutVote(asked ?? question, text);
    } else if (["unknown_battle", "battle_over"].includes(code)) {
      newBattle();
      if (asked) composer.putBack(asked);
      notice(text);
    } else if (pending) {
      takeBack(text);
    } else if (code === "replies_unsaved") {
      noticeOutage(text);
    } else {
      notice(text);
    }
  },
};

/** Replies were stopped before there was anything to vote on: the question is asked again from its field. */
function giveBack() {
  mayEndEarly = false;
  setPhase("unanswered");
  composer.putBackOnce(question);
  notice(words.unanswered);
}

/** A battle takes no vote: what was written stays to be read, one reply may go on, and a reload brings the question back. */
function endWithoutVote(asked, text) {
  const left = battle;
  if (turns.has(turn)) turns.fail(turn);
  forget();
  [rest, question] = [left, asked];
  setPhase("voided");
  composer.hold(asked);
  notice(text);
}

/** A turn after the vote: nobody is hidden, and nothing is rated. */
function chatTurn(frame) {
  const { prompt } = pending;
  pending = null;
  composer.release();
  turn = frame.turn;
  showTurn(turn, prompt);
  turns.markUnrated(turn);
  nameSides();
}

function nameSides() {
  for (const side of ["a", "b"]) if (voted[side]) turns.name(side, voted[side].name);
}

function showTurn(number, prompt) {
  const fresh = !turns.has(number);
  const article = turns.begin(number, prompt);
  if (fresh) {
    // A visitor who types the next question already is not taken away from it.
    if (!composer.text) article.focus({ preventScroll: true });
    article.scrollIntoView({ block: "start" });
  }
  announce(words.started);
}

// ---- the page

function setPhase(next) {
  if (next === "empty" && phase !== "empty") restCards();
  phase = next;
  main.dataset.phase = phase;
  part("status").textContent = ""; // It was about the phase before.
  composer.battle = voted?.battle ?? battle;
  composer.enabled = TAKES_QUESTIONS.includes(phase);
  composer.placeholder = voted ? words.chat_on : battle && words.follow_up;
  if (phase === "ready") voteButtons.open(words.vote_now);
  else voteButtons.close(phase === "voting" ? words.sending_vote : words.wait_for_both);
  hintAtSides();
}

/** A visitor who can vote reads of a side that has not been looked at. */
function hintAtSides() {
  const side = phase === "ready" ? turns.unread : null;
  main.toggleAttribute("data-unread", side !== null);
  if (phase === "ready") voteButtons.hint = side ? fill(words.unread, { side: side.toUpperCase() }) : words.vote_now;
}

function forget() {
  composer.endEdit();
  voting.end();
  battle = null;
  voted = null;
  rest = null;
  pending = null;
  turn = 0;
  seq = 0;
  readyAt = 0;
  rememberBattle(null);
}

serveCards(ask, words.shuffled);
part("not-stored").hidden = !isStorageOff();
battle = rememberedBattle();
composer.battle = battle;
const unsent = battle && (await voting.takeOver(battle));
if (unsent) pending = unsent;
setPhase(pending ? "voting" : battle ? "resuming" : "empty");
if (battle) socket.open();
voting.sendUnsent();
if (phase === "empty") composer.focusAtOnce();
