// Opening the pages of the table: starts an arena, fills it, and opens each of its pages as a visitor who has been there before.

import { startArena } from "../support/arena.mjs";
import { openPage } from "../support/browser.mjs";
import { ARENAS } from "./arenas.mjs";
import { LOCALES } from "./views.mjs";

/** Starts an arena and lets a visitor use it. Gives `{ url, open, stop }`: `open` opens a page of the table in a view. */
export async function startGallery(browser, name) {
  const { fill, ready } = ARENAS[name];
  const arena = await startArena(fill);
  try {
    const visitor = await openPage(browser);
    const held = (await ready?.(visitor, arena.url, arena.filled)) ?? {};
    const storageState = await visitor.context().storageState();
    await visitor.context().close();
    const open = (entry, view) => openEntry(browser, arena.url, held, entry, { ...view, ...(entry.stranger ? {} : { storageState }) });
    return { url: arena.url, open, stop: arena.stop };
  } catch (error) {
    await arena.stop();
    throw error;
  }
}

async function openEntry(browser, url, held, { path, prepare }, view) {
  const page = await openView(browser, view);
  await page.goto(url + relative(typeof path === "function" ? path(held) : path));
  await prepare?.(page);
  return page;
}

/** An empty page in a language and a theme, without motion. */
export function openView(browser, { language, ...options }) {
  return openPage(browser, { locale: LOCALES[language], reducedMotion: "reduce", ...options });
}

/** A link may be written with its host, which changes with the port. */
function relative(address) {
  return address.startsWith("/") ? address : new URL(address).pathname;
}
