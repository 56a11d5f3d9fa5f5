import assert from "node:assert/strict";
import { test } from "node:test";
import { createHmac } from "node:crypto";
import { inspect } from "node:util";
import { SETTING, client } from "./setting.mjs";

const { verifyWebhook, WebhookError } = client;
// Requests of the real service to a receiver of the test, with the secrets of its contact: the
// current one, which replaces the former one.
const { body: encoded, headers, secrets, other } = SETTING.webhook;
const body = Buffer.from(encoded, "base64");
const now = new Date(Number(headers["webhook-timestamp"]) * 1000);
const at = (seconds) => new Date(now.getTime() + seconds * 1000);

test("both secrets verify while one replaces the other", async () => {
  assert.equal(headers["webhook-signature"].split(" ").length, 2);
  for (const secret of [...secrets, [other, secrets[0]]]) {
    const webhook = await verifyWebhook(body, headers, secret, { now });
    assert.equal(webhook.id, headers["webhook-id"]);
    assert.deepEqual(webhook.timestamp, now);
    assert.equal(webhook.payload.data.body, "Hello ✓");
    assert.match(webhook.payload.data.notification_id, /^[0-9a-f-]{36}$/);
  }
});

test("the body may be text or bytes, and headers of any kind", async () => {
  const bytes = new Uint8Array(body.length + 8).fill(32);
  bytes.set(body, 4);
  for (const raw of [body, body.toString(), bytes.subarray(4, 4 + body.length), Uint8Array.from(body).buffer]) {
    await verifyWebhook(raw, headers, secrets, { now });
  }
  const titled = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
  for (const headed of [new Headers(headers), titled]) await verifyWebhook(body, headed, secrets, { now });
});

const changed = (name, value) => ({ ...headers, [name]: value });
for (const [what, arguments_] of Object.entries({
  "another body": [Buffer.concat([body, Buffer.from(" ")]), headers],
  "another id": [body, changed("webhook-id", "msg_other")],
  "another timestamp": [body, changed("webhook-timestamp", String(now.getTime() / 1000 + 1))],
  "a timestamp that is no number": [body, changed("webhook-timestamp", "NaN")],
  "a timestamp of thousands of digits": [body, changed("webhook-timestamp", "9".repeat(5000))],
  "no signature": [body, changed("webhook-signature", undefined)],
  "a signature of another version": [body, changed("webhook-signature", headers["webhook-signature"].replaceAll("v1,", "v2,"))],
  "a signature that is no base64": [body, changed("webhook-signature", "v1,é v1, v1")],
  "no headers": [body, {}],
})) {
  test(`${what} is refused`, () =>
    assert.rejects(verifyWebhook(...arguments_, secrets, { now }), WebhookError));
}

test("a signature of another secret is refused", () =>
  assert.rejects(verifyWebhook(body, headers, other, { now }), WebhookError));

test("the present is this machine's clock", async () => {
  const secret = Buffer.from(other.slice("whsec_".length), "base64");
  for (const [age, isTaken] of [[0, true], [200, true], [310, false], [-310, false]]) {
    const timestamp = Math.floor(Date.now() / 1000) - age;
    const signature = createHmac("sha256", secret).update(`msg_1.${timestamp}.{}`).digest("base64");
    const signed = { "webhook-id": "msg_1", "webhook-timestamp": `${timestamp}`, "webhook-signature": `v1,${signature}` };
    const verified = verifyWebhook("{}", signed, other);
    await (isTaken ? verified : assert.rejects(verified, /clock/));
  }
});

test("a request is taken five minutes around its timestamp", async () => {
  for (const seconds of [-300, 0, 300]) await verifyWebhook(body, headers, secrets, { now: at(seconds) });
  for (const seconds of [-301, 301, NaN]) {
    await assert.rejects(verifyWebhook(body, headers, secrets, { now: at(seconds) }), WebhookError);
  }
  await verifyWebhook(body, headers, secrets, { now: at(600), tolerance: 600 });
});

test("a secret that is none is refused without a word of it", async () => {
  for (const secret of ["", "verysecret", "whsec_", "whsec_verysecret", "whsec_verysecret!", undefined, []]) {
    await assert.rejects(verifyWebhook(body, headers, secret), (error) => {
      assert.ok(error instanceof TypeError);
      assert.doesNotMatch(inspect(error), /verysecret/);
      return true;
    });
  }
});

test("a body that was parsed already is refused", () =>
  assert.rejects(verifyWebhook(JSON.parse(body), headers, secrets), TypeError));
