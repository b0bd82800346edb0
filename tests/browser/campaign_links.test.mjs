// The links by which annotators come: their tokens stay out of addresses that servers see, and one person takes one place.

import assert from "node:assert/strict";
import { test } from "node:test";

import { shown, startCampaigns } from "./support/campaigns.mjs";

const { site, tokens, langya, open } = startCampaigns([["pairs", "pairwise", "judgements_per_item = 9\n"]]);

const share = () => langya("invite", "pairs", "--shared", "--count", "1").trim();

async function begin(page, done) {
  await page.getByRole("button", { name: "Begin" }).click();
  await shown(page, done);
}

/** A page in a browser that lets sites store nothing. */
async function openWithoutStorage() {
  const page = await open();
  await page.addInitScript(() => {
    for (const storage of ["localStorage", "sessionStorage"]) {
      Object.defineProperty(window, storage, {
        get() {
          throw new DOMException("Access is denied for this document.", "SecurityError");
        },
      });
    }
  });
  return page;
}

test("the token of a link is in no address that is asked for, and leaves the address bar", async () => {
  const page = await open();
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  const [first, second] = [tokens.pairs.pop(), tokens.pairs.pop()];
  await page.goto(`${site.url}/campaign/pairs#invite=${first}`);
  await begin(page, 0);
  assert.equal(page.url(), `${site.url}/campaign/pairs`);
  await page.keyboard.press("1");
  await shown(page, 1);
  // Another link in the same tab changes what stands behind the `#` alone.
  await page.goto(`${site.url}/campaign/pairs#invite=${second}`);
  await begin(page, 0);
  assert.equal(page.url(), `${site.url}/campaign/pairs`);
  assert.deepEqual(asked.filter((url) => url.includes(first) || url.includes(second)), []);
  await page.goto(`${site.url}/campaign/pairs?invite=${first}&lang=en`);
  assert.equal(page.url(), `${site.url}/campaign/pairs?lang=en`, "a link of an earlier version");
  await begin(page, 1);
  page.assertQuiet();
});

test("a shared link that is reloaded before it has begun takes its place afterwards", async () => {
  const page = await open();
  await page.goto(`${site.url}/campaign/pairs?participant=p7#join=${share()}`);
  await page.getByRole("button", { name: "Begin" }).waitFor();
  assert.equal(page.url(), `${site.url}/campaign/pairs`);
  await page.reload();
  const joined = page.waitForRequest("**/join");
  await begin(page, 0);
  assert.equal((await joined).postDataJSON().participant, "p7");
  page.assertQuiet();
});

test("in a browser that stores nothing, a shared link takes one place however often the page is reloaded", async () => {
  const page = await openWithoutStorage();
  await page.goto(`${site.url}/campaign/pairs#join=${share()}`);
  await page.getByText("uses up another place").waitFor();
  await page.route("**/join", async (route) => {
    await route.fetch();
    await route.abort();
  });
  const lost = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/join"));
  await page.getByRole("button", { name: "Begin" }).click();
  await lost;
  await page.unroute("**/join");
  await page.reload();
  await begin(page, 0);
  await page.keyboard.press("1");
  await shown(page, 1);
  await page.reload();
  await page.getByText("Your own link: keep it").click();
  const own = await page.locator('[data-part="own-link-address"]').innerText();
  await begin(page, 1);
  await page.getByRole("link", { name: "中文" }).click();
  await page.getByRole("button", { name: "开始" }).click();
  await shown(page, 1);
  const elsewhere = await openWithoutStorage();
  await elsewhere.goto(own);
  await elsewhere.getByRole("button", { name: "Begin" }).waitFor();
  assert.equal(await elsewhere.locator('[data-part="not-stored"]').isHidden(), true, "an own link takes no place");
  await begin(elsewhere, 1);
  assert.equal(new URL(elsewhere.url()).hash, "", "the token is not kept in the address");
});

test("a link that is not valid offers no second try", async () => {
  const page = await open();
  await page.goto(`${site.url}/campaign/pairs#invite=of-nobody`);
  await page.getByRole("button", { name: "Begin" }).click();
  await page.getByText("This link is not valid.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Try again" }).isVisible(), false);
});

test("a shared link that is full takes nobody's own link away", async () => {
  const page = await open();
  await page.goto(`${site.url}/campaign/pairs#invite=${tokens.pairs.pop()}`);
  await begin(page, 0);
  await page.keyboard.press("1");
  await shown(page, 1);
  const full = share();
  const other = await open();
  await other.goto(`${site.url}/campaign/pairs#join=${full}`);
  await begin(other, 0);
  await page.goto(`${site.url}/campaign/pairs?join=${full}`);
  await page.getByRole("button", { name: "Begin" }).click();
  await page.getByText("All places of this link are taken.").waitFor();
  await page.goto(`${site.url}/campaign/pairs`);
  await begin(page, 1);
});

test("a person who took a place by a shared link has it still after another one that is full", async () => {
  const page = await open();
  const [mine, full] = [share(), share()];
  await page.goto(`${site.url}/campaign/pairs#join=${mine}`);
  await begin(page, 0);
  await page.keyboard.press("1");
  await shown(page, 1);
  const other = await open();
  await other.goto(`${site.url}/campaign/pairs#join=${full}`);
  await begin(other, 0);
  await page.goto(`${site.url}/campaign/pairs?join=${full}`);
  await page.getByRole("button", { name: "Begin" }).click();
  await page.getByText("All places of this link are taken.").waitFor();
  await page.goto(`${site.url}/campaign/pairs?join=${mine}`);
  await begin(page, 1);
});
