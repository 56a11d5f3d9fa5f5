// Two devices of a person with the model of <notify-inbox>, and a service in memory. Arguments: the
// module, the number of random histories. Prints a JSON list of the histories after which a device
// shows something else than the service has.
const [, , module, histories] = process.argv;
const { Model } = await import(module);
const PAGE = 8;
const STEPS = 30;
const AT = "2026-01-01T00:00:00Z";
const EACH = ["seen", "read", "unread", "archive", "unarchive", "snooze", "unsnooze", "delete"];
const BULK = ["seen", "read", "archive"];
const VIEWS = [["inbox", null], ["inbox", null], ["inbox", "orders"], ["archived", null], ["snoozed", null]];

let state = 0;
const random = (below) => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
  return Math.floor((state / 0x80000000) * below);
};
const pick = (all) => all[random(all.length)];
const isListed = (item) => !item.gone && !item.archived_at && !item.snoozed_until;
const shown = ({ message_id: id, seen_at: seen, read_at: read }) => `${id} ${Boolean(seen)} ${Boolean(read)}`;

/** What the service stores; each write adds one to the version and gives it to the changed items. */
class Service {
  version = 0;
  items = [];

  arrive() {
    this.version += 1;
    const id = `m${String(this.items.length).padStart(3, "0")}`;
    const times = { seen_at: null, read_at: null, archived_at: null, snoozed_until: null };
    const versions = { version: this.version, added_version: this.version };
    this.items.push({ message_id: id, notification_id: id, category: pick(["orders", "social"]), ...times, ...versions });
  }

  endSnooze() {
    const item = this.items.find((each) => each.snoozed_until && !each.gone);
    if (!item) return;
    this.version += 1;
    const versions = { version: this.version, added_version: this.version };
    Object.assign(item, { snoozed_until: null, seen_at: null, read_at: null, ...versions });
  }

  mark({ action, ids, category, version, until }) {
    const isMeant = (item) => (ids === null
      ? isListed(item) && (!category || item.category === category) && item.added_version <= version
      : ids.includes(item.message_id) && !item.gone);
    let isChanged = false;
    for (const item of this.items.filter(isMeant)) {
      const before = JSON.stringify(item);
      if (action === "seen" || action === "read") item.seen_at ??= AT;
      if (action === "read") item.read_at ??= AT;
      if (action === "unread") item.read_at = null;
      if (action === "archive") Object.assign(item, { archived_at: item.archived_at ?? AT, snoozed_until: null });
      if (action === "snooze") Object.assign(item, { archived_at: null, snoozed_until: until });
      if (action === "unarchive") item.archived_at = null;
      if (action === "unsnooze") item.snoozed_until = null;
      if (action === "delete") item.gone = true;
      if (JSON.stringify(item) === before) continue;
      item.version = this.version + 1;
      isChanged = true;
    }
    if (isChanged) this.version += 1;
    return { version: this.version, counts: this.counts() };
  }

  counts() {
    const counts = { unread: 0, unseen: 0, total: 0, categories: {} };
    for (const item of this.items.filter(isListed)) {
      counts.total += 1;
      if (!item.read_at) counts.unread += 1;
      if (!item.seen_at) counts.unseen += 1;
    }
    return counts;
  }

  changes(since) {
    const changed = this.items.filter((item) => item.version > since);
    const removed = changed.filter((item) => item.gone).map((item) => item.message_id);
    return { version: this.version, items: changed.filter((item) => !item.gone), removed, counts: this.counts() };
  }

  page({ tab, category }, { behind = null, limit = PAGE } = {}) {
    const place = (item) => item.added_version * 1000 + Number(item.message_id.slice(1));
    const isInTab = { inbox: isListed, archived: (item) => item.archived_at, snoozed: (item) => item.snoozed_until && !item.archived_at }[tab];
    const all = this.items
      .filter((item) => !item.gone && isInTab(item) && (!category || item.category === category))
      .filter((item) => behind === null || place(item) < behind)
      .sort((one, other) => place(other) - place(one));
    const results = all.slice(0, limit);
    return { version: this.version, results, next: all.length > limit ? place(results.at(-1)) : null, counts: this.counts() };
  }
}

/** A window: events come in order and late, and the response of a mark comes at any time. */
class Device {
  model = new Model();
  events = [];
  response = null;

  constructor(service) {
    const [tab, category] = pick(VIEWS);
    this.service = service;
    this.model.view = { tab, category, unread: false };
    this.model.addPage(structuredClone(service.page(this.model.view)), { first: true });
    this.told = service.version;
  }

  tell() {
    if (this.told === this.service.version) return;
    this.events.push(structuredClone(this.service.changes(this.told)));
    this.told = this.service.version;
  }

  hear() {
    if (this.events.length > 0) this.model.addChanges(this.events.shift());
  }

  /** Send the first mark, or take the response. */
  send() {
    if (this.response) {
      this.model.confirm(...this.response);
      this.response = null;
    } else if (this.model.marks.length > 0) {
      const [mark] = this.model.marks;
      this.response = [mark, structuredClone(this.service.mark(mark))];
    }
  }

  more() {
    if (this.model.next === null) return;
    const page = this.service.page(this.model.view, { behind: this.model.next });
    this.model.addPage(structuredClone(page), { first: false });
  }

  mark() {
    const mark = { at: AT };
    const items = this.model.items();
    if (random(6) === 0) Object.assign(mark, { action: pick(BULK), ids: null, category: pick([null, "orders"]), version: this.model.cursor });
    else if (items.length === 0) return;
    else Object.assign(mark, { action: pick(EACH), ids: [pick(items).message_id], until: AT });
    if (mark.ids && BULK.includes(mark.action)) mark.ids = [...new Set([...mark.ids, pick(items).message_id])];
    this.model.marks.push(mark);
    this.model.refresh();
  }

  settle() {
    while (this.response || this.model.marks.length > 0) this.send();
  }

  /** Return what differs from the service, after all events. */
  difference() {
    this.tell();
    while (this.events.length > 0) this.hear();
    while (this.model.next !== null) this.more();
    const page = this.service.page(this.model.view, { limit: Infinity });
    const { unread, unseen, total } = this.model.counts;
    const [here, there] = [
      [[unread, unseen, total], ...this.model.items().map(shown)],
      [[page.counts.unread, page.counts.unseen, page.counts.total], ...page.results.map(shown)],
    ].map((each) => JSON.stringify(each));
    return here === there ? null : { view: this.model.view, here, there };
  }
}

function history(number) {
  state = number * 7919;
  const service = new Service();
  for (let count = pick([3, 6, 14]); count > 0; count -= 1) service.arrive();
  const devices = [new Device(service), new Device(service)];
  const steps = [["mark", 6], ["send", 4], ["tell", 3], ["hear", 4], ["more", 1]].flatMap(([name, weight]) => Array(weight).fill(name));
  for (let step = 0; step < STEPS; step += 1) {
    const chance = random(20);
    if (chance < 2) service.arrive();
    else if (chance === 2) service.endSnooze();
    else pick(devices)[pick(steps)]();
  }
  for (const device of devices) device.settle();
  return devices.map((device) => device.difference()).filter(Boolean);
}

const found = [];
for (let number = 1; number <= Number(histories); number += 1) {
  for (const difference of history(number)) found.push({ history: number, ...difference });
}
console.log(JSON.stringify(found));
