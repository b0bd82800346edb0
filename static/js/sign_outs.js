// Signing out in all tabs of a browser: drafts of the visitor are deleted in each of them, also where a tab shows
// another page meanwhile.

import { keep, kept } from "./page.js";

/** The latest sign-out: in `localStorage` of this browser, in `sessionStorage` the one for which this tab has forgotten everything. */
const SIGNED_OUT = "langya-signed-out";
/** Prefixes of the keys under which a tab stores its visitor's own data. */
const OWN = ["langya-draft", "langya-battle", "langya-images"];

/** Has every tab forget what its visitor has written. */
export function noteSignOut() {
  keep("localStorage", SIGNED_OUT, String(Date.now()));
  forgetFormer();
}

/** Forgets what this tab keeps of a visitor who has signed out since. */
export function forgetFormer() {
  const latest = kept("localStorage", SIGNED_OUT);
  if (latest === null || kept("sessionStorage", SIGNED_OUT) === latest) return;
  keep("sessionStorage", SIGNED_OUT, latest);
  for (const name of namesOfTab()) if (OWN.some((own) => name.startsWith(own))) keep("sessionStorage", name, null);
}

/** Calls this when the visitor signs out in another tab. */
export function onSignOut(forget) {
  addEventListener("storage", ({ key }) => key === SIGNED_OUT && forget());
}

let hasSignedOut = false;
onSignOut(() => (hasSignedOut = true));

/** Whether the visitor has signed out in another tab since this page was loaded. */
export function isSignedOut() {
  return hasSignedOut;
}

function namesOfTab() {
  try {
    return Object.keys(sessionStorage);
  } catch {
    return []; // Storage is switched off.
  }
}
