import assert from "node:assert/strict";
import { test } from "node:test";
import { SETTING, client } from "./setting.mjs";

const { mintRecipientToken } = client;
const secret = SETTING.token_secret;
const receipt = { delivery_id: "00000000-0000-7000-8000-000000000001", kind: "opened" };

async function send(token) {
  const answer = await fetch(`${SETTING.url}/v1/receipts/client`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ receipts: [receipt] }),
  });
  return answer.status;
}

test("the service accepts the token for its scopes and time", async () => {
  const scopes = ["receipts:write"];
  assert.equal(await send(await mintRecipientToken(secret, SETTING.user_id, { scopes })), 200);
  assert.equal(await send(await mintRecipientToken(secret, SETTING.user_id, { scopes: ["inbox:read"] })), 403);
  const now = new Date(Date.now() - 3_600_000);
  assert.equal(await send(await mintRecipientToken(secret, SETTING.user_id, { scopes, now })), 401);
  assert.equal(await send(await mintRecipientToken(secret, "nobody", { scopes })), 401);
});

test("other letters than ASCII are signed as UTF-8", async () => {
  const token = await mintRecipientToken(secret, "mäx ✓", { scopes: ["inbox:read"], lifetimeSeconds: 60 });
  const [header, payload] = token.split(".").slice(0, 2).map((each) => JSON.parse(Buffer.from(each, "base64url")));
  assert.deepEqual(header, { alg: "HS256", kid: secret.slice(0, secret.lastIndexOf("_")), typ: "JWT" });
  assert.equal(payload.sub, "mäx ✓");
  assert.ok(payload.exp - payload.iat <= 60);
});

const good = { scopes: ["inbox:read"] };
for (const [what, arguments_] of Object.entries({
  "an API key": ["nk_live_abcd1234_secret", "ana", good],
  "no user id": [secret, "", good],
  "no scope": [secret, "ana", { scopes: [] }],
  "a lifetime of two days": [secret, "ana", { ...good, lifetimeSeconds: 172_800 }],
  "a lifetime that is no number": [secret, "ana", { ...good, lifetimeSeconds: Number.NaN }],
})) {
  test(`${what} is refused without the secret`, async () => {
    await assert.rejects(mintRecipientToken(...arguments_), (error) => {
      assert.ok(error instanceof TypeError);
      return !error.message.includes(arguments_[0]);
    });
  });
}
