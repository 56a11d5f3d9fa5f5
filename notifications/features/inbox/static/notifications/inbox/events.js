// EventTarget and CustomEvent; or, in React Native, which lacks both, the part of them that an inbox needs.

class Listeners {
  #of = new Map(); // name of the event -> functions

  addEventListener(name, listener) {
    const there = this.#of.get(name) ?? new Set();
    this.#of.set(name, there.add(listener));
  }

  removeEventListener(name, listener) {
    this.#of.get(name)?.delete(listener);
  }

  /** Call each function; an error of one keeps no other from its call. */
  dispatchEvent(event) {
    for (const listener of [...(this.#of.get(event.type) ?? [])]) {
      try {
        listener.call(this, event);
      } catch (error) {
        console.error(error);
      }
    }
    return true;
  }
}

class DetailEvent {
  constructor(type, { detail }) {
    this.type = type;
    this.detail = detail;
  }
}

// Both or none: an EventTarget alone, as a polyfill gives it, refuses an event of another kind.
const isThere = globalThis.EventTarget && globalThis.CustomEvent;
export const Target = isThere ? globalThis.EventTarget : Listeners;
export const Detail = isThere ? globalThis.CustomEvent : DetailEvent;
