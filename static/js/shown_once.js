// The answer to a form shows new links, keys or codes once. A reload would send the form again and make more of them, so the page replaces
// its address with one that only shows what there is.
"use strict";
(() => {
  const made = document.querySelector("[data-once]");
  if (made) history.replaceState(null, "", made.dataset.once);
})();
