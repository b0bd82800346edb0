// A model server that speaks the OpenAI protocol and answers from a script. The question chooses the answer: one that
// contains "hostile" or "short" gets that, "at length" a very tall reply, any other one a rich reply from one model and a
// Chinese one from the other, or an English one if it contains "in English". A question that contains "slowly" gets the first half of its reply and never the
// other half: the reply ends when it is stopped. "Fails at first" gets an error from each model once, "break off" a reply that
// ends in the middle, "say nothing" no answer at all. The answer to a question with images says how many there are. The model "failing" never answers, and `/v1/models` lists three. As a moderation
// service it flags a text that contains "an insult".

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const LISTED = ["crane", "egret", "a-model-with-a-very-long-name-that-is-instruction-tuned"];

const reply = (name) => readFile(new URL(`../replies/${name}.md`, import.meta.url), "utf8");

/** Starts the server and gives `{ url, stop }`. */
export async function startUpstream() {
  const failed = new Set();
  const server = createServer((request, response) => {
    answer(request, response, failed).catch(() => response.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}

async function answer(request, response, failed) {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  if (request.url === "/v1/models") return response.end(JSON.stringify({ data: LISTED.map((id) => ({ id, object: "model" })) }));
  if (request.url === "/v1/moderations") return response.end(JSON.stringify(moderation(JSON.parse(body).input)));
  if (!request.url.endsWith("/chat/completions")) return response.writeHead(404).end();
  const { model, messages } = JSON.parse(body);
  const question = textOf(messages.at(-1).content);
  const images = Array.isArray(messages[0].content) ? messages[0].content.filter(({ type }) => type === "image_url").length : 0;
  if (model === "failing") return response.writeHead(500).end();
  if (question.includes("fails at first") && !failed.has(model + question)) {
    failed.add(model + question);
    return response.writeHead(500).end();
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (question.includes("say nothing")) return response.flushHeaders(); // left open
  const all = pieces(images ? `I see images: ${images}.` : await textFor(question, model));
  for (const piece of question.includes("slowly") ? all.slice(0, all.length / 2) : all) {
    if (response.destroyed) return;
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: piece } }] })}\n\n`);
    // A model's pace, not a wait for anything.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  if (question.includes("break off")) return response.destroy();
  if (question.includes("slowly")) return; // left open
  response.end("data: [DONE]\n\n");
}

/** A question with images is a list of parts. */
function textOf(content) {
  return Array.isArray(content) ? content.find(({ type }) => type === "text").text : content;
}

function moderation(input) {
  const flagged = input.includes("an insult");
  return { results: [{ flagged, categories: { harassment: flagged, hate: false } }] };
}

async function textFor(question, model) {
  if (question.includes("hostile")) return reply("hostile");
  if (question.includes("short")) return model === "crane" ? "A short answer." : "Another short answer.";
  if (question.includes("at length")) return Array.from({ length: 300 }, (_, n) => `- ${n}`).join("\n");
  if (question.includes("in English")) return reply(model === "crane" ? "rich" : "english");
  return reply(model === "crane" ? "rich" : "plain");
}

function pieces(text) {
  return text.match(/[\s\S]{1,12}/g) ?? [];
}
