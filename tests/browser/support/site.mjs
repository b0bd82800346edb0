// The arena and the browser of a test file: started before its first test, ended after its last.

import { after, afterEach, before } from "node:test";

import { startArena } from "./arena.mjs";
import { openPage, startBrowser } from "./browser.mjs";

/** A phone held upright, as an option of `arrive` and `open`. */
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/**
 * Starts an arena and a browser for the tests of a file. `fill` puts something into the arena before it serves (see `startArena`),
 * `ready` runs once it serves, and `options` are those of every page. What a test opens is closed after it.
 */
export function startSite({ fill, ready, options: common } = {}) {
  let arena;
  let browser;
  const site = {
    /** The arena's address. */
    get url() {
      return arena.url;
    },
    /** An empty page of a fresh visitor. */
    open: (options) => openPage(browser, { ...common, ...options }),
    /** A fresh visitor's page of the arena. */
    async arrive(path = "", options) {
      const page = await site.open(options);
      await page.goto(site.url + path);
      return page;
    },
  };
  before(async () => {
    arena = await startArena(fill);
    browser = await startBrowser();
    await ready?.(site);
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  after(async () => {
    await browser?.close();
    await arena?.stop();
  });
  return site;
}
