// The vote on the battle of this page, from the choice of an outcome until the server has answered it, and the votes of earlier visits. A
// page that is left casts its vote; one that is only hidden, as on a phone that may end it, keeps it for the next visit.

import { isOffline, notice, noticeOutage } from "./notice.js";
import { fill } from "./page.js";
import { SubjectCheck, voteSubject } from "./vote_subject.js";
import { FOR_LATER, careFor, dropVote, isFree, keepVote, keptVote, unsentVoteSender } from "./unsent_votes.js";
import { VoteBeforeLeaving } from "./vote_before_leaving.js";
import { LONGEST_MS, VoteConfirmation } from "./vote_confirmation.js";

const main = document.querySelector("main");

export class Voting {
  #words;
  #page;
  #confirmation;
  #leaving;
  /** What the vote is about, from the choice of an outcome until its receipt; null where that is not known. */
  #judged = null;
  /** The outcome that this page has sent, until its receipt. */
  #sent = null;
  /** Whether the latest receipt is of the vote that this page has sent, and not of an earlier one on the same battle. */
  isFirst = true;
  /** Ends this page's care for the vote. */
  #endCare = null;
  /** What a connection that is back says about the battle that is judged, until it has said all. */
  #check = null;
  /** Whether the vote is kept because the page is hidden. */
  #isKept = false;
  /** Sends the votes of earlier visits and other tabs. */
  sendUnsent;

  /**
   * @param words of all scripts of the page
   * @param {{battle: () => string | null, phase: () => string, cast: (frame: object) => void, undone: (outcome: string) => void,
   *   receive: (frame: object) => void}} page `cast` sends the vote on the page's own connection, `undone` follows a choice that is
   *   taken back, and `receive` is given the receipt of a vote of an earlier visit.
   */
  constructor(words, page) {
    this.#words = words;
    this.#page = page;
    const cast = () => this.#cast();
    this.#confirmation = new VoteConfirmation(words, { cast, undo: (outcome) => this.#undo(outcome) });
    this.#leaving = new VoteBeforeLeaving({ isVoting: () => this.#isOpen, cast });
    this.sendUnsent = unsentVoteSender({ deliver: (vote) => this.#deliver(vote), isOwn: (battle) => this.#isVotedOnHere(battle) });
    addEventListener("pagehide", () => {
      if (!this.#isSentElsewhere) cast();
      this.#endCare?.();
    });
    addEventListener("offline", () => this.#page.phase() === "voting" && noticeOutage(words.vote_kept));
    document.addEventListener("visibilitychange", () => this.#isOpen && this.#turnVisibility());
  }

  /** The outcome is chosen; nothing is sent yet. `replies` are the HTML blocks of both sides, after the event numbered `seq`. */
  hold(outcome, { turn, answer, seq, replies }) {
    this.#judged = { ...voteSubject(turn, seq, replies), answer };
    this.#endCare = careFor(this.#page.battle());
    this.#confirmation.open(outcome);
  }

  /** Takes over the vote that an earlier page has kept on a battle and gives its frame; null where there is none for this page. */
  async takeOver(battle) {
    const unsent = keptVote(battle);
    if (!unsent || !(await isFree(unsent))) return null;
    this.#judged = unsent.judged;
    this.#sent = unsent.frame.outcome;
    this.#endCare = careFor(battle);
    return unsent.frame;
  }

  /** The vote is taken back, answered, or another page's. */
  letGo() {
    this.#endCare?.();
    this.#judged = null;
    this.#sent = null;
    this.#endCare = null;
    this.#check = null;
  }

  /** The vote would be about other replies than those that were judged. */
  drop() {
    dropVote(this.#page.battle());
    this.letGo();
    this.#confirmation.reset();
    this.#leaving.stay();
  }

  /** The battle ends on this page. */
  end() {
    this.#confirmation.close();
    this.letGo();
  }

  /** For a new battle: reasons are chosen again. */
  clearReasons() {
    this.#confirmation.reset();
  }

  /** A connection is back: before the vote goes out, it says how the battle stands. */
  compare() {
    // One that was lost before it had said all goes on where the one before it ended.
    this.#check ??= this.#judged && new SubjectCheck(this.#judged);
  }

  /** What is asked in place of the vote until a connection that is back has said how the battle stands; null where none has to. */
  get question() {
    return this.#check?.question ?? null;
  }

  /** Reads what a connection that is back sends. */
  take(frame) {
    this.#check?.take(frame);
  }

  /** It has said all, up to the event numbered `seq`: says whether the battle stands where it was judged. */
  endComparison(seq) {
    if (!this.#check.isSame) return false;
    this.#check = null;
    this.#judged = { ...this.#judged, seq };
    return true;
  }

  /** Whether a turn that begins now is one that the vote is not about. */
  get isOutdatedByTurn() {
    return this.#judged !== null && this.#check === null;
  }

  /** The server has answered a vote that was kept. One that it cannot take now is kept for the next visit. */
  settle({ type, code, battle, outcome }) {
    const isShown = battle === this.#page.battle();
    const isToldOf = isShown && !this.#leaving.isUnderWay;
    const isForLater = !isToldOf && FOR_LATER.includes(code);
    if (!isForLater) dropVote(battle);
    if (type === "revealed" && isShown) this.#tellFirst(outcome);
    if (type !== "error" || !isShown) return;
    if (isForLater) this.#leaving.follow();
    else this.#leaving.stay();
  }

  /** Says which vote counts, where another tab has voted otherwise on this battle before. */
  #tellFirst(outcome) {
    this.isFirst = this.#sent === null || this.#sent === outcome;
    if (this.isFirst) return;
    this.#leaving.stay();
    notice(this.#firstCounts(outcome));
  }

  #firstCounts(outcome) {
    return fill(this.#words.first_vote_counts, { choice: this.#words[`chose_${outcome}`] });
  }

  /** Follows the link that waits for the receipt, if there is one. */
  followLink() {
    this.#leaving.follow();
  }

  /** Whether the choice can still be taken back. */
  get #isOpen() {
    return this.#page.phase() === "confirming";
  }

  /** Whether another page has sent the vote that this one has kept since it is hidden. */
  get #isSentElsewhere() {
    return document.hidden && this.#isKept && !keptVote(this.#page.battle());
  }

  get #frame() {
    return { type: "vote", battle: this.#page.battle(), turn: this.#judged?.turn, answer: this.#judged?.answer, ...this.#confirmation.vote };
  }

  /** Sends the vote that is not sent yet. */
  #cast() {
    if (!this.#isOpen) return;
    const frame = this.#frame;
    this.#confirmation.close();
    keepVote({ frame, judged: this.#judged, due: Date.now() });
    this.#sent = frame.outcome;
    this.#page.cast(frame);
    if (isOffline()) noticeOutage(this.#words.vote_kept);
  }

  #undo(outcome) {
    this.#confirmation.close();
    dropVote(this.#page.battle());
    this.letGo();
    this.#page.undone(outcome);
  }

  /** The page is hidden or seen again while the choice can be taken back. */
  #turnVisibility() {
    const battle = this.#page.battle();
    if (document.hidden) {
      keepVote({ frame: this.#frame, judged: this.#judged, due: Date.now() + LONGEST_MS });
      this.#isKept = keptVote(battle) !== null;
    } else if (this.#isKept && !keptVote(battle)) {
      this.#cast(); // Its time was over while this page stood still, and another one has sent it: this one asks for the receipt.
    } else {
      this.#isKept = false;
      dropVote(battle);
    }
  }

  /** Sends a vote of an earlier visit, and says what has become of it; the battle that is shown says itself that the vote has arrived. */
  async #deliver(vote) {
    // Loaded where there are any, which is seldom: the first visit stays small.
    const { deliver } = await import("./vote_delivery.js");
    const answer = await deliver(main.dataset.socket, vote);
    if (!answer?.battle) return;
    const isShown = answer.battle === this.#page.battle();
    if (answer.type === "revealed") {
      if (isShown) this.#sent = vote.frame.outcome;
      this.#page.receive(answer);
      const isCounted = answer.outcome === vote.frame.outcome;
      if (!isShown) notice(isCounted ? this.#arrived(answer) : this.#notCounted(this.#firstCounts(answer.outcome)));
      return;
    }
    this.settle(answer);
    const why = this.#words[`error_${answer.reason ?? answer.code}`] ?? answer.message;
    if (isShown) notice(why);
    else if (!keptVote(answer.battle)) notice(this.#notCounted(answer.code === "unknown_battle" ? this.#words.vote_of_former : why));
  }

  #arrived({ excluded }) {
    return excluded ? this.#words.vote_arrived : this.#words.vote_counted;
  }

  #notCounted(why) {
    return fill(this.#words.vote_not_counted, { why });
  }

  #isVotedOnHere(battle) {
    return battle === this.#page.battle() && ["confirming", "voting"].includes(this.#page.phase());
  }
}
