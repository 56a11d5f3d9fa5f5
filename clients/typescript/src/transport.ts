/** A call of the API: request, retries with the same idempotency key, and response. */

import { webCrypto } from "./crypto.ts";
import { ConnectionError, NotifyError, ProblemError, TimeoutError, UnexpectedAnswerError } from "./errors.ts";
import type { Failed } from "./errors.ts";
import { FIRST_FIELDS } from "./schema.ts";
import type { ProblemDetails } from "./schema.ts";
import type { Checked, IfMatch, PostOptions } from "./options.ts";
import { checked, idempotencyKey, retries, timeout } from "./options.ts";
import type { Settings } from "./options.ts";
import { etagOf, remember } from "./responses.ts";

/** The operation and the arguments of a call. */
export interface Call {
  /** Method and path, with names in braces: `GET /v1/recipients/{user_id}`. */
  operation: `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /v1/${string}`;
  /** The values of the names in `operation`, in order. */
  at?: readonly (string | number)[];
  query?: object | undefined;
  /** Request body, sent as JSON. */
  body?: unknown;
  /** Request body as a file, in place of `body`. */
  file?: string | Uint8Array;
  /** Media type of `file`. Default: `text/csv`. */
  mediaType?: string | undefined;
  options?: (PostOptions & IfMatch) | undefined;
  ifNoneMatch?: object | string;
  /** Kind of the response body; `page`: a JSON object with `results`, `nothing`: no body. Default: a JSON object. */
  answer?: "json" | "page" | "csv" | "nothing";
  /** True if the body has an idempotency key: an Idempotency-Key header would replace the key. */
  hasOwnKey?: boolean;
  /** Set for a POST that takes no idempotency key; `unsafe`: a repeat has a second effect. */
  repeat?: "safe" | "unsafe";
}

/** Pause before the second request, and the longest pause, in milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8_000;
/** Codes of Node for a server without a connection. */
const UNSENT = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);
/** Longest Retry-After in seconds; after a longer Retry-After the call fails at once. */
const LONGEST_RETRY_AFTER = 60;
const UNAVAILABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Statuses of a proxy which may have passed the request on. */
const FROM_A_PROXY: ReadonlySet<number> = new Set([502, 504]);
const TIMED_OUT = Symbol("timed out");
/** The result of a call with `ifNoneMatch` if the object is unchanged. */
export const NOT_MODIFIED = Symbol("not modified");

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/** Sends calls. The API key is in a private field, so inspection and JSON do not show the key. */
export class Transport {
  readonly #settings: Checked;

  /** @throws TypeError a setting is invalid. */
  constructor(settings: Settings) {
    this.#settings = checked(settings);
  }

  /**
   * Send a call and retry until the service responds or the retries are used up.
   *
   * @throws NotifyError the call failed.
   * @throws TypeError an argument is invalid; no request was sent.
   * @throws `signal.reason` the caller aborted the call.
   */
  async call(call: Call): Promise<unknown> {
    const url = this.#settings.base + path(call) + query(call.query);
    // Once for all attempts: what the caller changes meanwhile must not become another body.
    const request = await this.#request(call);
    const most = retries(call.options?.retries ?? this.#settings.retries);
    const patience = timeout(call.options?.timeout ?? this.#settings.timeout);
    const signal = call.options?.signal;
    const key = (request.headers as Record<string, string>)["Idempotency-Key"];
    let unanswered = 0;
    for (let attempts = 1; ; attempts += 1) {
      signal?.throwIfAborted();
      let error: NotifyError;
      try {
        const answer = await this.#exchange(url, request, patience, signal);
        if (FROM_A_PROXY.has(answer.status)) unanswered += 1;
        const failed = { operation: call.operation, attempts, unanswered, idempotencyKey: key };
        // An earlier request, whose answer was lost, has deleted the object.
        const isGone = answer.status === 404 && unanswered > 0 && call.operation.startsWith("DELETE ");
        if (isGone && call.answer === "nothing") return undefined;
        const refused = refusal(answer, failed);
        if (refused === undefined) return read(answer, call, failed);
        if (!comesBack(refused)) throw refused;
        error = refused;
      } catch (thrown) {
        if (thrown instanceof NotifyError) throw thrown;
        signal?.throwIfAborted();
        if (!isUnsent(thrown)) unanswered += 1;
        const failed = { operation: call.operation, attempts, unanswered, idempotencyKey: key };
        error = thrown === TIMED_OUT ? new TimeoutError(patience, failed) : new ConnectionError(codeOf(thrown), failed);
      }
      if (attempts > most || (unanswered > 0 && call.repeat === "unsafe")) throw error;
      await pause(pauseBefore(attempts, error), signal);
    }
  }

  async #request(call: Call): Promise<RequestInit> {
    const { options = {}, answer = "json" } = call;
    const headers: Record<string, string> = {
      Authorization: this.#settings.authorization,
      Accept: answer === "csv" ? "text/csv, application/problem+json" : "application/json, application/problem+json",
    };
    const method = call.operation.slice(0, call.operation.indexOf(" "));
    if (options.idempotencyKey !== undefined) {
      headers["Idempotency-Key"] = idempotencyKey(options.idempotencyKey);
    } else if (method === "POST" && !call.hasOwnKey && call.repeat === undefined) {
      headers["Idempotency-Key"] = await randomKey();
    }
    // Given but undefined: a condition that was lost on the way must not become a write without one.
    if ("ifMatch" in options) headers["If-Match"] = etagOf(options.ifMatch);
    if (call.ifNoneMatch !== undefined) headers["If-None-Match"] = etagOf(call.ifNoneMatch);
    // A redirect is not followed: it would turn a POST into a GET, or carry the key elsewhere.
    const request: RequestInit = { method, headers, redirect: "manual" };
    if (call.file !== undefined) {
      headers["Content-Type"] = call.mediaType ?? "text/csv";
      request.body = typeof call.file === "string" ? call.file : Uint8Array.from(call.file);
    } else if (call.body !== undefined) {
      headers["Content-Type"] = "application/json";
      request.body = JSON.stringify(call.body);
    }
    return request;
  }

  /** Send a request and read the whole response; rejects with TIMED_OUT or with the error of `fetch`. */
  async #exchange(url: string, request: RequestInit, patience: number, signal?: AbortSignal): Promise<Answer> {
    const controller = new AbortController();
    const send = this.#settings.fetch; // without `this`, as the global one has to be called
    let stop = (): void => undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Beside the signal: a `fetch` that ignores its signal ends as well.
    const ended = new Promise<never>((_, reject) => {
      const end = (reason: unknown): void => {
        reject(reason);
        controller.abort();
      };
      stop = () => end(signal?.reason);
      timer = setTimeout(() => end(TIMED_OUT), patience);
    });
    signal?.addEventListener("abort", stop);
    try {
      return await Promise.race([exchange(send, url, { ...request, signal: controller.signal }), ended]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
  }
}

async function exchange(send: typeof fetch, url: string, request: RequestInit): Promise<Answer> {
  const response = await send(url, request);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function refusal(answer: Answer, failed: Failed): NotifyError | undefined {
  const { status, headers } = answer;
  if ((status >= 200 && status < 300) || status === 304) return undefined;
  if (status < 400) {
    const said = `the answer is a redirect (${status || "hidden by this runtime"}): give the service's own address as url`;
    return new UnexpectedAnswerError(said, status, failed);
  }
  return new ProblemError(
    {
      status,
      problem: objectIn(answer.text) as Partial<ProblemDetails> | undefined,
      requestId: headers.get("X-Request-Id") ?? undefined,
      retryAfter: retryAfter(headers.get("Retry-After")),
    },
    failed,
  );
}

/** Whether the same request can be taken later: overload, or an earlier attempt still runs. */
function comesBack(error: NotifyError): boolean {
  if (!(error instanceof ProblemError)) return false;
  if (!UNAVAILABLE.has(error.status) && error.code !== "in-progress") return false;
  return (error.retryAfter ?? 0) <= LONGEST_RETRY_AFTER;
}

function read(answer: Answer, call: Call, failed: Failed): unknown {
  if (answer.status === 304 && call.ifNoneMatch !== undefined) return NOT_MODIFIED;
  if (call.answer === "nothing") {
    if (answer.status === 204) return undefined;
    throw new UnexpectedAnswerError("the answer is not 204: look at url, and at proxies in front of it", answer.status, failed);
  }
  if (call.answer === "csv") {
    if (/^text\/csv\b/i.test(answer.headers.get("Content-Type") ?? "")) return answer.text;
    throw new UnexpectedAnswerError("the answer is no CSV file", answer.status, failed);
  }
  const found = objectIn(answer.text);
  if (found === undefined) {
    const said = `${answer.status}, but the answer is no JSON object: look at url, and at proxies in front of it`;
    throw new UnexpectedAnswerError(said, answer.status, failed);
  }
  const field = FIRST_FIELDS[call.operation];
  if (call.answer !== "page" && field !== undefined && !(field in found)) {
    const said = `${answer.status}, but the answer has no ${field}: look at url, and at proxies in front of it`;
    throw new UnexpectedAnswerError(said, answer.status, failed);
  }
  if (call.answer === "page" && !Array.isArray((found as { results?: unknown }).results)) {
    throw new UnexpectedAnswerError("the answer is no page of a list: look at url, and at proxies in front of it", answer.status, failed);
  }
  return remember(found, answer);
}

function path(call: Call): string {
  const values = [...(call.at ?? [])];
  const template = call.operation.slice(call.operation.indexOf(" ") + 1);
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values.shift() ?? "");
    // URLs drop "." and "..", however they are written: the call would go to another path.
    if (value === "" || value === "." || value === "..") {
      throw new TypeError(`${name}: must not be empty, "." or ".."`);
    }
    return encodeURIComponent(value);
  });
}

function query(given: object | undefined): string {
  const pairs = new URLSearchParams();
  for (const [name, values] of Object.entries(given ?? {})) {
    for (const value of [values].flat()) {
      if (value !== undefined && value !== null) {
        pairs.append(name, value instanceof Date ? value.toISOString() : String(value));
      }
    }
  }
  const written = pairs.toString();
  return written && `?${written}`;
}

function objectIn(text: string): object | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null && !Array.isArray(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds of a Retry-After header: a number or a date. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const until = Date.parse(header);
  return Number.isNaN(until) ? undefined : Math.max(0, (until - Date.now()) / 1000);
}

/** Return the error code of a failed `fetch`; the message and the cause can contain the query. */
function codeOf(thrown: unknown): string {
  for (const each of [(thrown as { cause?: unknown } | null)?.cause, thrown]) {
    const code = (each as { code?: unknown } | null | undefined)?.code;
    if (typeof code === "string" && /^\w{1,64}$/.test(code)) return code;
  }
  return "";
}

/**
 * Whether no connection was made, so that no byte of the request left; false where `fetch` does not tell.
 * A connection that the network ends has such a code too, in `read` or `write`.
 */
function isUnsent(thrown: unknown): boolean {
  const { syscall } = ((thrown as { cause?: unknown } | null)?.cause ?? {}) as { syscall?: unknown };
  return UNSENT.has(codeOf(thrown)) && syscall !== "read" && syscall !== "write";
}

function pauseBefore(attempts: number, error: NotifyError): number {
  const grown = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempts - 1));
  const least = error instanceof ProblemError ? (error.retryAfter ?? 0) * 1000 : 0;
  return least + grown * (0.5 + Math.random() / 2);
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** 128 random bits: two calls never have the same key by chance. */
async function randomKey(): Promise<string> {
  const bytes = (await webCrypto()).getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
