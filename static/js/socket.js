// A websocket that comes back after a loss, with growing pauses. A server that hangs closes nothing, so a connection on
// which something is awaited and nothing comes is given up, too; another one may lead to a server that answers.

const FIRST_PAUSE = 400;
const LONGEST_PAUSE = 8000;

export class Socket {
  #path;
  #handlers;
  #socket = null;
  #losses = 0;
  #timer = null;
  /** Connections in a row that were given up, and the timer of the present one. */
  #silences = 0;
  #silence = null;

  /**
   * @param {string} path on this server
   * @param {{opened: () => void, frame: (frame: object) => void, lost: (code?: number) => boolean, patience: () => number}} handlers
   *   `lost` says whether to connect again; `patience` for how many milliseconds the server may be silent now, which
   *   doubles while it stays silent: a model may think for long.
   */
  constructor(path, handlers) {
    this.#path = path;
    this.#handlers = handlers;
    addEventListener("online", () => this.#timer && this.open());
    // A network that is gone closes nothing. Where the server is reached all the same, as one on this device, the next connection stands at once.
    addEventListener("offline", () => this.#socket && this.#giveUp());
  }

  /** Connects, unless that is done or under way. */
  open() {
    clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#socket) return;
    const socket = new WebSocket(addressOf(this.#path));
    this.#socket = socket;
    this.#listen();
    const on = (event, action) =>
      socket.addEventListener(event, (of) => {
        if (socket === this.#socket) action(of);
      });
    on("open", () => {
      this.#losses = 0;
      this.#handlers.opened();
    });
    on("message", ({ data }) => {
      this.#silences = 0;
      const frame = parse(data);
      if (frame) this.#handlers.frame(frame);
      this.#listen();
    });
    on("close", ({ code }) => this.#end(code));
  }

  /** Sends a frame if the connection stands; says whether it did. */
  send(frame) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(frame));
    this.#listen();
    return true;
  }

  /** Waits again for something to come. */
  #listen() {
    clearTimeout(this.#silence);
    const patience = this.#handlers.patience() * 2 ** Math.min(this.#silences, 3);
    if (!Number.isFinite(patience)) return;
    this.#silence = setTimeout(() => {
      if (!Number.isFinite(this.#handlers.patience())) return; // nothing is awaited any more
      this.#silences += 1;
      this.#giveUp();
    }, patience);
  }

  #giveUp() {
    const silent = this.#socket;
    this.#end();
    silent.close();
  }

  #end(code) {
    clearTimeout(this.#silence);
    this.#socket = null;
    if (this.#handlers.lost(code)) this.#openLater();
  }

  #openLater() {
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** this.#losses);
    this.#losses += 1;
    // Spread, so that a restarted server is not met by every page at once.
    this.#timer = setTimeout(() => this.open(), pause * (0.5 + Math.random()));
  }
}

/** The address of a websocket on this server. */
export function addressOf(path) {
  const url = new URL(path, location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  return url;
}

function parse(data) {
  try {
    const frame = JSON.parse(data);
    return frame !== null && typeof frame === "object" ? frame : null;
  } catch {
    return null;
  }
}
