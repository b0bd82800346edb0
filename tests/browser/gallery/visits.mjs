// Opening the pages of the table: starts an arena, fills it, and opens each of its pages as a visitor who has been there before.

import { startArena } from "../support/arena.mjs";
import { openPage } from "../support/browser.mjs";
import { ARENAS } from "./arenas.mjs";
import { LOCALES } from "./views.mjs";

/**
 * Starts an arena and lets a visitor use it. Gives `{ url, open, openEach, stop }`: `open` opens a page of the table in a view, and
 * `openEach` gives `{ visitNext, close }` to open them one after the other in one window, which takes a fifth of the time.
 */
export async function startGallery(browser, name) {
  const { fill, ready } = ARENAS[name];
  const arena = await startArena(fill);
  try {
    const visitor = await openPage(browser);
    const held = (await ready?.(visitor, arena.url, arena.filled)) ?? {};
    const storageState = await visitor.context().storageState();
    await visitor.context().close();
    const open = async (entry, view) => {
      const page = await openView(browser, { ...view, ...(entry.stranger ? {} : { storageState }) });
      await visit(page, arena.url, held, entry);
      return page;
    };
    const openEach = async (view) => {
      const window = await openView(browser, { ...view, storageState });
      const visitNext = async (entry) => {
        if (entry.stranger) return open(entry, view);
        await visit(window, arena.url, held, entry);
        return window;
      };
      return { visitNext, close: () => window.context().close() };
    };
    return { url: arena.url, open, openEach, stop: arena.stop };
  } catch (error) {
    await arena.stop();
    throw error;
  }
}

async function visit(page, url, held, { path, prepare }) {
  await page.goto(url + relative(typeof path === "function" ? path(held) : path));
  await prepare?.(page);
}

/** An empty page in a language and a theme, without motion. */
export function openView(browser, { language, ...options }) {
  return openPage(browser, { locale: LOCALES[language], reducedMotion: "reduce", ...options });
}

/** A link may be written with its host, which changes with the port. */
function relative(address) {
  return address.startsWith("/") ? address : new URL(address).pathname;
}
