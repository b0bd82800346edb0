// A link that is followed while the vote is not sent yet: the vote goes out first, so that the next page knows of it.

/** The longest wait for the receipt; the vote is kept meanwhile, and sent again by the next page. */
const LONGEST_MS = 1_500;

export class VoteBeforeLeaving {
  #go = null;

  /** @param {{isVoting: () => boolean, cast: () => void}} battle `isVoting`: a vote is chosen and not sent. */
  constructor({ isVoting, cast }) {
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.("a[href]");
      const opensElsewhere = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || link?.target;
      const leads = link && link.origin === location.origin && link.pathname !== location.pathname;
      if (event.defaultPrevented || opensElsewhere || !leads || !isVoting()) return;
      event.preventDefault();
      this.#go = () => location.assign(link.href);
      cast();
      setTimeout(() => this.follow(), LONGEST_MS);
    });
  }

  /** Whether a link waits for the receipt. */
  get isUnderWay() {
    return this.#go !== null;
  }

  /** Stays on the page: it has something to say. */
  stay() {
    this.#go = null;
  }

  /** Follows the link, once; without one nothing happens. */
  follow() {
    this.#go?.();
    this.#go = null;
  }
}
