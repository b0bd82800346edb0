// Votes whose receipt has not come, kept in the browser so that a page that is left, reloaded or killed loses none. They
// are sent when an arena page comes up again; the server takes the same vote twice as once.
//
// A page that is only hidden keeps a vote that the visitor may still take back. While that page lives it holds a lock, and no
// other one sends the vote before the time at which the page itself would have sent it. Where there are no locks (a page
// without TLS has none) that time alone counts.

import { keep, kept } from "./page.js";
import { LONGEST_MS } from "./vote_confirmation.js";

const PREFIX = "langya-vote ";
/** Errors after which a kept vote is sent again by the next visit. */
export const FOR_LATER = ["storage", "rate_limited", "draining", "superseded"];

/**
 * Keeps a vote until [`dropVote`]: as it stands on the wire, with what it is about (`voteSubject` in vote_subject.js; null where that is not
 * known) and the time from which on any page may send it.
 *
 * @param {{frame: {battle: string}, judged: object | null, due: number}} vote
 */
export function keepVote(vote) {
  keep("localStorage", PREFIX + vote.frame.battle, JSON.stringify(vote));
}

export function dropVote(battle) {
  keep("localStorage", PREFIX + battle, null);
}

/** The vote that is kept on a battle, or null. */
export function keptVote(battle) {
  const text = kept("localStorage", PREFIX + battle);
  if (text === null) return null;
  try {
    const vote = JSON.parse(text);
    return vote.frame ? vote : { frame: vote, judged: null, due: 0 }; // An earlier version kept the frame alone.
  } catch {
    dropVote(battle); // Nothing that this page wrote.
    return null;
  }
}

/** All votes that are kept. */
export function keptVotes() {
  return unsentBattles().map(keptVote).filter(Boolean);
}

/** The battles on which a vote is kept. */
function unsentBattles() {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
  } catch {
    return []; // Storage is switched off.
  }
}

/** Takes care of the vote on a battle: as long as this page lives, or until the function that this gives is called. */
export function careFor(battle) {
  let end;
  const cared = new Promise((resolve) => (end = resolve));
  navigator.locks?.request(PREFIX + battle, () => cared).catch(() => {});
  return end;
}

/** Whether this page may send a kept vote now. */
export async function isFree(vote) {
  if (left(vote) <= 0) return true;
  try {
    const { held } = await navigator.locks.query();
    return !held.some(({ name }) => name === PREFIX + vote.frame.battle);
  } catch {
    return false;
  }
}

/**
 * Sends the votes of earlier visits and other tabs as soon as they are nobody else's, each once at a time.
 *
 * @param {{deliver: (vote: object) => Promise<void>, isOwn: (battle: string) => boolean}} page `isOwn`: the page itself sends the vote on that battle.
 */
export function unsentVoteSender({ deliver, isOwn }) {
  const sending = new Set();
  const sendWhenFree = async (battle) => {
    sending.add(battle);
    try {
      const vote = await whenFree(battle);
      if (vote && !isOwn(battle)) await deliver(vote);
    } catch {
      // The script that delivers it failed to load: the vote stays kept, and the next connection tries again.
    } finally {
      sending.delete(battle);
    }
  };
  return () => {
    for (const battle of unsentBattles()) if (!sending.has(battle) && !isOwn(battle)) sendWhenFree(battle);
  };
}

/** Waits until this page may send the vote on a battle, and gives it; null where it is sent or taken back by then. */
async function whenFree(battle) {
  const never = () => new Promise(() => {});
  const alone = navigator.locks?.request(PREFIX + battle, () => true).catch(never) ?? never();
  for (;;) {
    const vote = keptVote(battle);
    if (!vote || left(vote) <= 0) return vote;
    const due = new Promise((resolve) => setTimeout(resolve, left(vote), false));
    if (await Promise.race([alone, due])) return keptVote(battle);
  }
}

/** Milliseconds for which a vote is left to the page that keeps it. */
function left({ due }) {
  return Math.min(due - Date.now(), LONGEST_MS); // The clock may have been set back.
}
