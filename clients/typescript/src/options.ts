/** The settings of a client and of a call, checked. An error never repeats the key or the URL. */

/** How to reach the service. */
export interface Settings {
  /** The service's address, `https://notify.example.com`, with or without a path in front of `/v1`. */
  url: string;
  /** The producer's key, `nk_live_...` or `nk_test_...`. */
  key: string;
  /** Timeout of a request and its response in milliseconds; default 30,000. */
  timeout?: number | undefined;
  /** How often a call is repeated at most; default 4, 0: never. */
  retries?: number | undefined;
  /** Used instead of the global `fetch`: for a proxy, or to watch the requests. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, also between two attempts; the call rejects with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /** Timeout of a request and its response in milliseconds. */
  timeout?: number | undefined;
  /** How often the call is repeated at most. */
  retries?: number | undefined;
}

/** Options of every POST. */
export interface PostOptions extends CallOptions {
  /**
   * 1 to 255 printable ASCII characters without a space at either end, not beginning with `$`. The
   * same key and body get the first response again for 24 hours. Default: a random key per call.
   */
  idempotencyKey?: string | undefined;
}

/** Options of a write to an object with an ETag. */
export interface IfMatch {
  /** The object read before, or its ETag: the service responds 412 if the object has changed. */
  ifMatch?: object | string;
}

/** The settings with defaults for omitted settings. */
export interface Checked {
  base: string;
  authorization: string;
  timeout: number;
  retries: number;
  fetch: typeof globalThis.fetch;
}

const LONGEST_TIMER = 2 ** 31 - 1;
const MOST_RETRIES = 20;

/**
 * Check the settings.
 *
 * @throws TypeError a setting is invalid.
 */
export function checked(settings: Settings): Checked {
  const send = settings.fetch ?? globalThis.fetch;
  if (typeof send !== "function") {
    throw new TypeError("fetch: this runtime has none; use Node 18 or later, or give one");
  }
  return {
    base: base(settings.url),
    authorization: `Bearer ${key(settings.key)}`,
    timeout: timeout(settings.timeout ?? 30_000),
    retries: retries(settings.retries ?? 4),
    fetch: send,
  };
}

/** Check a timeout in milliseconds against the limit of a timer. */
export function timeout(given: number): number {
  if (!(given > 0 && given <= LONGEST_TIMER)) {
    throw new TypeError(`timeout: must be more than 0 and at most ${LONGEST_TIMER} milliseconds`);
  }
  return given;
}

/** Check how often a call may be repeated. */
export function retries(given: number): number {
  if (!Number.isInteger(given) || given < 0 || given > MOST_RETRIES) {
    throw new TypeError(`retries: must be a whole number from 0 to ${MOST_RETRIES}`);
  }
  return given;
}

/**
 * Check an idempotency key. HTTP strips spaces at the ends of a header, so two keys that differ
 * only in such spaces would be equal, and the second message would count as a repeat of the first.
 */
export function idempotencyKey(given: string): string {
  if (typeof given !== "string" || !/^[!-~]([ -~]{0,253}[!-~])?$/.test(given)) {
    throw new TypeError(
      "idempotencyKey: must be 1 to 255 printable ASCII characters without a space at its ends",
    );
  }
  return given;
}

function base(given: string): string {
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw new TypeError("url: must be an address such as https://notify.example.com");
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new TypeError("url: must begin with https:// or http://");
  }
  if (url.username || url.password) {
    throw new TypeError("url: must not hold a user or a password; the key goes into `key`");
  }
  if (url.search || url.hash) throw new TypeError("url: must not have a query or a fragment");
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function key(given: string): string {
  if (typeof given !== "string" || !/^[!-~]+$/.test(given)) {
    throw new TypeError("key: must be the producer's key, without spaces or line breaks around it");
  }
  return given;
}
