// Which battle the page comes back to. The tab keeps the one under way, for a reload and for links to this page. This entry of its history keeps
// its own one, also when that has its vote: Back leads to the names.

import { keep, kept } from "./page.js";

const KEPT = "langya-battle";

/** The battle is under way; null where none is. */
export function rememberBattle(id) {
  keep("sessionStorage", KEPT, id);
  history.replaceState(id && { battle: id }, "");
}

/** The battle has its vote: links to this page begin another one. */
export function rememberVoted(id) {
  keep("sessionStorage", KEPT, null);
  history.replaceState({ battle: id }, "");
}

/** The battle to show; null for none. */
export function rememberedBattle() {
  const linked = new URLSearchParams(location.hash.slice(1)).get("battle");
  // The page of an own battle leads back to it; a reload does not ask for it again.
  if (linked) history.replaceState(null, "", location.pathname + location.search);
  // A link to the address of this very page keeps what its entry holds.
  const followed = performance.getEntriesByType("navigation")[0]?.type === "navigate";
  return linked ?? (followed ? null : history.state?.battle) ?? kept("sessionStorage", KEPT);
}

// The page in another language shows the battle of this one, also where that has its vote.
document.addEventListener("click", ({ target }) => {
  const link = target.closest?.("a[hreflang]");
  const battle = history.state?.battle;
  if (link) link.hash = battle ? `battle=${encodeURIComponent(battle)}` : "";
});
