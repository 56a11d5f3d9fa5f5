/** Status and ETag of a response, stored outside the returned object, which stays plain JSON. */

/** The head of an answer. */
export interface ResponseHead {
  /** HTTP status; 201 of a PUT: the object was created. */
  status: number;
  /** ETag of the object's version; pass the object as `ifMatch`. */
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
 * Return the ETag of an object read before.
 *
 * @throws TypeError the object is no response with an ETag. No request is sent, because the write
 *   would have no condition.
 */
export function etagOf(known: object | string | undefined): string {
  const etag = typeof known === "string" ? known : known && responseOf(known)?.etag;
  if (!etag || !/^(\*|(W\/)?"[!#-~]*")$/.test(etag)) {
    throw new TypeError("an ETag is needed: pass the object that was read (not a copy of it) or its ETag");
  }
  return etag;
}
