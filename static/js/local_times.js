// Pages say times in UTC; this script says them by the reader's clock.

import { localTime } from "./page.js";

/** Tables, lists of facts and notices that say a time as text, on pages where none of them is by a visitor or a model. */
const TEXTS = "main:is(.admin, .log, .register) :is(td, th, dd, .finding, .notice)";
const UTC = /\b(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC\b/g;

function sayLocally() {
  for (const element of document.querySelectorAll("time[datetime]")) {
    const time = new Date(element.dateTime);
    if (!Number.isNaN(time.getTime())) element.textContent = localTime(time);
  }
  for (const { childNodes } of document.querySelectorAll(TEXTS)) {
    for (const node of childNodes) {
      if (node.nodeType !== Node.TEXT_NODE || !node.data.includes(" UTC")) continue;
      node.data = node.data.replace(UTC, (_, day, minute) => localTime(new Date(`${day}T${minute}Z`)));
    }
  }
}

sayLocally();
// A page of the admin has taken over a newer state of itself.
document.addEventListener("renewed", sayLocally);
