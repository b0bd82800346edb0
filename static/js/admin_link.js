// Takes the code of a link from behind its `#`, where no server sees it, into the form, and out of the address.
"use strict";
(() => {
  const field = document.querySelector("[data-link]");
  const code = location.hash.slice(1);
  if (!code) return;
  field.value = code;
  history.replaceState(null, "", location.pathname + location.search);
  (document.querySelector("#name") ?? document.querySelector("#passphrase")).focus();
})();
