/** Errors of calls. Messages and fields contain no API key, request body or query. */

import type { FieldProblem, ProblemDetails } from "./schema.ts";

/** Facts about a failed call. */
export interface Failed {
  /** Method and path as in the OpenAPI document: `POST /v1/notifications`. */
  readonly operation: string;
  /** Number of requests, including the first request. */
  readonly attempts: number;
  /**
   * Number of requests without a response. Above 0 the call may have taken effect,
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
  /** Problem code such as `invalid`, `unknown-recipient`, `rate-limited`; empty for a proxy's response. */
  readonly code: string;
  /** `urn:notify:problem:<code>`; `about:blank` where the answer was no problem of the service. */
  readonly type: string;
  readonly title: string;
  /** For people; the words can change. */
  readonly detail: string;
  /** The invalid fields of the request, with RFC 6901 JSON pointers. */
  readonly errors: readonly FieldProblem[];
  /** URL of a page about the problem and its cure. */
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

/** The service responded with an error status. */
export interface Refused {
  status: number;
  problem: Partial<ProblemDetails> | undefined;
  requestId: string | undefined;
  retryAfter: number | undefined;
}

/** No request was answered: the service cannot be reached, or connections broke. */
export class ConnectionError extends NotifyError {
  /** The runtime's error code of the last failure, such as `ECONNREFUSED`; may be empty. */
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

/** A response of another server: a redirect, or a success without JSON. */
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
