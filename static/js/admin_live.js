// Keeps regions of a page of the admin current: asks for the page again and takes them over. It stops where nobody has touched the page for a while,
// so that a page that is left open does not keep its session forever.
"use strict";
(() => {
  const EVERY_MS = 5_000;
  const IDLE_MS = 600_000;
  let touched = Date.now();
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => (touched = Date.now()), { passive: true });

  /** Takes over a region, and of a table only the rows, so that it stays where it was scrolled to. */
  const renew = (shown, next) => {
    const [rows, fresh] = [shown, next].map((part) => part.querySelector("tbody"));
    const [old, latest] = rows && fresh ? [rows, fresh] : [shown, next];
    if (!old.contains(document.activeElement)) old.replaceWith(latest);
  };

  const regions = async () => {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const next of page.querySelectorAll("[data-live]")) {
      const shown = document.querySelector(`[data-live="${CSS.escape(next.dataset.live)}"]`);
      if (shown) renew(shown, next);
    }
    document.dispatchEvent(new Event("renewed"));
  };

  const update = async () => {
    if (!document.hidden && Date.now() - touched < IDLE_MS) {
      // Where the arena does not answer, the page stays as it is until the next time.
      await regions().catch(() => {});
    }
    setTimeout(update, EVERY_MS);
  };
  setTimeout(update, EVERY_MS);
})();
