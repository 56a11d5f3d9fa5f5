/** Verification of the service's webhooks, signed as Standard Webhooks says. */

import { webCrypto } from "./crypto.ts";

/** A webhook with a valid signature. */
export interface Webhook {
  /** The id, equal for every repeat: store the id to detect duplicates. */
  id: string;
  /** Time of the signature. */
  timestamp: Date;
  /** The body's JSON. */
  payload: WebhookPayload;
}

/** Content of the service's webhooks. */
export interface WebhookPayload {
  type: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  data: { [name: string]: unknown };
}

/** How to verify. */
export interface VerifyOptions {
  /** Permitted difference of the timestamp in seconds; default 300. */
  tolerance?: number;
  /** Default: the present. */
  now?: Date;
}

/** The signature is invalid. Respond with 400 and ignore the request. */
export class WebhookError extends Error {
  constructor(said: string) {
    super(said);
    this.name = "WebhookError";
  }
}

type Headed = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const PREFIX = "whsec_";
const SHORTEST_SECRET = 24;
const LONGEST_SECRET = 64;
/** Upper bound of signatures, each of which costs a hash per secret. The service sends one per valid secret. */
const MOST_SIGNATURES = 20;

/**
 * Verify a webhook.
 *
 * @param body the raw request body before parsing, as bytes or text.
 * @param headers of the request in any letter case; `Headers` or Node's `request.headers`.
 * @param secrets `whsec_...`; several during a rotation. A signature by any secret is valid.
 * @throws WebhookError a header is missing, the timestamp is off, no signature is right, or the
 *   body is no JSON object.
 * @throws TypeError a secret is malformed; the message does not contain the secret.
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: Headed,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<Webhook> {
  const keys = [secrets].flat().map(secretBytes);
  if (keys.length === 0) throw new TypeError("secrets: give at least one");
  const bytes = bytesOf(body);
  const id = header(headers, "webhook-id");
  const timestamp = header(headers, "webhook-timestamp");
  if (!id || !/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookError("webhook-id or webhook-timestamp is missing or malformed");
  }
  const now = (options.now ?? new Date()).getTime() / 1000;
  // Written so that NaN refuses.
  if (!(Math.abs(now - Number(timestamp)) <= (options.tolerance ?? 300))) {
    throw new WebhookError("webhook-timestamp is too far from this machine's clock");
  }
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  if (!(await matches(signed, header(headers, "webhook-signature"), keys))) {
    throw new WebhookError("webhook-signature is not of this body and these secrets");
  }
  return { id, timestamp: new Date(Number(timestamp) * 1000), payload: payloadIn(bytes) };
}

/** Web Crypto compares in constant time; the loop compares all signatures, also after a match. */
async function matches(signed: Bytes, given: string, secrets: readonly Bytes[]): Promise<boolean> {
  const { subtle } = await webCrypto();
  const signatures = given
    .split(" ")
    .filter((each) => each.startsWith("v1,"))
    .slice(0, MOST_SIGNATURES)
    .map((each) => decoded(each.slice(3)))
    .filter((each) => each !== undefined);
  let found = false;
  for (const secret of secrets) {
    const key = await subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const signature of signatures) {
      found = (await subtle.verify("HMAC", key, signature, signed)) || found;
    }
  }
  return found;
}

type Bytes = Uint8Array<ArrayBuffer>;

function secretBytes(text: string): Bytes {
  if (typeof text !== "string" || !text.startsWith(PREFIX)) {
    throw new TypeError(`secrets: a secret begins with ${PREFIX}`);
  }
  const bytes = decoded(text.slice(PREFIX.length));
  if (bytes === undefined || bytes.length < SHORTEST_SECRET || bytes.length > LONGEST_SECRET) {
    throw new TypeError(
      `secrets: base64 of ${SHORTEST_SECRET} to ${LONGEST_SECRET} bytes is to follow ${PREFIX}`,
    );
  }
  return bytes;
}

function decoded(base64: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function header(headers: Headed, name: string): string {
  if (typeof (headers as Headers).get === "function") return (headers as Headers).get(name) ?? "";
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return [found].flat().join(" ");
}

function bytesOf(body: string | Uint8Array | ArrayBuffer): Bytes {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) return Uint8Array.from(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new TypeError("body: give the raw body, before it is parsed: its text or its bytes");
}

function joined(head: Uint8Array, body: Uint8Array): Bytes {
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}

function payloadIn(bytes: Uint8Array): WebhookPayload {
  let found: unknown;
  try {
    found = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    found = undefined;
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) {
    throw new WebhookError("the signature is right, but the body is no JSON object");
  }
  return found as WebhookPayload;
}
