// The colour theme: the system's, or the visitor's own choice. Runs before the first paint, so it is no module; the notice about modules
// that fail to load is here for the same reason.
"use strict";
(() => {
  const key = "langya-theme";
  const order = ["system", "light", "dark"];
  const kept = () => {
    try {
      const theme = localStorage.getItem(key);
      return order.includes(theme) ? theme : "system";
    } catch {
      return "system"; // Storage is switched off: the choice lasts for this page.
    }
  };
  const apply = (theme) => {
    document.documentElement.dataset.theme = theme;
    const button = document.querySelector("[data-theme-button]");
    if (button) {
      button.hidden = false;
      button.title = button.dataset[theme];
      button.setAttribute("aria-label", button.dataset[theme]);
    }
  };
  apply(kept());
  // A page does nothing without its module: it shows a notice that says so, and what helps.
  const showFailure = ({ target }) => {
    const place = document.querySelector('[data-part="script-failed"]');
    if (place && target.type === "module") place.hidden = false;
  };
  addEventListener("error", showFailure, true);
  document.addEventListener("DOMContentLoaded", () => {
    apply(kept());
    document.querySelector("[data-theme-button]").addEventListener("click", () => {
      const now = document.documentElement.dataset.theme;
      const next = order[(order.indexOf(now) + 1) % order.length];
      try {
        localStorage.setItem(key, next);
      } catch {
        // As above.
      }
      apply(next);
    });
  });
})();
