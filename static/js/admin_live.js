// Keeps a table of the admin current: asks for the page again and takes over its rows. It stops where nobody has touched the page for a while,
// so that a page that is left open does not keep its session for ever.
"use strict";
(() => {
  const EVERY_MS = 5_000;
  const IDLE_MS = 600_000;
  const region = () => document.querySelector("[data-live]");
  let touched = Date.now();
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => (touched = Date.now()), { passive: true });

  const rows = async () => {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-live]");
    const [shown, fresh] = [region(), next].map((part) => part?.querySelector("tbody"));
    if (shown && fresh) {
      if (!shown.contains(document.activeElement)) shown.replaceWith(fresh);
    } else if (next) {
      region().replaceWith(next);
    }
  };

  const update = async () => {
    if (!document.hidden && Date.now() - touched < IDLE_MS) {
      // Where the arena does not answer, the rows stay as they are until the next time.
      await rows().catch(() => {});
    }
    setTimeout(update, EVERY_MS);
  };
  setTimeout(update, EVERY_MS);
})();
