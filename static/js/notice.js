// The line of the battle page that says what is wrong, or what the visitor waits for.

import { part } from "./page.js";

const place = part("notice");

/** Shows a text in place of the one before; with an empty text, none. */
export function notice(text) {
  delete place.dataset.lost;
  place.textContent = text;
  place.hidden = text === "";
}

/** Shows that the connection is lost, until another notice comes or [`endLoss`]. */
export function noticeLoss(text) {
  notice(text);
  place.dataset.lost = "";
}

/** The connection is back. Returns whether the notice still said that it was lost. */
export function endLoss() {
  const wasTold = place.dataset.lost !== undefined;
  if (wasTold) notice("");
  return wasTold;
}
