// Images beside the first question: chosen, pasted and dropped, shown small before and whole after, and there again later.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible } from "./support/axe.mjs";
import { phase, vote } from "./support/browser.mjs";
import { startSite } from "./support/site.mjs";

const site = startSite();

/** A picture of 1200 × 630 pixels. */
async function picture() {
  return Buffer.from(await (await fetch(`${site.url}/site/preview/tie.png`)).arrayBuffer());
}

/** The page, once images can be attached: their script comes after it. */
async function opened(options) {
  const page = await site.open(options);
  await page.goto(site.url);
  await page.locator('[data-part="attach"]').waitFor();
  return page;
}

async function choose(page, ...files) {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Add images" }).click();
  await (await chooser).setFiles(files);
}

/** Has the question field take in a file as the event of this name brings one. */
function bring(page, event, { name, type, bytes }) {
  return page.locator("#prompt").evaluate(
    (field, [event, name, type, bytes]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(bytes)], name, { type }));
      const detail = { bubbles: true, cancelable: true };
      field.dispatchEvent(event === "paste" ? new ClipboardEvent(event, { ...detail, clipboardData: data }) : new DragEvent(event, { ...detail, dataTransfer: data }));
    },
    [event, name, type, [...bytes]],
  );
}

const small = (page) => page.getByRole("img", { name: /^Image \d of the question$/ });

async function ask(page, prompt) {
  await page.locator("#prompt").fill(prompt);
  await page.locator("#prompt").press("Enter");
}

for (const [screen, viewport] of Object.entries({ phone: { width: 390, height: 844 }, desktop: { width: 1440, height: 900 } })) {
  test(`both models see the images that stay, and so does the visitor, also after a reload and in the history, on a ${screen}`, async () => {
    const page = await opened({ viewport });
    const file = { name: "one.png", mimeType: "image/png", buffer: await picture() };
    await choose(page, file, { ...file, name: "two.png" }, { ...file, name: "three.png" });
    await page.getByRole("button", { name: "Remove image 2" }).click();
    assert.equal(await small(page).count(), 2);
    await assertAccessible(page, `images chosen, ${screen}`);
    await ask(page, "a short question about these");
    await phase(page, "ready");
    const seen = async () => {
      const images = page.locator(".turn .prompt-images img, .past-turn .prompt-images img");
      await images.nth(1).waitFor();
      await page.waitForFunction(() => [...document.querySelectorAll(".prompt-images img")].every((image) => image.naturalWidth === 1200));
      assert.equal(await images.count(), 2);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
    };
    await seen();
    for (const side of ["a", "b"]) assert.equal(await page.locator(`.reply[data-side="${side}"] .block`).textContent(), "I see images: 2.");
    await page.reload();
    await phase(page, "ready");
    await seen();
    await assertAccessible(page, `images asked about, ${screen}`);
    if (screen === "phone") await page.locator('[data-show-side="b"]').click();
    await vote(page, "Tie");
    await page.goto(`${site.url}/history`);
    await page.locator(".past-prompt").first().click();
    await seen();
    page.assertQuiet();
  });
}

test("pasted and dropped files are taken, what is no image is refused in words, and the next battle begins without", async () => {
  const page = await opened();
  const bytes = await picture();
  await bring(page, "paste", { name: "pasted.png", type: "image/png", bytes });
  await bring(page, "drop", { name: "dropped.png", type: "image/png", bytes });
  assert.equal(await small(page).count(), 2);
  await bring(page, "drop", { name: "notes.pdf", type: "application/pdf", bytes: [1] });
  await page.getByText("This is not a readable PNG, JPEG or WebP image.").waitFor();
  await bring(page, "paste", { name: "false.png", type: "image/png", bytes: [1, 2, 3] });
  assert.equal(await small(page).count(), 3);
  await page.locator(".attached li", { hasText: "false.png" }).waitFor();
  await ask(page, "a short question");
  // The arena has looked at it: the question stays, to be sent without it.
  await page.getByText("This is not a readable PNG, JPEG or WebP image.").waitFor();
  const said = await page.getByRole("alert").textContent();
  assert.ok(said.includes("false.png") && said.includes("no longer attached"), said);
  assert.equal(await page.locator("#prompt").inputValue(), "a short question");
  assert.equal(await small(page).count(), 2);
  await page.locator("#prompt").press("Enter");
  await phase(page, "ready");
  assert.equal(await page.locator('.reply[data-side="a"] .block').textContent(), "I see images: 2.");
  await page.getByRole("button", { name: "New battle" }).click();
  assert.equal(await small(page).count(), 0);
  await ask(page, "a short question");
  await phase(page, "ready");
  assert.ok(["A short answer.", "Another short answer."].includes(await page.locator('.reply[data-side="a"] .block').textContent()));
  assert.equal(await page.locator(".prompt-images img").count(), 0);
});

test("the same question is asked again with its images", async () => {
  const page = await opened();
  await choose(page, { name: "one.png", mimeType: "image/png", buffer: await picture() });
  await ask(page, "a short question");
  await phase(page, "ready");
  await vote(page, "A is better");
  await page.getByRole("button", { name: "Ask the same question again" }).click();
  await phase(page, "ready");
  assert.equal(await page.locator('.reply[data-side="b"] .block').textContent(), "I see images: 1.");
});

test("images that were chosen do not come back with a reload, which the page says once, and the text does", async () => {
  const page = await opened();
  await choose(page, { name: "one.png", mimeType: "image/png", buffer: await picture() });
  await page.locator("#prompt").fill("a short question about this");
  await page.reload();
  const said = page.getByText("Images are lost when the page is reloaded. Add them again.");
  await said.waitFor();
  assert.equal(await page.locator("#prompt").inputValue(), "a short question about this");
  assert.equal(await small(page).count(), 0);
  await page.reload();
  await page.locator('[data-part="attach"]').waitFor();
  assert.equal(await said.count(), 0);
  page.assertQuiet();
});

for (const [locale, tooMany, unusable] of [
  ["en-GB", "There are too many images: a question takes 4 at most. Leave the others out.", "This is not a readable PNG, JPEG or WebP image."],
  ["zh-CN", "图片过多：每个问题最多 4 张，请去掉其余的。", "：无法读取该文件。"],
]) {
  test(`too many images and a file that is none are refused with the limit and the file's name: ${locale}`, async () => {
    const page = await opened({ locale });
    const image = { name: "one.png", mimeType: "image/png", buffer: await picture() };
    const file = { name: "notes.pdf", mimeType: "application/pdf", buffer: Buffer.from("no image") };
    await page.locator('[data-part="attach-files"]').setInputFiles([file, ...Array(5).fill(image)]);
    await page.getByRole("alert").filter({ hasText: tooMany }).waitFor();
    const said = await page.getByRole("alert").textContent();
    assert.ok(said.includes("notes.pdf") && said.includes(unusable), said);
    assert.equal(await page.locator(".attached canvas").count(), 4);
    page.assertQuiet();
  });
}

test("a file that is too large is refused with the limit beside it", async () => {
  const page = await opened();
  await page.locator("#prompt").evaluate((field) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([new Uint8Array(9 << 20)], "large.png", { type: "image/png" }));
    field.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData }));
  });
  await page.getByText("This image is too large. Choose one of at most 8.3 MB.").waitFor();
  assert.equal(await small(page).count(), 0);
  page.assertQuiet();
});
