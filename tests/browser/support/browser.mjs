// Chromium as Debian packs it, and a watch over everything that must not happen on a page.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";

import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The build of Chromium without windows draws the same pages with half of the processor time. */
const BROWSERS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

export function startBrowser() {
  const executablePath = process.env.CHROMIUM ?? BROWSERS.find((path) => existsSync(path));
  return chromium.launch({ executablePath, args: FLAGS });
}

/**
 * A page of a fresh visitor. `page.assertQuiet()` fails on dialogs, errors, refused content and foreign requests. A vote waits
 * until the names are asked for, as a visitor can choose, so that no test runs against the clock; with `hurry` it goes out by
 * itself after two seconds of the page's clock. The visitor agrees to what is stored as soon as the page asks, unless `agrees` is false.
 */
export async function openPage(browser, { hurry = false, agrees = true, ...options } = {}) {
  const context = await browser.newContext({ locale: "en-GB", ...options });
  if (!hurry) await context.addInitScript(() => localStorage.setItem("langya-wait", "on"));
  if (agrees) await context.addInitScript(agreeAtOnce);
  const page = await context.newPage();
  const incidents = [];
  page.on("dialog", async (dialog) => {
    incidents.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) incidents.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => incidents.push(`error: ${error.message}`));
  context.on("request", (request) => {
    const { host, protocol } = new URL(request.url());
    if (protocol !== "data:" && host !== new URL(page.url()).host && page.url() !== "about:blank") {
      incidents.push(`foreign request: ${request.url()}`);
    }
  });
  page.assertQuiet = () => assert.deepEqual(incidents, []);
  return page;
}

function agreeAtOnce() {
  const agree = () => document.querySelector('dialog[open] [data-action="agree"]')?.click();
  const options = { attributes: true, childList: true, subtree: true };
  new MutationObserver(agree).observe(document, options);
}

/** Waits until the battle on the page is in a phase. */
export function phase(page, name) {
  return page.locator(`main[data-phase="${name}"]`).waitFor();
}

/** Asks a question as a visitor does and waits until it stands in the conversation. */
export async function ask(page, prompt) {
  const turns = await page.locator(".turn").count();
  await page.getByRole("textbox", { name: "Your question" }).fill(prompt);
  await page.keyboard.press("Control+Enter"); // on a touch screen too
  await page.locator(".turn").nth(turns).waitFor();
}

/** Chooses an outcome, by the name of its button or by its key, and asks for the names. */
export async function vote(page, name) {
  if (/^[1-4]$/.test(name)) await page.keyboard.press(name);
  else await page.getByRole("button", { name, exact: true }).click();
  await page.locator('[data-action="show"]').click();
  await phase(page, "revealed");
}

/** The votes that a page sends, from now on. */
export function votesOf(page) {
  const sent = [];
  page.on("websocket", (socket) =>
    socket.on("framesent", ({ payload }) => {
      const frame = JSON.parse(String(payload));
      if (frame.type === "vote") sent.push(frame);
    }),
  );
  return sent;
}
