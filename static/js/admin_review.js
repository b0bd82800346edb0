// Keys 1 to 9 and 0 move to the buttons of a review in their order, unless somebody is typing; Enter presses the button. No key decides
// alone, since a decision is not shown again.
"use strict";
(() => {
  const buttons = [...document.querySelectorAll("[data-review] button")];
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const button = /^[0-9]$/.test(event.key) && buttons[(Number(event.key) + 9) % 10];
    if (button) button.focus({ focusVisible: true });
  });
})();
