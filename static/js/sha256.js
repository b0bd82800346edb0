// SHA-256 of one short ASCII text (55 characters at most, one block), for the proof of work. Browsers have their own only on
// secure pages and only asynchronously, which costs more than the hash of so short a text.

const ROUND = new Int32Array(64);
const FIRST = new Int32Array(8);
fillConstants();

const words = new Int32Array(64);

/** The first 32 bits of the hash, as a signed number. Enough for 32 leading zero bits. */
export function firstWord(text) {
  words.fill(0, 0, 16);
  for (let i = 0; i < text.length; i += 1) words[i >> 2] |= text.charCodeAt(i) << (24 - 8 * (i & 3));
  words[text.length >> 2] |= 0x80 << (24 - 8 * (text.length & 3));
  words[15] = 8 * text.length;
  for (let i = 16; i < 64; i += 1) {
    const before = words[i - 15];
    const two = words[i - 2];
    const small = turn(before, 7) ^ turn(before, 18) ^ (before >>> 3);
    const large = turn(two, 17) ^ turn(two, 19) ^ (two >>> 10);
    words[i] = (words[i - 16] + small + words[i - 7] + large) | 0;
  }
  // Not destructured: that would walk an iterator for each hash.
  let a = FIRST[0];
  let b = FIRST[1];
  let c = FIRST[2];
  let d = FIRST[3];
  let e = FIRST[4];
  let f = FIRST[5];
  let g = FIRST[6];
  let h = FIRST[7];
  for (let i = 0; i < 64; i += 1) {
    const choice = (e & f) ^ (~e & g);
    const mixed = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + ROUND[i] + words[i]) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const added = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + mixed) | 0;
    d = c;
    c = b;
    b = a;
    a = (mixed + added) | 0;
  }
  return (FIRST[0] + a) | 0;
}

function turn(word, bits) {
  return (word >>> bits) | (word << (32 - bits));
}

/** The fractional parts of the square roots and cube roots of the first primes. */
function fillConstants() {
  const fraction = (root) => ((root - Math.floor(root)) * 2 ** 32) | 0;
  for (let candidate = 2, count = 0; count < 64; candidate += 1) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) prime &&= candidate % divisor !== 0;
    if (!prime) continue;
    if (count < 8) FIRST[count] = fraction(Math.sqrt(candidate));
    ROUND[count] = fraction(Math.cbrt(candidate));
    count += 1;
  }
}
