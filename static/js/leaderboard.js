// The live leaderboard: each change comes as the rows that the server would put into the page.

import { announce, fill, localTime, number, part } from "./page.js";
import { Socket } from "./socket.js";

const main = document.querySelector("main");
const rows = part("rows");
const time = part("time");
let shownNotes = part("notes").innerHTML;
/** A screen reader hears of changes at most so often, in milliseconds: a busy arena has one every few seconds. */
const ANNOUNCED_MS = 60_000;
let announcedAt = -Infinity;
let announcement;

const socket = new Socket(main.dataset.socket, {
  opened: () => {},
  frame: (frame) => frame.type === "leaderboard" && show(frame),
  lost: () => true,
  patience: () => Infinity, // a quiet arena says nothing for hours
});

function show({ as_of, votes, notes, html }) {
  const before = states();
  const first = part("votes").dataset.live === undefined;
  rows.innerHTML = html;
  // What a reader has unfolded stays so while it says the same.
  if (notes !== shownNotes) part("notes").innerHTML = notes;
  shownNotes = notes;
  main.toggleAttribute("data-empty", rows.rows.length === 0);
  part("votes").textContent = number(votes);
  part("votes").dataset.live = "";
  const noun = part("votes-noun");
  noun.textContent = votes === 1 ? noun.dataset.one : noun.dataset.more;
  showTime(as_of);
  const changed = [...rows.rows].filter((row) => before.get(row.dataset.model) !== row.dataset.state);
  if (changed.length === 0 || first) return;
  for (const row of changed) row.classList.add("changed");
  announceChange(votes);
}

/** What changes within the minute is announced at its end, so that the latest change is always heard. */
function announceChange(votes) {
  const wait = announcedAt + ANNOUNCED_MS - performance.now();
  clearTimeout(announcement);
  if (wait > 0) {
    announcement = setTimeout(announceChange, wait, votes);
    return;
  }
  announcedAt = performance.now();
  announce(fill(main.dataset.changed, { n: number(votes) }));
}

/** Each model's numbers as text, to see which row has moved. */
function states() {
  return new Map([...rows.rows].map((row) => [row.dataset.model, row.dataset.state]));
}

function showTime(milliseconds) {
  part("as-of").hidden = typeof milliseconds !== "number";
  if (typeof milliseconds !== "number") return;
  const date = new Date(milliseconds);
  time.dateTime = date.toISOString();
  time.textContent = localTime(date);
}

if (time.dateTime) showTime(Date.parse(time.dateTime));
socket.open();
