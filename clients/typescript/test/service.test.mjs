import assert from "node:assert/strict";
import { test } from "node:test";
import { SETTING, client, connect, fresh, mail, person } from "./setting.mjs";

const succeeded = new Set();
const watched = async (url, request) => {
  const response = await fetch(url, request);
  if (response.ok || response.status === 304) succeeded.add(`${request.method} ${new URL(url).pathname}`);
  return response;
};
const notify = connect({ fetch: watched });

/** Operations without a method, and why. */
const LEFT_OUT = {
  "POST /v1/receipts/client": "the app of a recipient calls it, with a client token instead of a key",
  "POST /v1/receipts/{provider}": "providers call it, with their own signatures instead of a key",
};

test("a first message", async () => {
  const accepted = await notify.notifications.create({
    to: { email: `${fresh("first")}@sandbox.example`, locale: "en" },
    type: "WELCOME", content: { title: "Hello", body: "Hello" }, channels: ["email"], priority: "P2",
  });
  assert.match(accepted.notification_id, /^[0-9a-f-]{36}$/);
  assert.equal(accepted.recipient.registered, true);
  assert.equal(client.responseOf(accepted).replayed, false);
  assert.equal(client.responseOf(accepted).status, 202);
  assert.ok(client.responseOf(accepted).requestId);
});

test("a problem has the service's code and pointers", async () => {
  const call = notify.notifications.create({ user_id: "x", type: "X", channels: ["pigeon"] });
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof client.ProblemError);
    assert.deepEqual([error.status, error.code, error.type], [422, "invalid", "urn:notify:problem:invalid"]);
    assert.ok(error.title && error.detail && error.requestId);
    assert.equal(error.attempts, 1);
    assert.ok(error.errors.some((each) => each.source === "body" && each.pointer === "/channels/0"), error.errors);
    return true;
  });
  await assert.rejects(connect({ key: "nk_live_unknown" }).me(), { status: 401, code: "unauthenticated" });
});

test("lists are iterated over their pages", async () => {
  const user_id = await person(notify);
  const sent = await notify.notifications.createBatch(Array(5).fill(mail(user_id)));
  const ids = new Set(sent.results.map((each) => each.notification.notification_id));
  const list = notify.notifications.list({ user_id, limit: 2, type: ["ORDER_SHIPPED", "OTHER"] });
  for (let time = 0; time < 2; time += 1) {
    const found = [];
    for await (const each of list) found.push(each.notification_id);
    assert.deepEqual(new Set(found), ids);
    assert.equal(found.length, 5);
  }
  const pages = [];
  for await (const page of list.pages()) pages.push(page.results.length);
  assert.deepEqual(pages, [2, 2, 1]);
});

test("a write with the state that was read notices a change", async () => {
  const user_id = await person(notify);
  const read = await notify.recipients.get(user_id);
  assert.equal(await notify.recipients.getIfChanged(user_id, read), undefined);
  const changed = await notify.recipients.change(user_id, { locale: "de" }, { ifMatch: read });
  assert.equal(changed.locale, "de");
  assert.equal((await notify.recipients.getIfChanged(user_id, read)).locale, "de");
  await assert.rejects(notify.recipients.change(user_id, { locale: "fr" }, { ifMatch: read }), {
    status: 412, code: "precondition-failed", unanswered: 0,
  });
  await notify.recipients.change(user_id, { locale: "fr" }, { ifMatch: client.responseOf(changed).etag });
  await assert.rejects(notify.recipients.put(user_id, { locale: "en" }, { onlyCreate: true }), { status: 412 });
});

test("each operation has a method that the service takes, or a reason", async () => {
  const user_id = await person(notify);
  const scheduled_at = new Date(Date.now() + 864e5).toISOString();

  await notify.me();
  const one = await notify.notifications.create(mail(user_id, { scheduled_at }));
  await notify.notifications.get(one.notification_id);
  await notify.notifications.createBatch([mail(user_id)]);
  const { id } = await notify.notifications.uploadAttachment("%PDF-1.7", "application/pdf");
  await notify.notifications.create(mail(user_id, { attachments: [{ id, name: "invoice.pdf" }] }));
  await notify.notifications.list({ user_id }).page();
  const { next } = await notify.notifications.changes({ limit: 1 });
  await notify.notifications.changes({ cursor: next });
  await notify.notifications.reschedule(one.notification_id, { send_at_local: "09:00" });
  await notify.notifications.cancel(one.notification_id);
  await notify.notifications.withdraw(one.notification_id);
  await notify.search({ user_id });
  const figures = await notify.analytics({ metric: "accepted", by: ["channel"], step: "total" });
  assert.equal(figures.unit, "deliveries");

  const schedule = await notify.schedules.create({
    name: fresh("daily"), rrule: "FREQ=DAILY", timezone: "UTC", notification: mail(user_id),
  });
  await notify.schedules.list().page();
  const read = await notify.schedules.get(schedule.id);
  await notify.schedules.getIfChanged(schedule.id, read);
  await notify.schedules.change(schedule.id, { rrule: "FREQ=WEEKLY" }, { ifMatch: read });
  await notify.schedules.delete(schedule.id);

  await notify.recipients.list().page();
  const contact = await notify.recipients.addContact(user_id, { channel: "sms", address: "+15552000042" });
  await notify.recipients.removeContact(user_id, contact.id);
  const hook = await notify.recipients.addContact(user_id, { channel: "webhook", address: "https://hooks.example/" });
  const issued = await notify.recipients.clientToken(user_id, { expires_in_seconds: 60 });
  assert.equal(await notify.recipients.revokeClientTokens(user_id), undefined);
  assert.ok(new Date(issued.expires_at) > new Date());
  assert.equal((await notify.recipients.webPushKey()).public_key, null); // this service has no web push
  const { secret, fingerprint } = await notify.recipients.rotateSigningSecret(user_id, hook.id);
  const { secrets } = await notify.recipients.listSigningSecrets(user_id, hook.id);
  assert.equal(secrets.find((each) => each.current).fingerprint, fingerprint);
  await assert.rejects(client.verifyWebhook("{}", {}, secret), client.WebhookError); // it is taken as a secret
  await notify.recipients.listChanges(user_id).page();
  const wishes = await notify.preferences.get(user_id);
  await notify.preferences.getIfChanged(user_id, wishes);
  await notify.preferences.put(user_id, { channels_off: ["chat"] }, { ifMatch: wishes });
  await notify.preferences.change(user_id, { channels_off: [] });
  await notify.recipients.get(user_id);
  await notify.recipients.change(user_id, { locale: "pt-BR" });

  const plan = fresh("plan");
  await notify.attributes.define(plan, { kind: "text" });
  await notify.attributes.get(plan);
  await notify.attributes.list().page();
  const topic = fresh("news");
  await notify.topics.subscribe(topic, user_id);
  assert.equal((await notify.topics.subscribeMany(topic, [user_id, "gone"])).errors.length, 1);
  assert.equal((await notify.topics.get(topic)).subscribers, 1);
  assert.deepEqual(await notify.recipients.topics(user_id), { topics: [topic] });
  await notify.topics.list().page();
  await notify.topics.subscribers(topic).page();
  assert.equal((await notify.audiences.estimate({ topic })).count, 1);
  const fans = await notify.audiences.create({ name: fresh("fans"), audience: { topic } });
  await notify.audiences.get(fans.id);
  await notify.audiences.list().page();
  await notify.audiences.put(fans.id, { name: fans.name, audience: { everyone: true } });
  const imported = await notify.recipients.importCsv(`user_id,locale\n${user_id},de\n`, { dry_run: true });
  assert.equal(imported.not_understood, 0);
  const upload = await notify.audiences.upload(`{"user_id": "${user_id}"}\n`, {
    name: "a file",
    mediaType: "application/x-ndjson",
  });
  assert.equal(upload.members, 1);
  await notify.audiences.getUpload(upload.id);
  await notify.audiences.uploads().page();
  await notify.audiences.deleteUpload(upload.id);
  const snapshot = await notify.audiences.takeSnapshot({ audience: { audience: fans.name } });
  await notify.audiences.getSnapshot(snapshot.id);
  await notify.audiences.snapshots().page();
  await notify.audiences.deleteSnapshot(snapshot.id);
  await notify.audiences.delete(fans.id);
  await notify.topics.unsubscribe(topic, user_id);
  await notify.topics.unsubscribeMany(topic, [user_id]);
  await notify.topics.delete(topic);
  const job = await notify.recipients.erase(user_id);
  await notify.recipients.getErasureJob(job.id);

  const template_id = fresh("hello");
  const texts = (body) => [{ channel: "push", locale: "en", title: "Hello", body }];
  for (const body of ["Hello", "Good morning"]) {
    const { version } = await notify.templates.create({ template_id, texts: texts(body) });
    await notify.templates.getVersion(template_id, version);
    await notify.templates.publish(template_id, { version });
  }
  await notify.templates.list().page();
  const template = await notify.templates.get(template_id);
  assert.equal(await notify.templates.getIfChanged(template_id, template), undefined);
  await notify.templates.diff(template_id, { from: 1, to: 2 });
  await notify.templates.preview(template_id, { channel: "push", variables: {} });
  const { files } = await notify.templates.files(template_id);
  assert.equal((await notify.templates.putFiles(template_id, { files })).template_id, template_id);
  await notify.templates.rollBack(template_id, { version: 1 }, { ifMatch: template });

  const soon = new Date(Date.now() + 86_400_000).toISOString();
  const message_of = { type: "NEWS", priority: "P3", template_id };
  const bulk = { ...message_of, name: fresh("bulk"), audience: { user_ids: [SETTING.user_id] }, scheduled_at: soon };
  assert.equal((await notify.bulkJobs.dryRun(bulk)).examined, 1);
  const started = await notify.bulkJobs.create(bulk);
  assert.equal((await notify.bulkJobs.get(started.id)).state, "scheduled");
  await notify.bulkJobs.list().page();
  assert.equal((await notify.bulkJobs.pause(started.id, { reason: "a test" })).state, "paused");
  await notify.bulkJobs.resume(started.id);
  assert.equal((await notify.bulkJobs.cancel(started.id)).state, "cancelled");
  await notify.budgets.list().page();
  assert.equal((await notify.brand.put({ name: "Orders", color: "#b91c1c" })).is_own, true);
  await notify.brand.delete();
  assert.equal((await notify.brand.get()).name, "");
  await notify.costs();

  const series = fresh("onboarding");
  const definition = { steps: [{ step: "wait", days: 1 }, { step: "send", name: "first", ...message_of }] };
  await notify.series.create({ name: series, definition });
  await notify.series.change(series, { definition });
  assert.equal((await notify.series.publish(series)).state, "active");
  await notify.series.list().page();
  await notify.series.get(series);
  const enrolled = await notify.series.enrol(series, { enrolments: [{ user_id: SETTING.user_id }] });
  const { enrolment_id } = enrolled.results[0];
  await notify.series.enrolments(series).page();
  await notify.series.enrolment(series, enrolment_id);
  assert.equal((await notify.series.exit(series, enrolment_id)).state, "exited");
  assert.equal((await notify.series.pause(series)).state, "paused");
  await notify.series.resume(series);
  await notify.series.archive(series);
  const events = [{ name: "order_paid", user_id: SETTING.user_id }];
  assert.equal((await notify.events.create({ events })).results[0].result, "accepted");

  const address = `${fresh("gone")}@example.com`;
  const entry = await notify.suppressions.create({ channel: "email", address });
  await notify.suppressions.list({ channel: ["email"], address }).page();
  await notify.suppressions.get(entry.id);
  assert.match(await notify.suppressions.exportCsv({ channel: ["email"], address }), new RegExp(address));
  await notify.suppressions.undo(entry.id, { note: "a wrong address" });
  const told = await notify.suppressions.importCsv(`channel,address\nemail,${fresh("csv")}@example.com\n`);
  assert.equal(told.added, 1, JSON.stringify(told));

  await notify.deadLetters.list().page();
  const letter = await notify.deadLetters.get(SETTING.letter);
  await notify.deadLetters.discard(letter.id);
  const replay = await notify.deadLetters.replay({ reason: fresh("no such reason") });
  await notify.replayJobs.list().page();
  await notify.replayJobs.get(replay.id);
  await notify.alerts.list().page();
  await notify.alerts.acknowledge(SETTING.alert, { minutes: 30 });
  await notify.alerts.resolve(SETTING.alert);

  const who = SETTING.user_id;
  const [message, another] = SETTING.messages;
  const page = await notify.inbox.page(who);
  assert.equal(page.counts.unread, 2);
  assert.equal(await notify.inbox.pageIfChanged(who, page), undefined);
  const [newest] = await notify.inbox.list(who, { limit: 1 }).page().then(({ results }) => results);
  assert.equal(newest.message_id, another);
  const counts = await notify.inbox.unreadCount(who);
  assert.equal(await notify.inbox.unreadCountIfChanged(who, counts), undefined);
  await notify.inbox.markSeen(who, message);
  const marked = await notify.inbox.markRead(who, message);
  assert.equal((await notify.inbox.markRead(who, message)).version, marked.version, "a repeat changes nothing");
  const changed = await notify.inbox.changes(who, page.version);
  assert.deepEqual(changed.results.map((each) => each.message_id), [message]);
  assert.equal((await notify.inbox.markUnread(who, message)).counts.unread, 2);
  assert.equal((await notify.inbox.recordAction(who, message, "accept")).counts.unread, 1);
  await notify.inbox.archive(who, message);
  await notify.inbox.unarchive(who, message);
  await notify.inbox.snooze(who, message, { until: new Date(Date.now() + 3_600_000).toISOString() });
  await notify.inbox.unsnooze(who, message);
  const unknown = "0198f2a4-6b00-7c3e-9d21-000000000000";
  assert.deepEqual((await notify.inbox.markManySeen(who, [another, unknown])).unknown, [unknown]);
  await notify.inbox.markManyRead(who, [another]);
  await notify.inbox.archiveMany(who, [another]);
  await notify.inbox.markAllSeen(who);
  await notify.inbox.markAllRead(who, { version: page.version });
  await notify.inbox.archiveAll(who, { category: "offers" });
  assert.equal((await notify.inbox.delete(who, message)).counts.total, 0);

  const cancellation = await notify.notifications.cancelMany({ metadata: { run: fresh("run") } });
  await notify.cancelJobs.get(cancellation.id);
  await notify.cancelJobs.list().page();
  await notify.cancelJobs.stop(cancellation.id);
  const held = await notify.switches.set({ kind: "type", value: "NO_SUCH_TYPE", reason: "a test" });
  await notify.switches.get(held.id);
  await notify.switches.list().page();
  await notify.switches.resume(held.id);

  const endpoint = await notify.webhookEndpoints.create({ url: "https://hooks.example.com/in" });
  assert.match(endpoint.secret, /^whsec_/);
  await notify.webhookEndpoints.list().page();
  await notify.webhookEndpoints.get(endpoint.id);
  await notify.webhookEndpoints.change(endpoint.id, { state: "paused" });
  await notify.webhookEndpoints.rotateSecret(endpoint.id, { overlap_hours: 1 });
  await notify.webhookEndpoints.replay(endpoint.id, { since: new Date().toISOString() });
  await notify.webhookEndpoints.sendTest(endpoint.id);
  await notify.webhookEndpoints.attempts(endpoint.id).page();
  await notify.webhookEndpoints.delete(endpoint.id);
  await notify.rotateKey({ overlap_hours: 24 });

  const { paths } = await (await fetch(`${SETTING.url}/v1/schema`)).json();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.ok(operations.length > 40);
  const names = (operation) => (operation.match(/\{/g) ?? []).length;
  operations.sort((one, other) => names(one) - names(other)); // /replay before /{letter_id}
  const called = new Set([...succeeded].map((call) => operations.find((each) => pattern(each).test(call))));
  const missing = operations.filter((each) => !called.has(each) && !(each in LEFT_OUT));
  assert.deepEqual(missing, [], "give each a method in src/client.ts and a call here, or a reason in LEFT_OUT");
  assert.deepEqual(Object.keys(LEFT_OUT).filter((each) => !operations.includes(each) || called.has(each)), []);
});

const pattern = (operation) => new RegExp(`^${operation.replace(/\{\w+\}/g, "[^/]+")}$`);
