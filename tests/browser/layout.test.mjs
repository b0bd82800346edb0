// How pages use the room they have: on phones of every size, held either way, on tablets, laptops and very wide screens.

import assert from "node:assert/strict";
import { test } from "node:test";

import { phase, vote } from "./support/browser.mjs";
import { PHONE, startSite } from "./support/site.mjs";

/** 720 × 450 is a laptop whose page is shown at twice its size. */
const SIZES = [
  [320, 568],
  [390, 844],
  [700, 900],
  [776, 1024],
  [844, 390],
  [720, 450],
  [1440, 900],
  [2560, 1440],
].map(([width, height]) => ({ width, height }));
const LOCALES = ["en-GB", "zh-CN"];

const site = startSite({ options: { reducedMotion: "reduce" } });

test("the navigation fits every screen: nothing overlaps, nothing is cut off, nothing scrolls sideways", async () => {
  for (const locale of LOCALES) {
    for (const path of ["/", "/leaderboard", "/benchmarks", "/models"]) {
      const page = await site.arrive(path, { locale });
      for (const size of SIZES) {
        await page.setViewportSize(size);
        const where = `${path} ${locale} ${size.width}`;
        assert.deepEqual(await page.evaluate(navigationFaults), [], where);
        await page.locator(".more > summary").click();
        assert.deepEqual(await page.evaluate(navigationFaults), [], `${where}, menu open`);
        assert.ok((await page.locator(".more li a:visible").count()) >= 4, where);
        await page.keyboard.press("Escape");
        assert.equal(await page.locator(".more li a:visible").count(), 0, where);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), size.width, where);
      }
      page.assertQuiet();
      await page.context().close();
    }
  }
});

test("on a phone whose text is twice as large nothing scrolls sideways, and a battle can begin", async () => {
  const large = { width: 195, height: 422 };
  for (const locale of LOCALES) {
    const page = await site.arrive("/", { locale, viewport: large, agrees: false });
    await page.locator("main textarea").first().fill("Why?");
    await page.keyboard.press("Enter");
    await page.locator('dialog[open] [data-action="agree"]').click();
    await phase(page, "ready");
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `a battle, ${locale}`);
    await page.locator(".more > summary").click();
    const menu = await page.locator(".more > ul").boundingBox();
    assert.ok(menu.x >= 0 && menu.x + menu.width <= large.width, `the menu, ${locale}: ${JSON.stringify(menu)}`);
    for (const path of ["/leaderboard", "/history", "/about", "/consent", "/log", "/benchmarks", "/correlation", "/models"]) {
      await page.goto(new URL(path, page.url()).href);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} ${locale}`);
    }
    await page.context().close();
  }
});

test("on a phone whose text is twice as large the names of both sides are whole, and a question has room for words", async () => {
  for (const locale of LOCALES) {
    const page = await site.arrive("/", { ...PHONE, viewport: { width: 360, height: 740 }, locale });
    await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
    await page.locator("#prompt").fill("a short question");
    await page.keyboard.press("Control+Enter");
    await phase(page, "ready");
    assert.deepEqual(await page.evaluate(switchFaults), [], locale);
    assert.ok((await page.locator("#prompt").evaluate((field) => field.clientWidth)) >= 200, locale);
    await page.locator('.choice[data-outcome="a"]').tap();
    await page.locator('[data-action="show"]').tap();
    await phase(page, "revealed");
    assert.deepEqual(await page.evaluate(switchFaults), [], `${locale}, after the vote`);
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    const masthead = await page.locator(".masthead").boundingBox();
    assert.ok(masthead.y + masthead.height <= 0, `${locale}: the masthead leaves with the page: ${JSON.stringify(masthead)}`);
    assert.ok((await overlap(page, ".card.chosen .stamp", ".card.chosen h3")) <= 0, `${locale}: the stamp is beside the name`);
    await page.context().close();
  }
});

/** Runs in the page: which names of the switch between the sides are cut off, and which are covered by the mark of a side not looked at. */
function switchFaults() {
  return [...document.querySelectorAll(".side-switch button")].flatMap((button) => {
    const [name, unread] = [button.querySelector(".side-name"), button.querySelector(".unread")];
    const [box, mark] = [name.getBoundingClientRect(), unread.getBoundingClientRect()];
    const faults = name.scrollWidth > name.clientWidth ? [`${name.textContent} is cut off`] : [];
    const apart = mark.width === 0 || mark.right <= box.left || box.right <= mark.left || mark.bottom <= box.top || box.bottom <= mark.top;
    return apart ? faults : [...faults, `${name.textContent} is covered`];
  });
}

/** How many pixels the first element reaches into the second one from below. */
async function overlap(page, one, other) {
  const [upper, lower] = [await page.locator(other).boundingBox(), await page.locator(one).boundingBox()];
  return upper.y + upper.height - lower.y;
}

test("the navigation takes two lines where a visitor's own style makes its text twice as large", async () => {
  for (const locale of LOCALES) {
    const page = await site.arrive("/about", { locale, viewport: { width: 390, height: 844 } });
    await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, locale);
    assert.deepEqual(await page.evaluate(navigationFaults), [], locale);
    assert.equal(await page.evaluate(navigationRows), 2, locale);
    await page.context().close();
  }
});

test("text of twice the size leaves a phone two rows of navigation, whole words in headings, and replies beside the reasons", async () => {
  for (const locale of LOCALES) {
    const page = await site.arrive("/", { ...PHONE, viewport: { width: 360, height: 740 }, locale });
    for (const path of ["/leaderboard", "/benchmarks", "/correlation", "/models", "/"]) {
      await page.goto(site.url + path);
      await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
      assert.ok((await page.evaluate(navigationRows)) <= 2, `${path} ${locale}`);
      assert.deepEqual(await page.evaluate(navigationFaults), [], `${path} ${locale}`);
      assert.deepEqual(await page.evaluate(brokenWords), [], `${path} ${locale}`);
    }
    await page.locator(".more > summary").tap();
    assert.deepEqual(await page.evaluate(navigationFaults), [], `menu open, ${locale}`);
    await page.locator("#prompt").fill("in English");
    await page.keyboard.press("Control+Enter");
    await phase(page, "ready");
    await page.locator('.choice[data-outcome="a"]').tap();
    await phase(page, "confirming");
    const [tabs, sheet] = await page.evaluate(() => [".side-switch", ".vote-buttons"].map((one) => document.querySelector(one).getBoundingClientRect().toJSON()));
    assert.ok(sheet.top - tabs.bottom >= 740 / 3, `${locale}: a third of the screen has the replies: ${JSON.stringify([tabs, sheet])}`);
    await page.locator(".satisfaction label").first().tap();
    await page.locator('[data-action="show"]').tap();
    await phase(page, "revealed");
    await page.context().close();
  }
});

/** Runs in the page: in how many rows the masthead is. */
function navigationRows() {
  const all = [...document.querySelectorAll(".brand, .sections > a, .more > summary, .tools")];
  return new Set(all.map((one) => Math.round(one.getBoundingClientRect().bottom))).size;
}

/** Runs in the page: words of the heading that go on in another line. */
function brokenWords() {
  const heading = [...document.querySelectorAll("h1")].find((one) => one.checkVisibility());
  const text = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT).nextNode();
  return [...text.data.matchAll(/[a-z]+/gi)].filter((word) => {
    const range = document.createRange();
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
  }).map(([word]) => word);
}

test("the narrowest phone with text of twice the size scrolls no page sideways", async () => {
  for (const locale of LOCALES) {
    const page = await site.arrive("/", { locale, viewport: { width: 320, height: 568 } });
    for (const path of ["/", "/leaderboard", "/leaderboard?until=2020-01-01", "/models", "/benchmarks", "/history", "/about"]) {
      await page.goto(site.url + path);
      await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
      await page.locator("main details > summary").evaluateAll((all) => all.forEach((one) => (one.parentElement.open = true)));
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320, `${path} ${locale}`);
    }
    await page.context().close();
  }
});

test("a printed battle has both replies in ink on white, without buttons, whatever the theme", async () => {
  const page = await site.arrive("/", { viewport: { width: 718, height: 1000 } });
  await page.evaluate(() => localStorage.setItem("langya-theme", "dark"));
  await page.reload();
  await page.getByRole("textbox").first().fill("Compare them, please");
  await page.keyboard.press("Enter");
  await phase(page, "ready");
  await page.emulateMedia({ media: "print" });
  for (const side of ["a", "b"]) assert.ok(await page.locator(`.reply[data-side="${side}"]`).isVisible(), side);
  assert.equal(await page.locator("button:visible, textarea:visible, .masthead:visible").count(), 0);
  const cutOff = await page.locator(".reply-body pre").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
  assert.equal(cutOff, 0);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(246, 243, 236)");
});

/** Runs in the page: what is wrong with the entries of the navigation that can be seen. */
function navigationFaults() {
  const all = document.querySelectorAll(".brand, .sections > a, .more > summary, .more li a, .tools > *");
  const shown = [...all].filter((one) => one.checkVisibility());
  const called = (one) => one.className || one.textContent.trim();
  const faults = [];
  for (const [at, one] of shown.entries()) {
    const box = one.getBoundingClientRect();
    if (box.left < 0 || box.right > innerWidth) faults.push(`${called(one)} is cut off by the screen`);
    if (one.scrollWidth > one.clientWidth + 1) faults.push(`${called(one)} is wider than its place`);
    if (box.width < 44 || box.height < 44) faults.push(`${called(one)} is ${box.width} × ${box.height}`);
    for (const other of shown.slice(at + 1)) {
      const next = other.getBoundingClientRect();
      const apart =
        box.right <= next.left + 0.5 || next.right <= box.left + 0.5 || box.bottom <= next.top + 0.5 || next.bottom <= box.top + 0.5;
      if (!apart) faults.push(`${called(one)} overlaps ${called(other)}`);
    }
  }
  return faults;
}

test("a printed leaderboard has nothing that can only be clicked", async () => {
  const page = await site.arrive("/leaderboard");
  const clickable = page.locator("main :is(.button, input, select, summary):visible");
  assert.ok((await clickable.count()) > 0);
  await page.emulateMedia({ media: "print" });
  assert.deepEqual(await clickable.evaluateAll((all) => all.map((one) => one.outerHTML)), []);
  assert.ok(await page.getByRole("heading", { level: 1 }).isVisible());
});

test("with forced colours a phone shows which side is open, and that the other one was not looked at", async () => {
  const page = await site.arrive("/", { ...PHONE, forcedColors: "active" });
  await page.getByRole("textbox").fill("a short question");
  await page.getByRole("button", { name: "Send" }).tap();
  await phase(page, "ready");
  const dot = page.locator('[data-show-side="b"] .unread');
  const ground = (locator) => locator.evaluate((one) => getComputedStyle(one).backgroundColor);
  assert.notEqual(await ground(dot), await ground(page.locator(".side-switch")));
  const line = (side) => page.locator(`[data-show-side="${side}"] .side-name`).evaluate((one) => getComputedStyle(one).textDecorationLine);
  assert.deepEqual([await line("a"), await line("b")], ["underline", "none"]);
});

test("with forced colours the field shows its focus, and a chart can be read whatever the theme", async () => {
  const page = await site.open({ forcedColors: "active", colorScheme: "dark" });
  await page.addInitScript(() => localStorage.setItem("langya-theme", "light"));
  await page.goto(site.url);
  await page.locator("#prompt").focus();
  assert.equal(await page.locator("form.composer").evaluate((form) => getComputedStyle(form).outlineStyle), "solid");
  await page.goto(`${site.url}/docs/correlations`);
  const chart = page.locator(".chart").first();
  assert.equal(await chart.evaluate((one) => getComputedStyle(one).backgroundColor), "rgb(246, 243, 236)");
  assert.equal(await chart.locator(".heading").first().evaluate((one) => getComputedStyle(one).fill), "rgb(28, 35, 37)");
});

test("nothing in the replies that the keyboard comes to is behind the dock", async () => {
  const page = await site.arrive("/");
  await page.getByRole("textbox").first().fill("compare two ways, in English");
  await page.keyboard.press("Enter");
  await phase(page, "ready");
  await page.getByRole("link", { name: "the original paper" }).waitFor({ state: "attached" });
  for (const [width, height] of [[1280, 720], [320, 256]]) {
    await page.setViewportSize({ width, height });
    await page.evaluate(() => scrollTo(0, 0));
    await page.getByRole("button", { name: "Edit", exact: true }).focus();
    const places = [];
    while (!places.at(-1)?.isInDock) {
      await page.keyboard.press("Tab");
      places.push(await page.evaluate(placeOfFocus));
    }
    assert.ok(places.length > 4, `${width}: ${places.length}`);
    assert.deepEqual(places.filter(({ isCovered }) => isCovered), [], width);
  }
});

/** Runs in the page: what has the focus, and whether the dock covers the top of it. */
function placeOfFocus() {
  const one = document.activeElement;
  const dock = document.querySelector(".dock");
  const isInDock = dock.contains(one);
  const { left, top, width, height } = one.getBoundingClientRect();
  const isCovered = !isInDock && dock.contains(document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 10)));
  return { name: one.textContent.trim().slice(0, 40), isInDock, isCovered };
}

test("the menu works without scripts, by keyboard, and closes when the visitor turns elsewhere", async () => {
  const plain = await site.arrive("/leaderboard", { javaScriptEnabled: false });
  await plain.locator(".more > summary").click();
  await plain.getByRole("link", { name: "Benchmarks" }).click();
  await plain.waitForURL(/\/benchmarks/);
  const page = await site.arrive("/leaderboard");
  const menu = page.locator(".more > summary");
  await menu.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.ok(await page.locator(".more li a").first().evaluate((link) => link === document.activeElement));
  await page.keyboard.press("Escape");
  assert.ok(await menu.evaluate((summary) => summary === document.activeElement));
  await menu.click();
  await page.getByRole("heading", { level: 1 }).click();
  assert.equal(await page.getByRole("link", { name: "Benchmarks" }).count(), 0, "closed");
  page.assertQuiet();
});

test("in a battle at least 55 % of every screen is text", async (t) => {
  for (const locale of LOCALES) {
    const page = await site.arrive("/", { locale });
    await page.getByRole("textbox").first().fill("answer at length, slowly");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector('.reply[data-side="b"]')?.offsetHeight > 2000);
    const told = [];
    const measure = async (state) => {
      for (const size of SIZES) {
        await page.setViewportSize(size);
        const share = await page.evaluate(shareOfText);
        const where = `${state} ${locale} ${size.width} × ${size.height}`;
        told.push(`${where}: ${Math.round(100 * share)} %`);
        assert.ok(share >= 0.55, told.at(-1));
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), size.width, where);
      }
    };
    await measure("writing");
    await page.locator('[data-action="stop"]').click();
    await phase(page, "ready");
    await measure("ready");
    t.diagnostic(told.join(", "));
    page.assertQuiet();
    await page.context().close();
  }
});

/** Runs in the page: the share of the screen that shows replies when they are scrolled through. */
function shareOfText() {
  const place = document.querySelector(".turn .replies");
  scrollTo(0, scrollY + place.getBoundingClientRect().top + (place.offsetHeight - innerHeight) / 2);
  const replies = place.getBoundingClientRect();
  let [top, bottom] = [Math.max(0, replies.top), Math.min(innerHeight, replies.bottom)];
  for (const one of document.querySelectorAll("body *")) {
    if (!["sticky", "fixed"].includes(getComputedStyle(one).position) || !one.checkVisibility()) continue;
    const box = one.getBoundingClientRect();
    if (box.bottom <= 0 || box.top >= innerHeight || getComputedStyle(one).zIndex === "-1") continue;
    if (box.top + box.bottom < innerHeight) top = Math.max(top, box.bottom);
    else bottom = Math.min(bottom, box.top);
  }
  const width = Math.min(innerWidth, replies.right) - Math.max(0, replies.left);
  return ((bottom - top) * width) / (innerWidth * innerHeight);
}

test("every choice can be made in one row on a phone held sideways, and the reasons fit above the fold", async () => {
  const page = await site.arrive("/", { viewport: { width: 844, height: 390 }, hasTouch: true, isMobile: true });
  await page.getByRole("textbox").first().fill("answer at length");
  await page.getByRole("button", { name: "Send" }).tap();
  await phase(page, "ready");
  const boxes = await page.locator(".choice").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
  assert.equal(boxes.length, 4);
  assert.ok(boxes.every(({ top, bottom }) => top === boxes[0].top && bottom <= 390), JSON.stringify(boxes));
  await page.getByRole("button", { name: "B is better" }).tap();
  await phase(page, "confirming");
  await page.getByRole("radio", { name: "1, poor" }).press("ArrowRight");
  const second = await page.getByRole("radio", { name: "2" }).evaluate((one) => one.getBoundingClientRect().toJSON());
  assert.ok(second.bottom <= 390, JSON.stringify(second));
  await page.locator('[data-action="show"]').tap();
  await phase(page, "revealed");
  page.assertQuiet();
});

test("when a phone shows the names, they begin below the switch between the sides and no copy button is half under it", async () => {
  for (const [width, height] of [[320, 568], [390, 844], [430, 932]]) {
    const page = await site.arrive("/", { ...PHONE, viewport: { width, height } });
    await page.locator("#prompt").fill("a short question");
    await page.keyboard.press("Control+Enter");
    await phase(page, "ready");
    await page.locator('.choice[data-outcome="a"]').tap();
    await page.locator('[data-action="show"]').tap();
    await phase(page, "revealed");
    const places = await page.evaluate(() =>
      [".side-switch", ".reveal", '.reply[data-side="a"] .reply-foot .copy'].map((one) => document.querySelector(one).getBoundingClientRect().toJSON()),
    );
    const [tabs, names, copy] = places;
    const where = `${width} × ${height}: ${JSON.stringify(places)}`;
    assert.ok(names.top >= tabs.bottom + 8, where);
    assert.ok(copy.bottom <= tabs.top || copy.top >= tabs.bottom, where);
    await page.context().close();
  }
});

test("with text of twice the size and long names they begin below the switch between the sides, too", async () => {
  const page = await site.open(PHONE);
  await page.routeWebSocket(/\/ws\/battle/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((text) => {
      const frame = JSON.parse(text);
      if (frame.type === "revealed") for (const side of ["a", "b"]) frame[side].name = `The long name of model ${side}`;
      socket.send(JSON.stringify(frame));
    });
  });
  await page.goto(site.url);
  await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
  await page.locator("#prompt").fill("a short question");
  await page.keyboard.press("Control+Enter");
  await phase(page, "ready");
  await page.locator('.choice[data-outcome="a"]').tap();
  await page.locator('[data-action="show"]').tap();
  await phase(page, "revealed");
  const [tabs, names] = await page.evaluate(() => [".side-switch", ".reveal"].map((one) => document.querySelector(one).getBoundingClientRect().toJSON()));
  assert.ok(tabs.height > 110, `the names take two lines: ${JSON.stringify(tabs)}`);
  assert.ok(names.top >= tabs.bottom + 8 && names.top <= tabs.bottom + 40, JSON.stringify([tabs, names]));
});

test("a cell of a table in a reply has room for five characters, and the table scrolls in its frame", async () => {
  const page = await site.arrive("/", { viewport: { width: 390, height: 844 } });
  await page.getByRole("textbox").first().fill("compare two ways, in English");
  await page.keyboard.press("Enter");
  await phase(page, "ready");
  const cells = await page.locator('.reply[data-side="a"] td').evaluateAll((all) =>
    all.map((cell) => {
      const { fontSize, paddingLeft, paddingRight } = getComputedStyle(cell);
      return (cell.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)) / parseFloat(fontSize);
    }),
  );
  assert.ok(cells.length > 3 && cells.every((characters) => characters >= 4.9), cells.join());
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
});

test("on the narrowest phone the field shows its whole hint before and after the vote", async () => {
  for (const locale of LOCALES) {
    const page = await site.arrive("/", { ...PHONE, viewport: { width: 320, height: 568 }, locale });
    const isCut = () => page.locator("#prompt").evaluate((field) => field.scrollHeight > field.clientHeight);
    await page.locator("#prompt").fill("a short question");
    await page.keyboard.press("Control+Enter");
    await phase(page, "ready");
    assert.equal(await isCut(), false, locale);
    await page.locator('.choice[data-outcome="a"]').tap();
    await page.locator('[data-action="show"]').tap();
    await phase(page, "revealed");
    assert.equal(await isCut(), false, locale);
    await page.context().close();
  }
});

test("text so large that the vote buttons are as high as the screen leaves the replies to be read before them", async () => {
  for (const viewport of [{ width: 320, height: 568 }, { width: 568, height: 320 }]) {
    const page = await site.arrive("/", { ...PHONE, viewport });
    await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
    await page.locator("#prompt").fill("in English");
    await page.keyboard.press("Control+Enter");
    await phase(page, "ready");
    const overlap = await page.evaluate(() => {
      const [reply, buttons] = ['.reply[data-side="a"]', ".in-view"].map((one) => document.querySelector(one).getBoundingClientRect());
      return reply.bottom - buttons.top;
    });
    assert.ok(overlap <= 0, `${viewport.width}: ${overlap}`);
    await page.context().close();
  }
});

test("each sentence of the first heading has a line of its own on a phone", async () => {
  for (const width of [320, 390]) {
    const page = await site.arrive("/", { ...PHONE, viewport: { width, height: 844 } });
    const lines = await page.locator(".welcome h1").evaluate((heading) => {
      const text = heading.firstChild;
      const topOf = (word) => {
        const range = document.createRange();
        range.setStart(text, text.data.indexOf(word));
        range.setEnd(text, text.data.indexOf(word) + word.length);
        return range.getBoundingClientRect().top;
      };
      return ["Two", "answer.", "You", "decide."].map(topOf);
    });
    assert.equal(lines[0], lines[1], `${width}`);
    assert.ok(lines[1] < lines[2], `${width}`);
    assert.equal(lines[2], lines[3], `${width}`);
    await page.context().close();
  }
});

test("after the names are shown there is room for the next question at every width", async () => {
  for (const locale of LOCALES) {
    const page = await site.arrive("/", { locale });
    await page.getByRole("textbox").first().fill("a short question");
    await page.keyboard.press("Enter");
    await phase(page, "ready");
    await vote(page, "1");
    for (const width of [961, 1024, 1100, 1280, 1366, 1920]) {
      await page.setViewportSize({ width, height: 800 });
      const field = await page.locator("#prompt").evaluate((field) => field.clientWidth);
      assert.ok(field >= 250, `${width} ${locale}: ${field}`);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, locale);
    }
    await page.context().close();
  }
});

test("without scripts no question can be written, sent or put into the address", async () => {
  for (const [locale, sentence] of [["en-GB", /needs JavaScript/], ["zh-CN", /请启用 JavaScript/]]) {
    const page = await site.arrive("/", { locale, javaScriptEnabled: false });
    assert.ok(await page.getByText(sentence).isVisible());
    assert.equal(await page.locator("textarea:visible, main button:visible").count(), 0);
    await page.context().close();
  }
  // Scripts are on, but the page's own do not arrive.
  const page = await site.open();
  await page.route("**/static/js/*", (route) => route.abort());
  await page.goto(site.url);
  await page.getByRole("textbox", { name: "Your question" }).fill("a secret");
  await page.getByRole("button", { name: "Send" }).click({ force: true });
  await page.locator("form.composer").evaluate((form) => form.submit());
  await page.waitForLoadState();
  assert.ok(!page.url().includes("secret"), page.url());
});
