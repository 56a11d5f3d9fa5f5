/** What came beside an answer's body, kept beside the answer: the answer itself stays plain JSON. */

/** The head of an answer. */
export interface ResponseHead {
  /** HTTP status: of a PUT, 201 says that it created. */
  status: number;
  /** Names this state of the object; pass the object as `ifMatch`. */
  etag: string | undefined;
  /** The id of the request in the service's logs. */
  requestId: string | undefined;
  /** True: the service had answered the same key and body before. */
  replayed: boolean;
  headers: Headers;
}

const HEADS = new WeakMap<object, ResponseHead>();

/** Keep an answer's head; returns the answer. */
export function remember(answer: object, { status, headers }: { status: number; headers: Headers }): object {
  HEADS.set(answer, {
    status,
    headers,
    etag: headers.get("ETag") ?? undefined,
    requestId: headers.get("X-Request-Id") ?? undefined,
    replayed: headers.get("Idempotent-Replayed") === "true",
  });
  return answer;
}

/** The head of an answer; undefined for any other object, copies of an answer included. */
export function responseOf(answer: object): ResponseHead | undefined {
  return HEADS.get(answer);
}

/**
 * The ETag of what was read.
 *
 * @throws TypeError the object is no answer with an ETag: nothing is sent then, rather than a write
 *   without its condition.
 */
export function etagOf(known: object | string | undefined): string {
  const etag = typeof known === "string" ? known : known && responseOf(known)?.etag;
  if (!etag || !/^(\*|(W\/)?"[!#-~]*")$/.test(etag)) {
    throw new TypeError("an ETag is needed: pass the object that was read (not a copy of it) or its ETag");
  }
  return etag;
}
