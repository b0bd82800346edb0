// Consent before the first battle. The text is a page of its own, loaded when it is needed.

import { part } from "./page.js";

let open = null;

/**
 * Shows the text and waits for the choice. Callers meanwhile get the same answer.
 * @returns {Promise<string | null>} the version that the visitor agreed to; null where the visitor did not
 */
export function askForConsent() {
  open ??= show().finally(() => (open = null));
  return open;
}

async function show() {
  const answer = await fetch("/consent");
  if (!answer.ok) throw new Error(`the text does not come: ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  await style(part("consent-style", page));
  const text = document.adoptNode(part("agreement", page));
  part("choice", text).hidden = false;
  const dialog = document.createElement("dialog");
  dialog.className = "agreement-question";
  dialog.setAttribute("aria-labelledby", "agreement-title");
  dialog.append(text);
  document.body.append(dialog);
  return choice(dialog, text.dataset.version);
}

/** The sheet of the page; the text is shown without it where it does not come. */
function style(link) {
  if (document.querySelector('[data-part="consent-style"]')) return null;
  return new Promise((resolve) => {
    const own = document.adoptNode(link);
    own.onload = own.onerror = resolve;
    document.head.append(own);
  });
}

function choice(dialog, version) {
  return new Promise((resolve) => {
    const on = (action, value) =>
      dialog.querySelector(`[data-action="${action}"]`).addEventListener("click", () => dialog.close(value));
    on("agree", version);
    on("later", "");
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue || null);
    });
    dialog.showModal();
    part("agreement", dialog).scrollIntoView({ block: "start" });
  });
}
