// A websocket that comes back after a loss, with growing pauses.

const FIRST_PAUSE = 400;
const LONGEST_PAUSE = 8000;

export class Socket {
  #path;
  #handlers;
  #socket = null;
  #losses = 0;
  #timer = null;

  /**
   * @param {string} path on this server
   * @param {{opened: () => void, frame: (frame: object) => void, lost: () => boolean}} handlers
   *   `lost` says whether to connect again.
   */
  constructor(path, handlers) {
    this.#path = path;
    this.#handlers = handlers;
    addEventListener("online", () => this.#timer && this.open());
  }

  /** Connects, unless that is done or under way. */
  open() {
    clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#socket) return;
    const url = new URL(this.#path, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.addEventListener("open", () => {
      this.#losses = 0;
      this.#handlers.opened();
    });
    socket.addEventListener("message", ({ data }) => {
      const frame = parse(data);
      if (frame) this.#handlers.frame(frame);
    });
    socket.addEventListener("close", () => {
      this.#socket = null;
      if (this.#handlers.lost()) this.#openLater();
    });
  }

  /** Sends a frame if the connection stands; says whether it did. */
  send(frame) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  #openLater() {
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** this.#losses);
    this.#losses += 1;
    // Spread, so that a restarted server is not met by every page at once.
    this.#timer = setTimeout(() => this.open(), pause * (0.5 + Math.random()));
  }
}

function parse(data) {
  try {
    const frame = JSON.parse(data);
    return frame !== null && typeof frame === "object" ? frame : null;
  } catch {
    return null;
  }
}
