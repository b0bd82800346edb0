// The line of the battle page that says what is wrong, or what the visitor waits for, and the one that says that there is no network.

import { announce, fill, fromNow, part } from "./page.js";

/** In seconds: only the limit of a day asks for a longer wait. */
const HOUR = 3600;
const place = part("notice");
const offline = part("offline");

addEventListener("offline", () => {
  offline.hidden = false;
  announce(offline.textContent);
});
addEventListener("online", () => {
  if (!offline.hidden) announce(offline.dataset.back);
  offline.hidden = true;
});

/** Whether the network is gone, and no connection has been made since. */
export function isOffline() {
  return !offline.hidden;
}

/** Shows a text in place of the one before; with an empty text, none. */
export function notice(text) {
  delete place.dataset.outage;
  place.textContent = text;
  place.hidden = text === "";
}

/** Shows that the connection is lost, or that the server cannot save, until another notice comes or [`endOutage`]. */
export function noticeOutage(text) {
  if (place.dataset.outage !== undefined && place.textContent === text) return; // A screen reader would say it again.
  notice(text);
  place.dataset.outage = "";
}

/** The connection is back, with or without a network. Returns whether the notice still said that it was lost. */
export function endOutage() {
  offline.hidden = true;
  const wasTold = place.dataset.outage !== undefined;
  if (wasTold) notice("");
  return wasTold;
}

/** Text of a server error in the page's language. */
export function errorText({ code, reason, message, retry_after }, words) {
  const limit = retry_after > HOUR ? words.again_after_a_day : words.again_later;
  return retry_after ? fill(limit, { when: fromNow(retry_after) }) : (words[`error_${reason}`] ?? words[`error_${code}`] ?? message);
}
