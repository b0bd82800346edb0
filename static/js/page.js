// Small things that pages share.

/** The element marked `data-part="name"` within another. */
export function part(name, within = document) {
  return within.querySelector(`[data-part="${name}"]`);
}

/** Fills `{name}` in a text. */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
}

/** Has a screen reader say a text politely; the same text twice is said twice. */
export function announce(text) {
  const status = part("status");
  status.textContent = "";
  requestAnimationFrame(() => (status.textContent = text));
}

/** A number in the page's language; thousands are grouped from 10,000 on, so that ratings are not. */
export function number(value, digits = 0) {
  return new Intl.NumberFormat(document.documentElement.lang, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
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
  return new Intl.RelativeTimeFormat(document.documentElement.lang).format(Math.ceil(seconds / length), unit);
}

/** A time by the reader's clock in the page's language, with its time zone. */
export function localTime(date) {
  return new Intl.DateTimeFormat(document.documentElement.lang, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  }).format(date);
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
