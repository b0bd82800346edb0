// The proof of work that the arena asks for where many battles come from one network or in all. Puzzle i is solved by the first
// number n for which SHA-256 of "SEED:i:n" begins with so many zero bits.

import { firstWord } from "./sha256.js";

/** Hashes between two looks at the page, where there is no worker. */
const CHUNK = 2000;

/** Every number, in order. */
export function solve({ seed, puzzles, bits }) {
  const search = searching(seed, puzzles, bits);
  return search(Infinity);
}

/**
 * Solves a challenge without holding up the page: in a worker, or in small pieces where workers are not to be had.
 * @returns {Promise<{challenge: string, numbers: number[]}>}
 */
export async function prove(proof) {
  const numbers = await inWorker(proof).catch(() => inPieces(proof));
  return { challenge: proof.challenge, numbers };
}

function inWorker(proof) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./proof_of_work_worker.js", import.meta.url), { type: "module" });
    const end = (settle) => (event) => {
      worker.terminate();
      settle(event.data);
    };
    worker.onmessage = end(resolve);
    worker.onerror = end(reject);
    worker.postMessage(proof);
  });
}

async function inPieces({ seed, puzzles, bits }) {
  const search = searching(seed, puzzles, bits);
  for (;;) {
    const numbers = search(CHUNK);
    if (numbers) return numbers;
    await new Promise((resume) => setTimeout(resume));
  }
}

/** A search that goes on where it stopped: does so many hashes, and returns all numbers once it has them. */
function searching(seed, puzzles, bits) {
  const numbers = [];
  let number = 0;
  return (hashes) => {
    for (let left = hashes; left > 0; left -= 1) {
      if (numbers.length === puzzles) return numbers;
      const solved = Math.clz32(firstWord(`${seed}:${numbers.length}:${number}`)) >= bits;
      if (solved) numbers.push(number);
      number = solved ? 0 : number + 1;
    }
    return null;
  };
}
