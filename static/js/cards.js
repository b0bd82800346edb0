// Questions to begin with: one card for each intent, and others of the same intent when asked for.

import { announce } from "./page.js";

const cards = [...document.querySelectorAll("[data-card]")];

/** @param {(prompt: string, intent: string) => void} send @param {string} shuffled what is said after other questions came */
export function serveCards(send, shuffled) {
  for (const card of cards) {
    const text = card.querySelector('[data-part="card-prompt"]');
    card.addEventListener("click", () => send(text.textContent, card.dataset.intent));
  }
  document.querySelector('[data-action="shuffle"]').addEventListener("click", () => {
    cards.forEach(turnOver);
    announce(shuffled);
  });
}

function turnOver(card) {
  const prompts = JSON.parse(card.dataset.prompts);
  const text = card.querySelector('[data-part="card-prompt"]');
  const step = 1 + Math.floor(Math.random() * (prompts.length - 1));
  text.textContent = prompts[(prompts.indexOf(text.textContent) + step) % prompts.length];
}
