// The menu of the navigation opens and closes without this script; with it, it also closes when the visitor turns elsewhere.
"use strict";
(() => {
  const menu = document.querySelector("[data-menu]");
  const close = () => menu.removeAttribute("open");
  document.addEventListener("pointerdown", ({ target }) => {
    if (!menu.contains(target)) close();
  });
  menu.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !menu.contains(relatedTarget)) close();
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !menu.open) return;
    close();
    menu.querySelector("summary").focus();
  });
})();
