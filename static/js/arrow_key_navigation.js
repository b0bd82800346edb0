// The arrow keys lead to the item before and after, where they move nothing else.
"use strict";
(() => {
  const links = { ArrowLeft: "prev", ArrowRight: "next" };
  const is_taken = (element) => element.closest("input, select, textarea, summary, [contenteditable], [role=region]");
  addEventListener("keydown", (event) => {
    const rel = links[event.key];
    if (!rel || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
    if (event.target instanceof Element && is_taken(event.target)) return;
    const rtl = document.documentElement.dir === "rtl";
    const wanted = rtl ? { prev: "next", next: "prev" }[rel] : rel;
    document.querySelector(`[data-arrow-key-navigation] a[rel=${wanted}]`)?.click();
  });
})();
