// The link by which an annotator came to a campaign: a link of their own, or a shared one, which gives each person a link of their own. The tokens stand behind
// the `#` of a link, where no server and no proxy sees them; links of earlier versions have them in the query. A token leaves the address at once.

import { keep, kept, part } from "./page.js";

const NAMES = ["invite", "join", "participant"];

/** Whether what stands behind the `#` of the address is a link's. */
function hasToken() {
  const behind = new URLSearchParams(location.hash.slice(1));
  return behind.has("invite") || behind.has("join");
}

/** Takes what a link says out of the address. */
function takeFromAddress() {
  const address = new URL(location.href);
  const behind = new URLSearchParams(address.hash.slice(1));
  const taken = Object.fromEntries(NAMES.map((name) => [name, behind.get(name) ?? address.searchParams.get(name)]));
  if (!taken.invite && !taken.join) return taken;
  for (const name of NAMES) address.searchParams.delete(name);
  if (hasToken()) address.hash = "";
  history.replaceState(history.state, "", address);
  return taken;
}

/** Keeps a value on the device. Without storage the tab's history keeps it, so that a reload and the way back find it and take no second place. */
function remember(key, value) {
  keep("localStorage", key, value);
  if (kept("localStorage", key) !== value) history.replaceState({ ...history.state, [key]: value }, "");
}

function remembered(key) {
  return kept("localStorage", key) ?? history.state?.[key] ?? null;
}

/** 128 bits; `randomUUID` is for secure origins only. */
function randomText() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class CampaignLink {
  /** The token of the annotator's own link; null until there is one. */
  token;
  #tokenKey;
  #joinedKey;
  /** The shared link by which a place is still to be taken; null where there is none. */
  #joining;

  /** @param {string} campaign its id */
  constructor(campaign) {
    this.#tokenKey = `langya-campaign-${campaign}`;
    this.#joinedKey = `langya-campaign-joined-${campaign}`;
    const { invite, join, participant } = takeFromAddress();
    if (join) this.#comeByShared(join, participant);
    else if (invite) this.#comeByOwn(invite);
    const joined = this.#joined();
    this.#joining = joined.join && !joined.invite ? joined : null;
    this.token = this.#joining ? null : remembered(this.#tokenKey);
    this.#giveToLanguages();
    // Another link in the address of the open page changes what stands behind the `#` alone, and loads nothing.
    addEventListener("hashchange", () => hasToken() && location.reload());
  }

  /** Whether there is anything to begin with. */
  get isThere() {
    return this.token !== null || this.#joining !== null;
  }

  /** Whether only this device knows that its place of a shared link is taken: another one, or a tab without storage, takes a second place. */
  get isKnownByDevice() {
    const { join, participant } = this.#joined();
    return Boolean(join) && !participant;
  }

  /** Takes a place of the shared link; `post` sends with `token`. */
  async takePlace(post) {
    const { join, participant, request, former } = this.#joining;
    this.token = join;
    try {
      this.token = (await post("/join", participant ? { request, participant } : { request })).invite;
    } catch (error) {
      this.token = null;
      // A link that has no place takes nobody's own link away, nor what is known of the shared one before it.
      if (remembered(this.#tokenKey)) remember(this.#joinedKey, JSON.stringify(former ?? {}));
      throw error;
    }
    remember(this.#tokenKey, this.token);
    remember(this.#joinedKey, JSON.stringify({ join, participant, request, invite: this.token }));
    this.#joining = null;
    this.#giveToLanguages();
    this.showOwn();
  }

  /** Shows the link by which a person who came by a shared one goes on, on this device or another. */
  showOwn() {
    const { invite } = this.#joined();
    if (!invite || invite !== this.token) return;
    part("own-link-address").textContent = `${location.origin}${location.pathname}#invite=${invite}`;
    part("own-link").hidden = false;
  }

  /**
   * Data of a shared link: its token, the participant's name at a recruitment platform, the number by which a repeated request is
   * known, and the token of the own link once a place is taken; until then `former` has the same of the shared link before, which gave a place.
   */
  #joined() {
    return JSON.parse(remembered(this.#joinedKey) ?? "{}");
  }

  /** Without storage, the page in another language knows of the link only what its address says. */
  #giveToLanguages() {
    const { join, participant } = this.#joining ?? {};
    if (!this.isThere || kept("localStorage", this.#joining ? this.#joinedKey : this.#tokenKey) !== null) return;
    const said = new URLSearchParams(join ? { join, ...(participant && { participant }) } : { invite: this.token });
    for (const link of document.querySelectorAll("a[hreflang]")) link.hash = said;
  }

  #comeByShared(join, participant) {
    const known = this.#joined();
    const former = known.invite ? known : known.former;
    const same = [known, former].find((shared) => shared?.join === join && (shared.participant ?? null) === participant);
    remember(this.#joinedKey, JSON.stringify(same ?? { join, participant, request: randomText(), former }));
    if (same?.invite) remember(this.#tokenKey, same.invite);
  }

  #comeByOwn(invite) {
    remember(this.#tokenKey, invite);
    if (!this.#joined().invite) remember(this.#joinedKey, "{}");
  }
}
