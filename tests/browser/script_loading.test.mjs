// Pages whose scripts come in part or not at all, as on a train: they say so, and nothing that was written or chosen is lost.

import assert from "node:assert/strict";
import { test } from "node:test";

import { phase } from "./support/browser.mjs";
import { startCampaigns } from "./support/campaigns.mjs";
import { playBattle } from "./support/play.mjs";

const { site, tokens } = startCampaigns([["pairs", "pairwise", ""]]);

test("a page says that it did not load, where its script or one that it needs does not come", async () => {
  for (const [locale, said] of [["en-GB", /did not load/], ["zh-CN", /未能载入/]]) {
    const pages = [["/", "battle.js"], ["/", "turns.js"], [`/campaign/pairs#invite=${tokens.pairs[0]}`, "campaign.js"]];
    for (const [path, script] of pages) {
      const page = await site.open({ locale });
      await page.route(`**/static/js/${script}*`, (route) => route.abort());
      await page.goto(site.url + path);
      await page.getByRole("alert").filter({ hasText: said }).waitFor();
      await page.unroute(`**/static/js/${script}*`);
      await page.reload();
      await page.locator('[data-part="begin"], .composer button[type="submit"]:enabled').first().waitFor();
      assert.equal(await page.getByText(said).isVisible(), false, `${script} has come`);
      await page.context().close();
    }
  }
});

test("battles go on without the script of images, which cannot be attached then", async () => {
  const page = await site.open();
  await page.route("**/static/js/images.js*", (route) => route.abort());
  await page.goto(site.url);
  await page.getByRole("textbox").fill("a short question");
  await page.getByRole("button", { name: "Send" }).click();
  await phase(page, "ready");
  assert.equal(await page.getByRole("button", { name: "Add images" }).count(), 0);
});

/** The start page without the script of images, which comes with `page.come()`. */
async function openWithoutImages() {
  const page = await site.open();
  const coming = new Promise((resolve) => (page.come = resolve));
  await page.route("**/static/js/images.js*", async (route) => {
    await coming;
    await route.continue();
  });
  await page.goto(site.url, { waitUntil: "commit" });
  await page.locator('.composer button[type="submit"]:enabled').waitFor();
  return page;
}

test("a question is asked while the script of images is still on its way, and the button for them comes with it", async () => {
  const page = await openWithoutImages();
  const attach = page.getByRole("button", { name: "Add images" });
  assert.equal(await attach.count(), 0);
  await page.getByRole("textbox").fill("a short question");
  await page.keyboard.press("Enter");
  await phase(page, "ready");
  page.come();
  await page.getByRole("button", { name: "New battle" }).click();
  await attach.waitFor();
  page.assertQuiet();
});

test("no card moves under a finger when the button for images comes", async () => {
  const page = await openWithoutImages();
  await page.waitForLoadState();
  const card = () => page.locator("[data-card]").first().boundingBox();
  const place = await card();
  page.come();
  await page.getByRole("button", { name: "Add images" }).waitFor();
  assert.deepEqual(await card(), place);
});

for (const [fault, answer, said] of [
  ["does not come", (route) => route.abort(), "The script for the computation did not load."],
  ["fails", (route) => route.fulfill({ contentType: "text/javascript", body: "export async function prove() { throw new Error(); }" }), "The computation that the arena asks for did not succeed."],
]) {
  test(`the question is back in its field where the script of the computation ${fault}`, async () => {
    const page = await site.open();
    const proof = { challenge: "challenge", seed: "0123456789abcdef0123456789abcdef", puzzles: 1, bits: 1 };
    await page.routeWebSocket("**/ws/battle", (socket) =>
      socket.onMessage((message) => {
        if (JSON.parse(message).type === "start") socket.send(JSON.stringify({ type: "error", code: "proof_required", message: "compute", proof }));
      }),
    );
    await page.route("**/static/js/proof_of_work.js*", answer);
    await page.goto(site.url);
    await page.getByRole("textbox").fill("a question of some length");
    await page.keyboard.press("Enter");
    await page.getByText(said).waitFor();
    await phase(page, "empty");
    assert.equal(await page.getByRole("textbox").inputValue(), "a question of some length");
    assert.ok(await page.getByRole("button", { name: "Send" }).isEnabled());
  });
}

test("a vote of an earlier visit is sent with the next connection, where the script that delivers it did not come at first", async () => {
  const page = await site.open();
  await page.goto(`${site.url}/about`);
  const battle = await playBattle(page, "a short question");
  const vote = { frame: { type: "vote", battle, outcome: "tie" }, judged: null, due: 0 };
  await page.evaluate(([battle, vote]) => localStorage.setItem(`langya-vote ${battle}`, vote), [battle, JSON.stringify(vote)]);
  const refused = page.waitForEvent("requestfailed", (request) => request.url().includes("vote_delivery"));
  await page.route("**/static/js/vote_delivery.js*", (route) => route.abort());
  await page.goto(site.url);
  await refused;
  await page.unroute("**/static/js/vote_delivery.js*");
  await page.getByRole("textbox").fill("another short question");
  await page.keyboard.press("Enter");
  await page.waitForFunction((battle) => localStorage.getItem(`langya-vote ${battle}`) === null, battle);
  await page.goto(`${site.url}/battle/${battle}`);
  await page.getByText("You called it a tie.").waitFor();
});
