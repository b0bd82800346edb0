// A double click sends a form once. Sent twice, it would make two keys or links, of which the page shows the second alone, or use a link or a code
// that the first one has used up, and the page would say that the account just made cannot be made.
"use strict";
(() => {
  /** Milliseconds between the clicks of a double click at most. */
  const DOUBLE_CLICK = 1000;
  const NOTHING = { form: null, at: 0 };
  let sent = NOTHING;
  // On the way back to a page that the browser has kept, its form may be sent again at once.
  addEventListener("pageshow", () => (sent = NOTHING));

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (form === sent.form && event.timeStamp - sent.at < DOUBLE_CLICK) event.preventDefault();
    else sent = { form, at: event.timeStamp };
  });
})();
