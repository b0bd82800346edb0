// Small things that pages share.

/** The element marked `data-part="name"` within another. */
export function part(name, within = document) {
  return within.querySelector(`[data-part="${name}"]`);
}

const { lang } = document.documentElement;
const IS_CHINESE = lang.startsWith("zh");

/** Between a name and what is said about it. */
export const COLON = IS_CHINESE ? "：" : ": ";

/** Fills `{name}` in a text. No space of the text stays between Chinese characters of it and of a value; the value keeps its own. */
export function fill(text, values) {
  const pieces = text.split(/\{(\w+)\}/);
  return pieces.reduce((filled, piece, at) => {
    if (at % 2 === 0) return filled + (/\p{Script=Han}$/u.test(filled) ? piece.replace(/^ (?=\p{Script=Han})/u, "") : piece);
    const value = piece in values ? String(values[piece]) : `{${piece}}`;
    const isApart = pieces[at - 1].endsWith(" ") && /\p{Script=Han} $/u.test(filled) && /^\p{Script=Han}/u.test(value);
    return (isApart ? filled.slice(0, -1) : filled) + value;
  }, "");
}

/** Has a screen reader say a text politely; the same text twice is said twice. */
export function announce(text) {
  const status = part("status");
  status.textContent = "";
  requestAnimationFrame(() => (status.textContent = text));
}

/** A number in the page's language with this many decimals, or up to `most`; thousands are grouped from 10,000 on, so that ratings are not. */
export function number(value, digits = 0, most = digits) {
  return new Intl.NumberFormat(lang, {
    minimumFractionDigits: digits,
    maximumFractionDigits: most,
    useGrouping: "min2",
  }).format(value);
}

/** A time so many seconds from now in the page's language: "in 5 minutes". */
export function fromNow(seconds) {
  const units = [
    ["hour", 3600],
    ["minute", 60],
    ["second", 1],
  ];
  const [unit, length] = units.find(([, length]) => seconds >= length);
  // In Chinese, "40秒钟后" is long and "40秒后" is usual; the page has a space between a number and Chinese words.
  const text = new Intl.RelativeTimeFormat(lang, { style: IS_CHINESE ? "short" : "long" }).format(Math.ceil(seconds / length), unit);
  return text.replace(/(\d)(?=\p{Script=Han})/u, "$1 ");
}

/** A time by the reader's clock in the page's language, with its time zone. */
export function localTime(date) {
  const minute = { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" };
  const withZone = new Intl.DateTimeFormat(lang, { ...minute, timeZoneName: "short" });
  if (!IS_CHINESE) return withZone.format(date);
  // Browsers write the zone between date and time, which nobody does in Chinese.
  const zone = withZone.formatToParts(date).find(({ type }) => type === "timeZoneName").value;
  return `${new Intl.DateTimeFormat(lang, minute).format(date)}（${zone}）`;
}

/** A value kept in `localStorage` or `sessionStorage`; null where there is none or storage is switched off. */
export function kept(storage, key) {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a value, or with null forgets it. Without storage it lasts as long as the page. */
export function keep(storage, key, value) {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, value);
  } catch {
    // Storage is switched off.
  }
}

/** Whether the browser keeps nothing for this site: its storage is missing, or reading it throws. */
export function isStorageOff() {
  try {
    return !window.localStorage;
  } catch {
    return true;
  }
}

/** The switch of the shortcuts that are a single key; the choice holds for every page on this device. */
export function keySwitch() {
  const key = "langya-number-keys";
  const box = part("keys");
  box.checked = kept("localStorage", key) !== "off";
  box.addEventListener("change", () => keep("localStorage", key, box.checked ? "on" : "off"));
  return box;
}
