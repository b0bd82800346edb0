// The subject of a vote: the latest turn as it stood when the visitor chose. In another tab the same visitor may have had it
// answered again or asked on, so a page whose connection was lost asks first how the battle stands, and then votes.

/** What is kept of the turn that is judged, after the event numbered `seq`; `replies` are the HTML blocks of sides A and B. */
export function voteSubject(turn, seq, replies) {
  return { turn, seq, print: print(replies) };
}

/** Applies a frame's changes to the blocks of a reply: of each block the part that is kept, and what follows. */
export function patch(blocks, changes) {
  for (const [index, kept, rest] of changes) blocks[index] = (blocks[index] ?? "").slice(0, kept) + rest;
}

/** Reads what the server sends after a `resume`. It has all once the server has answered [`question`]. */
export class SubjectCheck {
  #judged;
  #seq;
  #turn = null;
  #replies = [[], []];
  #hasGoneOn = false;

  /** @param judged of [`voteSubject`] */
  constructor(judged) {
    this.#judged = judged;
    this.#seq = judged.seq;
  }

  /** Answered after everything that a `resume` before it sends; what it says is not needed. */
  get question() {
    return { type: "text", turn: this.#judged.turn, side: "a" };
  }

  take(frame) {
    if (typeof frame.seq === "number") this.#seq = frame.seq;
    if (frame.type === "battle") {
      this.#turn = frame.turn;
      this.#replies = [[], []];
      this.#hasGoneOn ||= frame.seq === this.#judged.seq + 1;
    } else if (frame.type === "blocks" && frame.turn === this.#turn) {
      patch(this.#replies[0], frame.a ?? []);
      patch(this.#replies[1], frame.b ?? []);
    }
  }

  /**
   * Whether the battle stands where it was judged. One that the arena has loaded again is sent from its beginning, with other
   * numbers: then the replies are compared.
   */
  get isSame() {
    const { turn, seq, print: seen } = this.#judged;
    return this.#seq === seq || (!this.#hasGoneOn && this.#turn === turn && print(this.#replies) === seen);
  }
}

/** Distinguishes replies; nobody has a reason to forge one. */
function print(replies) {
  const text = JSON.stringify(replies.map((blocks) => blocks.join("")));
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return `${text.length} ${hash}`;
}
