// Votes whose receipt has not come, kept in the browser so that a page that is left, reloaded or killed loses none. They
// are sent when an arena page comes up again; the server takes the same vote twice as once.

import { keep, kept } from "./page.js";

const PREFIX = "langya-vote ";

/** Keeps a vote, as it stands on the wire, until [`dropVote`]. */
export function keepVote(frame) {
  keep("localStorage", PREFIX + frame.battle, JSON.stringify(frame));
}

export function dropVote(battle) {
  keep("localStorage", PREFIX + battle, null);
}

/** The votes that are kept, by battle. */
export function unsentVotes() {
  const votes = new Map();
  for (const key of keys()) {
    try {
      votes.set(key.slice(PREFIX.length), JSON.parse(kept("localStorage", key)));
    } catch {
      keep("localStorage", key, null); // Nothing that this page wrote.
    }
  }
  return votes;
}

function keys() {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  } catch {
    return []; // Storage is switched off.
  }
}
