import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { SETTING, client, connect, fresh, mail, person } from "./setting.mjs";
import { StandIn, answers, problem } from "./stand-in.mjs";

const open = [];
after(() => Promise.all(open.map((each) => each.stop())));

async function behind(behaviours, settings) {
  const standIn = await new StandIn(SETTING.url, ...behaviours).start();
  open.push(standIn);
  return [connect({ url: standIn.url, ...settings }), standIn];
}

const direct = connect();
const keysOf = (standIn) => standIn.requests.map((each) => each.headers["idempotency-key"]);
const stored = async (user_id) => (await direct.notifications.list({ user_id }).page()).results.length;

for (const behaviour of ["drop", "hang", "cut", "drip"]) {
  test(`an answer that is lost (${behaviour}) sends nothing twice`, async () => {
    const user_id = await person(direct, "once");
    const [notify, standIn] = await behind([behaviour, behaviour], { timeout: 1_500, retries: 10 });
    const accepted = await notify.notifications.create(mail(user_id));
    assert.equal(client.responseOf(accepted).replayed, true);
    assert.ok(standIn.requests.length >= 3); // more on a machine that is too busy for the timeout
    assert.equal(new Set(keysOf(standIn)).size, 1);
    assert.match(keysOf(standIn)[0], /^[0-9a-f]{32}$/);
    assert.equal(await stored(user_id), 1);
  });
}

test("a lost answer to a batch sends nothing twice", async () => {
  const user_id = await person(direct, "batch");
  const [notify] = await behind(["drop"]);
  const { results } = await notify.notifications.createBatch([mail(user_id), mail(user_id)]);
  assert.deepEqual(results.map((each) => each.result), ["accepted", "accepted"]);
  assert.equal(await stored(user_id), 2);
});

test("the key in the body is the key: a random one in the header would replace it", async () => {
  const user_id = await person(direct, "own");
  const body = mail(user_id, { idempotency_key: fresh("order ✓") });
  const [notify, standIn] = await behind(["drop"]);
  const first = await notify.notifications.create(body);
  const again = await notify.notifications.create(body);
  assert.equal(again.notification_id, first.notification_id);
  assert.deepEqual(keysOf(standIn), [undefined, undefined, undefined]);
  assert.equal(await stored(user_id), 1);
});

test("what the caller changes during a call is not sent", async () => {
  const user_id = await person(direct, "changed");
  const body = mail(user_id);
  const change = (request, response) => {
    body.content.body = "Something else";
    response.socket.destroy();
  };
  const [notify, standIn] = await behind(["drop", change]);
  await notify.notifications.create(body);
  assert.equal(new Set(standIn.requests.map((each) => each.body)).size, 1);
  assert.equal(await stored(user_id), 1);
});

test("callers with one key at the same time get one notification", async () => {
  const user_id = await person(direct, "together");
  const idempotencyKey = fresh("together");
  const told = await Promise.all(
    Array.from({ length: 10 }, () => direct.notifications.create(mail(user_id), { idempotencyKey, retries: 10 })),
  );
  assert.equal(new Set(told.map((each) => each.notification_id)).size, 1);
  assert.equal(await stored(user_id), 1);
});

test("a retry that overtakes its first request waits for it", async () => {
  const [notify, standIn] = await behind([problem(409, "in-progress", { "Retry-After": "0" })]);
  await notify.notifications.create(mail(await person(direct)));
  assert.equal(standIn.requests.length, 2);
});

for (const [name, refusal] of Object.entries({
  "429": problem(429, "rate-limited", { "Retry-After": "1" }),
  "502": answers(502, "<html>Bad Gateway</html>"),
  "503": problem(503, "unavailable", { "Retry-After": new Date(Date.now() - 1000).toUTCString() }),
  "504": answers(504, ""),
})) {
  test(`${name} is tried again with the same key`, async () => {
    const [notify, standIn] = await behind([refusal]);
    await notify.notifications.create(mail(await person(direct)));
    assert.equal(standIn.requests.length, 2);
    assert.equal(new Set(keysOf(standIn)).size, 1);
  });
}

test("a call ends after its retries, with the last problem", async () => {
  const refusal = problem(503, "unavailable", { "Retry-After": "0" });
  const [notify, standIn] = await behind([refusal, refusal, refusal, refusal]);
  const call = notify.notifications.create(mail("somebody"), { retries: 2, idempotencyKey: "three" });
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof client.ProblemError);
    assert.deepEqual([error.attempts, error.unanswered, error.idempotencyKey], [3, 0, "three"]);
    return true;
  });
  assert.deepEqual(keysOf(standIn), ["three", "three", "three"]);
});

for (const wait of ["3600", "99999999999", new Date(Date.now() + 864e5).toUTCString()]) {
  test(`a Retry-After of ${wait} is the caller's to wait for`, async () => {
    const [notify, standIn] = await behind([problem(429, "rate-limited", { "Retry-After": wait })]);
    const call = notify.notifications.create(mail("somebody"));
    await assert.rejects(call, (error) => error.code === "rate-limited" && error.retryAfter > 3_000);
    assert.equal(standIn.requests.length, 1);
  });
}

for (const [status, code] of [[400, "malformed"], [401, "unauthenticated"], [409, "conflict"], [422, "invalid"]]) {
  test(`${status} ${code} is not tried again`, async () => {
    const [notify, standIn] = await behind([problem(status, code)]);
    await assert.rejects(notify.notifications.create(mail("somebody")), { name: "ProblemError", status, code });
    assert.equal(standIn.requests.length, 1);
  });
}

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect (${status}) is an error, not a GET or a call with the key elsewhere`, async () => {
    const [notify, standIn] = await behind([answers(status, "", { Location: "/v1/me" })]);
    await assert.rejects(notify.notifications.create(mail("somebody")), { name: "UnexpectedAnswerError", status });
    assert.equal(standIn.requests.length, 1);
  });
}

for (const text of ["<html>Sign in to the Wi-Fi</html>", "", "null", "[]", '"yes"', "{}", '{"status": "ok"}']) {
  test(`a success that is ${text || "empty"} is no success`, async () => {
    const [notify] = await behind([answers(200, text)]);
    await assert.rejects(notify.notifications.create(mail("somebody")), { name: "UnexpectedAnswerError", status: 200 });
  });
}

for (const loss of ["drop", answers(504, "")]) {
  test(`an upload whose answer is lost (${typeof loss}) is not repeated`, async () => {
    const [notify, standIn] = await behind([answers(503, ""), loss], { retries: 3 });
    await assert.rejects(notify.audiences.upload("user_id\nmaria\n"), { attempts: 2, unanswered: 1 });
    assert.deepEqual(keysOf(standIn), [undefined, undefined]);
  });
}

test("an upload is repeated while nobody listens", async () => {
  const closed = await new StandIn(SETTING.url).start();
  await closed.stop();
  const nobody = connect({ url: closed.url, retries: 1 });
  await assert.rejects(nobody.audiences.upload("user_id\nmaria\n"), { attempts: 2, unanswered: 0 });
});

test("an upload over a connection that the network ends is not repeated", async () => {
  const cause = Object.assign(new Error("read EHOSTUNREACH"), { code: "EHOSTUNREACH", syscall: "read" });
  const notify = connect({ fetch: () => Promise.reject(new TypeError("fetch failed", { cause })), retries: 1 });
  await assert.rejects(notify.audiences.upload("user_id\nmaria\n"), { attempts: 1, unanswered: 1 });
});

test("a delete whose answer is lost succeeds", async () => {
  const notification = mail(await person(direct));
  const { id } = await direct.schedules.create({ name: fresh("gone"), rrule: "FREQ=DAILY", notification });
  const [notify, standIn] = await behind(["drop"]);
  await notify.schedules.delete(id);
  assert.equal(standIn.requests.length, 2);
  await assert.rejects(notify.schedules.delete(id), { code: "not-found" });
});

test("a subscription of an unknown recipient is refused after a lost answer too", async () => {
  const [notify, standIn] = await behind([answers(502, ""), "drop"]);
  await assert.rejects(notify.topics.subscribe("news", "nobody"), { name: "ProblemError", status: 404, unanswered: 2 });
  assert.equal(standIn.requests.length, 3);
});

test("a success with a page is no success of a call without a body", async () => {
  const [notify] = await behind([answers(200, "<html>Sign in to the Wi-Fi</html>"), answers(200, "<html>")]);
  await assert.rejects(notify.topics.unsubscribe("news", "nobody"), { name: "UnexpectedAnswerError", status: 200 });
  await assert.rejects(notify.recipients.erase("nobody"), { name: "UnexpectedAnswerError", status: 200 });
});

test("a condition that the lost first request fulfilled is told apart", async () => {
  const user_id = await person(direct);
  const known = await direct.recipients.get(user_id);
  const [notify] = await behind(["drop"]);
  const call = notify.recipients.change(user_id, { locale: "de" }, { ifMatch: known });
  await assert.rejects(call, { code: "precondition-failed", unanswered: 1 });
  assert.equal((await direct.recipients.get(user_id)).locale, "de");
});

for (const [when, behaviours] of [["a request", ["hang"]], ["a pause", [problem(503, "unavailable", { "Retry-After": "50" })]]]) {
  test(`the caller's signal ends ${when}, and nothing is sent after it`, async () => {
    const [notify, standIn] = await behind(behaviours);
    const controller = new AbortController();
    const call = notify.notifications.create(mail(await person(direct)), { signal: controller.signal });
    const ended = assert.rejects(call, /no longer wanted/);
    while (standIn.requests.length === 0) await new Promise(setImmediate);
    setTimeout(() => controller.abort(new Error("no longer wanted")), 200);
    await ended;
    assert.equal(standIn.requests.length, 1);
  });
}

test("a signal that is aborted already sends nothing", async () => {
  const [notify, standIn] = await behind([]);
  await assert.rejects(notify.me({ signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.equal(standIn.requests.length, 0);
});

test("a fetch that ignores its signal does not hang the call", async () => {
  const notify = connect({ fetch: () => new Promise(() => {}), timeout: 50, retries: 1 });
  await assert.rejects(notify.me(), { name: "TimeoutError", attempts: 2, unanswered: 2 });
});

test("a list that repeats its page ends", async () => {
  const page = answers(200, JSON.stringify({ results: [{}], next: "7" }));
  const [notify] = await behind([page, page, page, page]);
  await assert.rejects(async () => {
    for await (const each of notify.templates.list()) assert.ok(each);
  }, /repeats a page/);
});

test("a JSON object of a proxy is no page of a list", async () => {
  const [notify] = await behind([answers(200, "{}")]);
  await assert.rejects(notify.templates.list().page(), { name: "UnexpectedAnswerError", status: 200 });
});

test("no error and no inspection shows the key, the body or the query", async () => {
  const key = "nk_live_public_verysecret";
  const [notify] = await behind([problem(401, "unauthenticated")], { key });
  const closed = await new StandIn(SETTING.url).start();
  await closed.stop();
  const nobody = connect({ url: closed.url, key, retries: 0 });
  const calls = [
    notify.search({ address: "maria@example.com" }),
    nobody.search({ address: "maria@example.com" }),
    nobody.notifications.create({ to: { email: "maria@example.com" }, type: "X", content: { body: "maria@example.com" } }),
  ];
  const shown = [inspect(notify, { depth: 9, showHidden: true }), JSON.stringify(notify)];
  for (const { reason: error } of await Promise.allSettled(calls)) {
    assert.ok(error instanceof client.NotifyError);
    shown.push(inspect(error, { depth: 9, showHidden: true }), JSON.stringify(error), String(error), error.stack);
  }
  assert.doesNotMatch(shown.join(), /verysecret|maria/);
  assert.match(shown.join(), /ECONNREFUSED/);
});

test("wrong settings are refused without a word of the key", () => {
  for (const settings of [
    { key: "nk_live_verysecret\n" }, { key: "Bearer nk_live_verysecret" }, { key: "nk_live_vérysecret" }, { key: undefined },
    { url: "https://user:verysecret@notify.example.com" }, { url: "verysecret" }, { url: "ftp://verysecret" },
    { url: "https://notify.example.com/?key=verysecret" }, { timeout: 0 }, { timeout: NaN }, { timeout: 2 ** 31 },
    { retries: -1 }, { retries: Infinity }, { retries: 1.5 },
  ]) {
    assert.throws(() => connect(settings), (error) => error instanceof TypeError && !inspect(error.message).includes("secret"));
  }
});

test("wrong arguments are refused before anything is sent", async () => {
  const [notify, standIn] = await behind([]);
  const known = await direct.recipients.get(await person(direct));
  for (const call of [
    () => notify.recipients.get(""), () => notify.recipients.erase(".."), () => notify.recipients.get("."),
    () => notify.notifications.cancel(undefined),
    () => notify.notifications.create(mail("a"), { idempotencyKey: "a " }), // a header loses the space
    () => notify.notifications.create(mail("a"), { idempotencyKey: "" }),
    () => notify.notifications.create(mail("a"), { idempotencyKey: "a\r\nX-Other: b" }),
    () => notify.notifications.create(mail("a"), { timeout: -1 }),
    () => notify.recipients.change("a", {}, { ifMatch: { ...known } }),
    () => notify.recipients.change("a", {}, { ifMatch: undefined }),
  ]) {
    await assert.rejects(async () => call(), TypeError);
  }
  assert.equal(standIn.requests.length, 0);
});

test("a name with any letters reaches its own path", async () => {
  const [notify, standIn] = await behind([]);
  for (const name of ["a/b", "a?b=c", "a#b", "%2e%2e", "ü ✓", "../suppressions"]) {
    await assert.rejects(notify.recipients.get(name), { status: 404 });
    assert.equal(standIn.requests.at(-1).path, `/v1/recipients/${encodeURIComponent(name)}`);
  }
});
