/** What went wrong. No message and no field of these holds the key, a request's body or its query. */

import type { FieldProblem, ProblemDetails } from "./schema.ts";

/** What is known about a call that failed. */
export interface Failed {
  /** Method and path as the API's description spells it: `POST /v1/notifications`. */
  readonly operation: string;
  /** Requests that were made, the first one included. */
  readonly attempts: number;
  /**
   * Requests of these without an answer from the service. Not 0: the call may have taken effect,
   * even where the last request was refused.
   */
  readonly unanswered: number;
  /** The `Idempotency-Key` of the requests: a later call with the same key and body cannot act twice. */
  readonly idempotencyKey: string | undefined;
}

/** The base of the errors of a call. */
export class NotifyError extends Error implements Failed {
  readonly operation: string;
  readonly attempts: number;
  readonly unanswered: number;
  readonly idempotencyKey: string | undefined;

  constructor(said: string, failed: Failed) {
    super(`${failed.operation}: ${said}`);
    this.name = "NotifyError";
    this.operation = failed.operation;
    this.attempts = failed.attempts;
    this.unanswered = failed.unanswered;
    this.idempotencyKey = failed.idempotencyKey;
  }
}

/** The service refused the call, with the fields of RFC 9457 problem details. */
export class ProblemError extends NotifyError {
  /** HTTP status. */
  readonly status: number;
  /** What to switch on: `invalid`, `unknown-recipient`, `rate-limited` ...; empty: it came from a proxy. */
  readonly code: string;
  /** `urn:notify:problem:<code>`; `about:blank` where the answer was no problem of the service. */
  readonly type: string;
  readonly title: string;
  /** For people; the words can change. */
  readonly detail: string;
  /** The places of the request that are wrong, each with an RFC 6901 JSON pointer. */
  readonly errors: readonly FieldProblem[];
  /** The URL of a page that says what to do. */
  readonly help: string | undefined;
  /** The id of the request in the service's logs. */
  readonly requestId: string | undefined;
  /** Seconds after which the same call would be taken. */
  readonly retryAfter: number | undefined;

  constructor(answer: Refused, failed: Failed) {
    const problem = answer.problem ?? {};
    const title = text(problem.title) || `HTTP status ${answer.status}`;
    const detail = text(problem.detail);
    super(`${answer.status} ${title}${detail ? `: ${detail}` : ""}`, failed);
    this.name = "ProblemError";
    this.status = answer.status;
    this.code = text(problem.code);
    this.type = text(problem.type) || "about:blank";
    this.title = title;
    this.detail = detail;
    this.errors = Array.isArray(problem.errors) ? problem.errors : [];
    this.help = text(problem.help) || undefined;
    this.requestId = text(problem.instance) || answer.requestId;
    this.retryAfter = answer.retryAfter;
  }
}

/** An answer that is no success. */
export interface Refused {
  status: number;
  problem: Partial<ProblemDetails> | undefined;
  requestId: string | undefined;
  retryAfter: number | undefined;
}

/** No request was answered: the service cannot be reached, or connections broke. */
export class ConnectionError extends NotifyError {
  /** The runtime's code of the last failure, such as `ECONNREFUSED`; empty where it gives none. */
  readonly reason: string;

  constructor(reason: string, failed: Failed) {
    super(`no answer after ${failed.attempts} request(s)${reason ? ` (${reason})` : ""}`, failed);
    this.name = "ConnectionError";
    this.reason = reason;
  }
}

/** The last request was not answered within `timeout`. */
export class TimeoutError extends NotifyError {
  constructor(milliseconds: number, failed: Failed) {
    super(`no answer within ${milliseconds} ms, after ${failed.attempts} request(s)`, failed);
    this.name = "TimeoutError";
  }
}

/** Somebody answered, but not the service: a redirect, or a success that is no JSON. */
export class UnexpectedAnswerError extends NotifyError {
  readonly status: number;

  constructor(said: string, status: number, failed: Failed) {
    super(said, failed);
    this.name = "UnexpectedAnswerError";
    this.status = status;
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
