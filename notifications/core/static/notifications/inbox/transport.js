// Requests with the recipient token, and the parser of server-sent events.

const LEAST_LIFE = 10_000; // milliseconds before the end of a token in which a new token is asked for
const TOKEN_WAIT = 15_000; // milliseconds for a token
const ANSWER_WAIT = 30_000; // milliseconds for the response of a request
/** Whether `fetch` gives the body while it comes; the `fetch` of React Native gives it at the end. */
export const STREAMS = typeof TextDecoderStream === "function" && "body" in (globalThis.Response?.prototype ?? {});
const NO_STORE = STREAMS ? { cache: "no-store" } : {}; // React Native would add a parameter, which the service refuses
const TOKEN_FORM = /^[\w.~+/-]+=*$/; // RFC 6750

/** A request that failed. `status` 0: no response came. */
export class InboxError extends Error {
  constructor(message, { status = 0, code = "unreachable", retryAfter = 0 } = {}) {
    super(message);
    this.name = "InboxError";
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter; // seconds
  }

  /** True if the same request may succeed later. */
  get temporary() {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** Return the claims of a JWT; an empty object for another text. The service checks the signature. */
export function claimsOf(token) {
  try {
    const part = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Array.from(atob(part), (letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, "0")}`);
    return JSON.parse(decodeURIComponent(bytes.join(""))) ?? {};
  } catch {
    return {};
  }
}

/** The recipient token, from a text, a function or a URL; concurrent requests share one renewal. */
export class TokenSource {
  #fetchToken;
  #canRenew;
  #token = null;
  #renewAt = 0;
  #renewal = null;
  #onOwner;
  #owner = null;

  /** `onOwner` runs before a token of another recipient is used. */
  constructor({ token, tokenUrl, onOwner }) {
    this.#onOwner = onOwner;
    this.#canRenew = typeof token !== "string";
    if (typeof token === "function") this.#fetchToken = token;
    else if (token) this.#fetchToken = async () => token;
    else if (tokenUrl) this.#fetchToken = () => tokenFrom(tokenUrl);
    else this.#fetchToken = async () => null;
  }

  /** Return the token; null: nobody is signed in. `rejected`: the token that the service refused. */
  async get({ rejected = null } = {}) {
    if (rejected !== null && rejected === this.#token) {
      if (!this.#canRenew) return null;
      this.#token = null;
    }
    if (this.#token !== null && Date.now() < this.#renewAt) return this.#token;
    this.#renewal ??= this.#renew().finally(() => (this.#renewal = null));
    return this.#renewal;
  }

  /** Return the recipient of the last token. */
  get owner() {
    return this.#owner;
  }

  /** Ask for a new token at the next request. */
  forget() {
    if (this.#canRenew) this.#token = null;
  }

  async #renew() {
    const answer = await this.#fetchInTime();
    const token = (typeof answer === "string" ? answer : answer?.token) || null;
    if (token === null) return (this.#token = null);
    if (!TOKEN_FORM.test(token)) throw noToken();
    this.#token = token;
    this.#renewAt = Date.now() + usableFor(token, answer);
    const { iss, mode, sub } = claimsOf(token);
    const owner = `${iss} ${mode} ${sub}`;
    const isOther = this.#owner !== null && this.#owner !== owner;
    this.#owner = owner;
    if (isOther) this.#onOwner?.();
    return token;
  }

  async #fetchInTime() {
    let timer;
    const end = new Promise((_, reject) => {
      timer = setTimeout(() => reject(noToken()), TOKEN_WAIT);
    });
    try {
      return await Promise.race([this.#fetchToken(), end]);
    } catch (error) {
      throw error instanceof InboxError ? error : noToken(error?.message);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Return the error of a request of a person who is signed in no longer. */
export function otherRecipient() {
  return new InboxError("Another person is signed in.", { status: 409, code: "other_recipient" });
}

function noToken(message = "The token URL gave no token.") {
  return new InboxError(message, { status: 503, code: "no_token" });
}

/** Return the milliseconds until a new token is due. A wrong clock of the device does no harm. */
function usableFor(token, answer) {
  const { exp, iat } = claimsOf(token);
  const end = exp ? exp * 1000 : Date.parse(answer?.expires_at ?? "");
  if (Number.isNaN(end)) return Infinity; // the service refuses the token at its end
  const life = exp && iat ? (exp - iat) * 1000 : Infinity;
  let left = Math.min(life, end - Date.now());
  if (left <= 0) left = Number.isFinite(life) ? life : 0;
  return Math.max(left - Math.max(LEAST_LIFE, Math.min(left * 0.2, 60_000)), left / 2);
}

async function tokenFrom(url) {
  let response;
  try {
    response = await fetch(url, { ...NO_STORE, headers: { Accept: "application/json" }, signal: AbortSignal.timeout?.(TOKEN_WAIT) });
  } catch {
    throw noToken();
  }
  if (response.status === 401 || response.status === 403 || response.status === 204) return null;
  if (!response.ok) throw noToken();
  const text = (await response.text()).trim();
  if (response.redirected && text.startsWith("<")) return null; // the page for the sign-in
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Calls of the API with the token in the header. */
export class Transport {
  #base;
  #tokens;

  constructor(base, tokens) {
    this.#base = base;
    this.#tokens = tokens;
  }

  /** Return the token; null: nobody is signed in. */
  token() {
    return this.#tokens.get();
  }

  forgetToken() {
    this.#tokens.forget();
  }

  /** Return the JSON of the response. Throws InboxError. */
  async json(method, path, { signal, ...given } = {}) {
    const ending = new AbortController();
    const end = () => ending.abort();
    const timer = setTimeout(end, ANSWER_WAIT);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
    try {
      const response = await this.open(method, this.#base + path, { ...given, signal: ending.signal });
      const text = await response.text();
      if (signal?.aborted) throw signal.reason ?? new InboxError("Stopped.");
      return text ? JSON.parse(text) : null;
    } catch (error) {
      if (signal?.aborted || error instanceof InboxError) throw error;
      throw new InboxError("The connection broke."); // or a network sent a page of its own
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    }
  }

  /** Return a successful response; a refused token is renewed once. Throws InboxError. */
  async open(method, url, given) {
    const { owner } = this.#tokens;
    let rejected = null;
    for (;;) {
      const token = await this.#tokens.get({ rejected });
      if (token === null) {
        throw new InboxError("Nobody is signed in.", { status: 401, code: "signed_out" });
      }
      if (owner !== null && owner !== this.#tokens.owner) {
        throw otherRecipient();
      }
      const response = await this.#send(method, url, { ...given, token });
      if (response.ok) return response;
      if (response.status !== 401 || rejected !== null) throw await problemOf(response);
      rejected = token;
    }
  }

  async #send(method, url, { body, signal, headers, token }) {
    const options = {
      method,
      signal,
      credentials: "omit",
      ...NO_STORE,
      keepalive: method !== "GET", // a mark survives the page that follows a link
      headers: { Accept: "application/json", ...headers, Authorization: `Bearer ${token}` },
    };
    if (body !== undefined) {
      options.body = JSON.stringify(body);
      options.headers["Content-Type"] = "application/json";
    }
    try {
      return await fetch(url, options);
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new InboxError("The service did not answer.");
    }
  }
}

async function problemOf(response) {
  const problem = await response.json().catch(() => ({}));
  return new InboxError(problem.detail || problem.title || `HTTP status ${response.status}`, {
    status: response.status,
    code: problem.code || "http_error",
    retryAfter: Number(response.headers.get("Retry-After")) || 0,
  });
}

/** Yield `{name, id, data, retry}` for each event, and `{name: "comment"}` for each comment. */
export async function* serverSentEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = {};
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      for (const line of lines) {
        if (line === "") {
          if (event.name || event.data !== undefined) yield { name: "message", ...event };
          else if (event.retry) yield { name: "retry", retry: event.retry };
          event = {};
        } else if (line.startsWith(":")) {
          yield { name: "comment" };
        } else {
          addField(event, line);
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function addField(event, line) {
  const colon = line.indexOf(":");
  const field = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (field === "event") event.name = value;
  else if (field === "data") event.data = event.data === undefined ? value : `${event.data}\n${value}`;
  else if (field === "id") event.id = value;
  else if (field === "retry" && /^\d+$/.test(value)) event.retry = Number(value);
}

/** Return the milliseconds before the next try: exponential, at most 30 s, with jitter. */
export function backOff(failures, least = 0) {
  const longest = Math.min(30_000, Math.max(1000, least) * 2 ** Math.min(failures, 5));
  return Math.max(least / 2, longest * (0.5 + Math.random() / 2));
}
