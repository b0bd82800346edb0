// A battle over the socket, as any client may hold one: for tests of what comes after it.

/** Asks, votes where an outcome is given, and gives the battle's id. The page has to be one of the arena's. */
export function playBattle(page, prompt, outcome) {
  return page.evaluate(
    ([prompt, outcome]) =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`${location.origin.replace("http", "ws")}/ws/battle`);
        const send = (message) => socket.send(JSON.stringify(message));
        const end = (battle) => {
          socket.close();
          resolve(battle);
        };
        socket.onopen = () => send({ type: "start", prompt });
        socket.onmessage = ({ data }) => {
          const frame = JSON.parse(data);
          if (frame.type === "error") reject(new Error(frame.message));
          if (frame.type === "ready" && outcome) send({ type: "vote", battle: frame.battle, outcome });
          else if (frame.type === "ready" || frame.type === "revealed") end(frame.battle);
        };
        socket.onerror = () => reject(new Error("the socket failed"));
      }),
    [prompt, outcome],
  );
}
