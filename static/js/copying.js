// Copy buttons: on each reply for its text as the model wrote it, on each block of code for the code.

import { announce } from "./page.js";

/** For how long a button says that it has copied, in milliseconds. */
const SAID_MS = 2_000;

/** Puts a button on every block of code within that has none. */
export function offerCode(within, words) {
  for (const code of within.querySelectorAll(".code:not(:has(> .copy))")) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: words.copy });
    button.dataset.copy = "code";
    button.setAttribute("aria-label", words.copy_code);
    code.prepend(button);
  }
}

/**
 * Serves all copy buttons within.
 * @param {(button: HTMLElement) => Promise<string>} replyText the text of the reply whose button this is
 */
export function serveCopies(within, replyText, words) {
  within.addEventListener("click", async ({ target }) => {
    const button = target.closest("[data-copy]");
    if (!button) return;
    const isCode = button.dataset.copy === "code";
    const text = isCode ? button.parentElement.querySelector("code").textContent : replyText(button);
    const said = (await copy(Promise.resolve(text))) ? words.copied : words.copy_failed;
    button.textContent = said;
    announce(said);
    setTimeout(() => (button.textContent = words.copy), SAID_MS);
  });
}

/**
 * Whether it worked: browsers have a clipboard only on secure pages, and the older way elsewhere. The text may still be on its way;
 * some browsers let a page write only while they handle the click.
 */
async function copy(text) {
  try {
    const plain = text.then((known) => new Blob([known], { type: "text/plain" }));
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": plain })]);
    return true;
  } catch {
    return copySelected(await text);
  }
}

function copySelected(text) {
  const focused = document.activeElement;
  const field = Object.assign(document.createElement("textarea"), { value: text, className: "visually-hidden" });
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused?.focus({ preventScroll: true });
  return done;
}
