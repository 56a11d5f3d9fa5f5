// One stream for all tabs of a browser: the tab with the lock streams, and tells the other tabs.
//
// HTTP/1.1 browsers open six connections to a host, so a stream for each tab would block the seventh.
// The lock of a closed tab is free at once. A leader that the system suspended is silent: another
// tab then steals the lock.

const REPLY_WAIT = 3000; // milliseconds for the leader's answer to a ping

/** Return whether this browser can share a stream. */
export function canShare() {
  return typeof BroadcastChannel === "function" && Boolean(globalThis.navigator?.locks?.request);
}

/** The membership of this tab. `lead(signal)` runs while the tab is the leader. */
export class Tabs {
  #name;
  #channel;
  #lead;
  #heard;
  #isLeader = false;
  #lastHeard = Date.now();
  #silence = 70_000; // milliseconds without a message after which the leader counts as suspended
  #ping = null;
  #watch = null;
  #signal;

  constructor(name, { lead, heard, signal }) {
    this.#name = name;
    this.#lead = lead;
    this.#heard = heard;
    this.#signal = signal;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }) => this.#receive(data);
  }

  get isLeader() {
    return this.#isLeader;
  }

  set heartbeatSeconds(seconds) {
    this.#silence = seconds * 2800;
  }

  /** Take part until the signal. Throws what navigator.locks throws where storage is forbidden. */
  async join() {
    const onVisible = () => this.check();
    globalThis.document?.addEventListener("visibilitychange", onVisible);
    this.#watch = setInterval(() => {
      if (!this.#isLeader && Date.now() - this.#lastHeard > this.#silence) this.check();
    }, 5000);
    try {
      let steal = false;
      while (!this.#signal.aborted) steal = await this.#hold(steal);
    } finally {
      globalThis.document?.removeEventListener("visibilitychange", onVisible);
      clearInterval(this.#watch);
      clearTimeout(this.#ping);
      this.#channel.close();
    }
  }

  /** Send a message to the other tabs. */
  tell(message) {
    if (!this.#signal.aborted) this.#channel.postMessage(message);
  }

  /** Ask the leader for a sign of life; steal the lock of a leader that does not answer. */
  check() {
    if (this.#isLeader || this.#ping !== null || globalThis.document?.hidden) return;
    this.tell({ kind: "ping" });
    this.#ping = setTimeout(() => {
      this.#ping = null;
      this.#stealNow?.();
    }, REPLY_WAIT);
  }

  #stealNow = null;

  /** Wait for the lock and lead; return whether the next try steals the lock. */
  async #hold(steal) {
    const waiting = new AbortController();
    const leading = new AbortController();
    let mustSteal = false;
    const end = () => {
      waiting.abort();
      leading.abort();
    };
    this.#signal.addEventListener("abort", end, { once: true });
    this.#stealNow = () => {
      mustSteal = true;
      waiting.abort();
    };
    const options = steal ? { steal: true } : { signal: waiting.signal };
    try {
      await navigator.locks.request(this.#name, options, async () => {
        this.#stealNow = null;
        this.#isLeader = true;
        await this.#lead(leading.signal);
      });
    } catch (error) {
      if (error.name !== "AbortError") throw error; // the abort, or another tab stole the lock
    } finally {
      this.#isLeader = false;
      this.#lastHeard = Date.now();
      leading.abort();
      this.#signal.removeEventListener("abort", end);
    }
    return mustSteal;
  }

  #receive(message) {
    if (message.kind === "ping") {
      if (this.#isLeader) this.#heard(message);
      return;
    }
    if (message.kind === "owner") return void this.#heard(message);
    if (this.#isLeader) return;
    this.#lastHeard = Date.now();
    clearTimeout(this.#ping);
    this.#ping = null;
    this.#heard(message);
  }
}
