// Signing out. Votes that this browser keeps are sent before, since the arena takes them from nobody else afterwards, and every tab forgets what
// was written in it. The page first says that the vote does not count; the second press signs out all the same.

import { part } from "./page.js";
import { noteSignOut } from "./sign_outs.js";
import { FOR_LATER, dropVote, keptVotes } from "./unsent_votes.js";
import { deliver } from "./vote_delivery.js";

/** Milliseconds for which signing out waits for receipts. */
const PATIENCE_MS = 5_000;
const form = part("sign-out");
const button = form.querySelector("button");
const told = part("kept-votes");
let isTold = false;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  button.disabled = true;
  const votes = keptVotes();
  if (votes.length > 0) tell(["sending"]);
  const states = await Promise.all(votes.map(send));
  const faults = ["unsent", "refused"].filter((state) => states.includes(state));
  if (faults.length > 0 && !isTold) {
    isTold = true;
    tell(faults);
    button.disabled = false;
    button.focus();
    return;
  }
  for (const { frame } of votes) dropVote(frame.battle);
  noteSignOut();
  form.submit();
});

/** Outcome of a kept vote: `counted`, `refused` for good, or `unsent`. */
async function send(vote) {
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, null));
  const answer = await Promise.race([deliver(form.dataset.socket, vote), late]);
  if (!answer?.battle || FOR_LATER.includes(answer.code)) return "unsent";
  dropVote(vote.frame.battle);
  return answer.outcome === vote.frame.outcome ? "counted" : "refused"; // A receipt may be of an earlier vote on the same battle.
}

function tell(states) {
  told.textContent = states.map((state) => told.dataset[state]).join(" ");
  told.hidden = false;
}
