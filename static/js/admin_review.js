// Keys 1 to 9 and 0 press the buttons of a review in their order, unless somebody is typing. Where a decision cannot be taken back, they
// only move to its button, which Enter presses.
"use strict";
(() => {
  const buttons = [...document.querySelectorAll("[data-review] button")];
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const button = /^[0-9]$/.test(event.key) && buttons[(Number(event.key) + 9) % 10];
    if (!button) return;
    if (button.closest('[data-review="focus"]')) button.focus({ focusVisible: true });
    else button.click();
  });
})();
