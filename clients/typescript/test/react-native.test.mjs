// The class of the React Native module without what Hermes and React Native lack, against the real service. The hook itself runs
// in a browser, in tests/clients/test_react.py.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SETTING, connect, person } from "./setting.mjs";

const LACKING = ["EventTarget", "CustomEvent", "TextDecoder", "TextDecoderStream", "BroadcastChannel", "structuredClone", "URLSearchParams", "navigator"];

/** A `fetch` as React Native's: the body comes at its end, and `cache` would add a parameter to the URL. */
const real = { fetch, ...Object.fromEntries(LACKING.map((name) => [name, globalThis[name]])) };
const asked = [];
async function fetchOfReactNative(url, options = {}) {
  assert.equal(options.cache, undefined);
  assert.match(url, /^https?:/, "an app has no origin");
  asked.push(`${options.method ?? "GET"} ${new URL(url).pathname}`);
  const answer = await real.fetch(url, options);
  const text = await answer.text();
  return { ok: answer.ok, status: answer.status, headers: answer.headers, text: async () => text, json: async () => JSON.parse(text) };
}

test("an inbox lists, marks and gets changes without the globals of a browser", async (context) => {
  const notify = connect();
  const who = await person(notify, "app");
  const send = (title) => notify.notifications.create({
    user_id: who, type: "ORDER_SHIPPED", priority: "P1", channels: ["in_app"], content: { title, body: "✓" },
  });
  const { notification_id } = await send("one");
  const shown = async (count) => (await notify.inbox.page(who)).results.length === count;
  const until = async (holds, what) => {
    for (const end = Date.now() + 30_000; !(await holds()); await new Promise((go) => setTimeout(go, 50))) {
      assert.ok(Date.now() < end, what);
    }
  };
  await until(() => shown(1), "the message is in the inbox");
  const token = () => notify.recipients.clientToken(who, { scopes: ["inbox:read", "inbox:write"] });
  const { Response } = globalThis;
  // The assertions keep what they need; the module is imported without it.
  for (const name of LACKING) Object.defineProperty(globalThis, name, { value: undefined, configurable: true, writable: true });
  Object.assign(globalThis, { fetch: fetchOfReactNative, Response: class {}, EventTarget: real.EventTarget }); // of a polyfill
  context.after(() => Object.assign(globalThis, { ...real, Response }));
  const { NotifyInbox } = await import(new URL("inbox-client.js", SETTING.client));
  assert.ok(!(NotifyInbox.prototype instanceof real.EventTarget));

  const inbox = new NotifyInbox({ baseUrl: SETTING.url, token: () => inBackEnd(token) });
  context.after(() => inbox.stop()); // or its polls keep Node alive
  const heard = [];
  inbox.addEventListener("item", ({ detail }) => heard.push(detail.title));
  const end = inbox.subscribe((now) => heard.push(now.state));
  inbox.start();
  const now = () => inbox.getSnapshot();
  await until(() => now().state === "live", `the inbox is live, not ${now().error}`);
  assert.equal(now().transport, "polling");
  assert.deepEqual(now().items.map((item) => item.notification_id), [notification_id]);

  await inbox.markRead(now().items[0].message_id);
  assert.equal(now().counts.unread, 0);
  await inBackEnd(() => send("two"));
  await until(async () => {
    await inbox.refresh();
    return now().items.length === 2;
  }, "a refresh brings the new message");
  assert.deepEqual(heard.filter((each) => each === "two"), ["two"]);
  assert.ok(heard.includes("live"));
  end();
  assert.ok(asked.every((each) => !each.endsWith("/stream")), "no stream is tried");
});

test("a Retry-After of years is a long pause, and no pause of no time", async (context) => {
  const { NotifyInbox } = await import(new URL("inbox-client.js", SETTING.client));
  const { fetch, setTimeout } = globalThis;
  context.after(() => Object.assign(globalThis, { fetch, setTimeout }));
  const pauses = [];
  Object.assign(globalThis, {
    fetch: async () => new Response("{}", { status: 503, headers: { "Retry-After": "99999999" } }),
    setTimeout: (call, milliseconds) => (pauses.push(milliseconds), setTimeout(call, milliseconds)),
  });
  const inbox = new NotifyInbox({ baseUrl: SETTING.url, token: "a.b.c", share: false }).start();
  while (inbox.getSnapshot().state !== "reconnecting") await new Promise(setImmediate);
  inbox.stop();
  assert.ok(pauses.includes(3_600_000), `${pauses}`);
});

/** Runs a call of the app's back end, which has the globals of Node. */
async function inBackEnd(call) {
  const before = Object.fromEntries(Object.keys(real).map((name) => [name, globalThis[name]]));
  Object.assign(globalThis, real);
  try {
    return await call();
  } finally {
    Object.assign(globalThis, before);
  }
}
