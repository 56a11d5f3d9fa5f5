/** Recipient tokens, signed by the producer's back end with a token secret, without a call to the service. */

import { webCrypto } from "./crypto.ts";
import type { TokenScope } from "./schema.ts";

/** The rights and the end of a token. */
export interface TokenOptions {
  scopes: readonly TokenScope[];
  /** Seconds from a minute to a day; default an hour. */
  lifetimeSeconds?: number;
  /** Default: the present. */
  now?: Date;
}

const SECRET = /^(nts_(live|test)_[a-z0-9]{8})_[0-9a-f]{64}$/;
const SHORTEST = 60;
const LONGEST = 86_400;
const DEFAULT = 3_600;
const RANDOM_BYTES = 12;

/**
 * Sign a token for a recipient. The mode is the mode of the secret, which stays in the back end.
 *
 * @param secret the token secret, `nts_live_...` or `nts_test_...`.
 * @param userId the recipient, who must exist in the service.
 * @throws TypeError the secret, the user id, the scopes or the lifetime is not valid; the message
 *   does not contain the secret.
 */
export async function mintRecipientToken(secret: string, userId: string, options: TokenOptions): Promise<string> {
  const shape = SECRET.exec(secret);
  if (!shape) throw new TypeError("a token secret has the form nts_live_... or nts_test_...");
  const { scopes, lifetimeSeconds = DEFAULT, now = new Date() } = options;
  if (!userId || scopes.length === 0) throw new TypeError("a token needs a user id and a scope");
  if (!(lifetimeSeconds >= SHORTEST && lifetimeSeconds <= LONGEST)) {
    throw new TypeError("a token lives for 60 to 86400 seconds");
  }
  const crypto = await webCrypto();
  const issuedAt = now.getTime() / 1000;
  const payload = {
    aud: "notify",
    sub: userId,
    mode: shape[2],
    scope: scopes.join(" "),
    iat: issuedAt,
    exp: Math.floor(issuedAt + lifetimeSeconds),
    jti: base64url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))),
  };
  const signed = `${part({ alg: "HS256", kid: shape[1], typ: "JWT" })}.${part(payload)}`;
  const encoder = new TextEncoder();
  const hash = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), hash, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, encoder.encode(signed));
  return `${signed}.${base64url(new Uint8Array(signature))}`;
}

function part(content: object): string {
  return base64url(new TextEncoder().encode(JSON.stringify(content)));
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
