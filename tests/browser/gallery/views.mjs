// How pages are looked at: six screens, two themes, two languages.

/** Screens by name; 844×390 is a phone held sideways. */
export const SCREENS = Object.fromEntries(
  [
    [320, 568],
    [390, 844],
    [700, 900],
    [844, 390],
    [1440, 900],
    [2560, 1440],
  ].map(([width, height]) => [width === 844 ? "844x390" : String(width), { width, height }]),
);
export const THEMES = ["light", "dark"];
export const LOCALES = { en: "en-GB", zh: "zh-CN" };

/** Runs in the page: what is wrong with it that shows in where things are. Empty for a good page. */
export function layoutFaults() {
  const places = new Map();
  const faults = [];
  const called = (one) => `${one.tagName.toLowerCase()}${one.className && typeof one.className === "string" ? `.${one.className.trim().replaceAll(/\s+/g, ".")}` : ""} "${(one.textContent ?? "").trim().replaceAll(/\s+/g, " ").slice(0, 40)}"`;
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`scrolls sideways by ${document.documentElement.scrollWidth - innerWidth}`);
  const hidden = (one) => !one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || one.closest(".visually-hidden, .skip");
  for (const one of document.querySelectorAll("a, button, select, input, textarea, summary")) {
    if (hidden(one)) continue;
    const target = one.matches("input") ? one.closest("label") ?? one : one;
    const box = target.getBoundingClientRect();
    const inText = getComputedStyle(one).display === "inline" && one.matches("a");
    if (!inText && (box.width < 24 || box.height < 24)) faults.push(`${called(one)} is a target of ${Math.round(box.width)} × ${Math.round(box.height)}`);
  }
  for (const one of document.querySelectorAll("body *")) {
    if (hidden(one) || one.closest("svg, math, dialog")) continue;
    const style = getComputedStyle(one);
    const clips = ["hidden", "clip"].includes(style.overflowX) && style.textOverflow !== "ellipsis";
    if (clips && one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1) faults.push(`${called(one)} is cut off by ${one.scrollWidth - one.clientWidth}`);
    if (one.matches("button, summary, th, .chip, .label") && one.clientWidth && one.scrollWidth > one.clientWidth + 1 && style.overflowX === "visible") faults.push(`${called(one)} is wider than its place`);
  }
  return [...new Set([...faults, ...overlaps()])];

  /** Texts that are printed over each other. */
  function overlaps() {
    const found = [];
    const texts = [];
    const walker = document.createTreeWalker(document.querySelector("main") ?? document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (!node.data.trim() || hidden(parent) || parent.closest("math, dialog, option, title, desc, .katex")) continue;
      if (place(parent).floats) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) if (box.width > 1) texts.push({ parent, box });
    }
    texts.sort((one, other) => one.box.top - other.box.top);
    for (const [at, { parent, box }] of texts.entries()) {
      for (let next = at + 1; next < texts.length && texts[next].box.top < box.bottom - 4; next += 1) {
        const other = texts[next];
        const wide = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
        const high = Math.min(box.bottom, other.box.bottom) - other.box.top;
        if (wide > 3 && high > 5 && parent !== other.parent && !place(parent).clips && !place(other.parent).clips) found.push(`${called(parent)} and ${called(other.parent)} overlap`);
      }
    }
    return found.slice(0, 8);
  }

  /** Whether an element or one around it is taken out of the flow, or cuts off what is in it. */
  function place(one) {
    if (!one || one === document.body) return { floats: false, clips: false };
    if (!places.has(one)) {
      const { position, overflowX } = getComputedStyle(one);
      const around = place(one.parentElement);
      const floats = around.floats || ["sticky", "fixed", "absolute"].includes(position);
      places.set(one, { floats, clips: around.clips || overflowX !== "visible" });
    }
    return places.get(one);
  }
}

/** Runs in the page: words that are no language's, and on a Chinese page sentences that are not Chinese. */
export function wordFaults() {
  const faults = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent.checkVisibility() || parent.closest("code, pre, kbd, samp, bdi, [dir=auto], script, style, textarea, input, svg, math, template, .docs, .reply")) continue;
    const text = node.data.trim().replaceAll(/\s+/g, " ");
    const enumeration = /(?<![.\w])[a-z]+_[a-z_]+\b/.exec(text);
    if (enumeration) faults.push(`"${enumeration[0]}" in ${parent.tagName.toLowerCase()} "${text.slice(0, 60)}"`);
    const english = document.documentElement.lang === "zh" && !parent.closest("[lang=en]") && /^[^\u4e00-\u9fff]*$/.test(text) && /([A-Za-z]{2,}\s+){3,}[A-Za-z]{2,}/.test(text);
    if (english) faults.push(`not Chinese: ${parent.tagName.toLowerCase()} "${text.slice(0, 80)}"`);
  }
  return [...new Set(faults)];
}
