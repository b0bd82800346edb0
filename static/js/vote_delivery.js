// Sends a vote that was kept, on a connection of its own: the page's own one shows another battle.

import { addressOf } from "./socket.js";
import { SubjectCheck } from "./vote_subject.js";

/** A server that has not answered by then is left; the vote stays kept. */
const PATIENCE_MS = 20_000;

/**
 * Gives what the server answers, `revealed` or an error, and null where the connection was lost before. A battle that has gone on since
 * it was judged gets no vote: the answer is the error `battle_went_on`.
 */
export async function deliver(path, { frame: vote, judged }) {
  const { battle } = vote;
  const socket = new WebSocket(addressOf(path));
  const check = judged && new SubjectCheck(judged);
  const say = (message) => socket.send(JSON.stringify(message));
  const timer = setTimeout(() => socket.close(), PATIENCE_MS);
  const answer = await new Promise((resolve) => {
    socket.addEventListener("open", () => {
      if (!check) return say(vote);
      say({ type: "resume", battle, after: judged.seq, render: "blocks" });
      say(check.question);
    });
    socket.addEventListener("message", ({ data }) => {
      const frame = JSON.parse(data);
      check?.take(frame);
      if (["revealed", "error"].includes(frame.type)) resolve(frame);
      else if (frame.type === "text" && check.isSame) say(vote);
      else if (frame.type === "text") resolve({ type: "error", code: "battle_went_on", battle });
    });
    socket.addEventListener("close", () => resolve(null));
  });
  clearTimeout(timer);
  socket.close();
  return answer;
}
