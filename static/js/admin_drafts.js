// Keeps what was typed into a form of the admin while it is sent. Where the session has ended, the form is too old, a field is wrong or the arena does
// not answer, the text stands in its form again. Only this tab keeps it, for the account that typed it, without passphrases and codes, and not
// longer than until the arena has taken the form.
"use strict";
(() => {
  const KEY = "langya-admin-draft";
  // The name of a key's variable is not kept either: people paste the key there.
  const NOT_KEPT = '[type="password"], [type="hidden"], [type="file"], [autocomplete="one-time-code"], [name="key_env"]';

  const read = () => {
    try {
      return JSON.parse(sessionStorage.getItem(KEY));
    } catch {
      return null;
    }
  };

  const write = (draft) => {
    try {
      if (draft) sessionStorage.setItem(KEY, JSON.stringify(draft));
      else sessionStorage.removeItem(KEY);
    } catch {
      // Storage is switched off.
    }
  };

  const fieldsOf = (form) => [...form.elements].filter((field) => field.name && field.matches("input, select, textarea") && !field.matches(NOT_KEPT));
  const isBox = ({ type }) => type === "checkbox" || type === "radio";

  /** What tells forms with one action apart: the hidden fields, but for the session's token and the name of a key's variable. */
  const subjectOf = (form) => {
    const hidden = [...form.querySelectorAll('[type="hidden"]')].filter(({ name }) => name !== "token" && name !== "key_env");
    return JSON.stringify(hidden.map(({ name, value }) => [name, value]));
  };

  /** Who is signed in; absent on the page of a refusal. */
  const account = document.querySelector("[data-account]")?.dataset.account;

  const draftOf = (form) => {
    const fields = fieldsOf(form).map(({ name, value, checked }) => ({ name, value, checked }));
    return { account, page: location.pathname + location.search, action: form.getAttribute("action"), subject: subjectOf(form), fields };
  };

  /** Fills the form of a draft; returns whether this page has it. */
  const restore = ({ action, subject, fields }) => {
    const form = [...document.forms].find((form) => form.getAttribute("action") === action && subjectOf(form) === subject);
    if (!form) return false;
    for (const field of fieldsOf(form)) {
      const said = fields.find(({ name, value }) => name === field.name && (!isBox(field) || value === field.value));
      if (!said) continue;
      if (isBox(field)) field.checked = said.checked;
      else field.value = said.value;
    }
    return true;
  };

  /** On the page of a refusal: the text is needed again, and signing in leads back to it. */
  const keepRefused = (refusal, draft) => {
    write({ ...draft, isRefused: true });
    // A page that was itself the answer to a form cannot be opened by its address.
    if (refusal.dataset.refused === "401" && draft.page !== draft.action) refusal.querySelector("a.button").href = draft.page;
  };

  document.addEventListener("submit", ({ target: form, defaultPrevented }) => {
    if (form.method === "post" && !defaultPrevented) write(draftOf(form));
  });

  const draft = read();
  if (!draft) return;
  const refusal = document.querySelector("[data-refused]");
  if (refusal) return keepRefused(refusal, draft);
  if (draft.account !== account) return write(null); // Somebody else has signed in here.
  const { type, responseStatus } = performance.getEntriesByType("navigation")[0] ?? {};
  // Typing is needed again on the way back, and where the answer says what is wrong with the form.
  const isNeeded = draft.isRefused || type === "back_forward" || responseStatus >= 400;
  const isRestored = isNeeded && restore(draft);
  if (isRestored || !draft.isRefused) write(null);
})();
