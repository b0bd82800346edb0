// A page that answers a form shows what it made once. Loading it again must not send the form again, which would make more: the page takes
// the address at which it can be read.
"use strict";
(() => {
  const made = document.querySelector("[data-once]");
  if (made) history.replaceState(null, "", made.dataset.once);
})();
