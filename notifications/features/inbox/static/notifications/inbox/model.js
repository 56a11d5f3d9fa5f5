// The state of an inbox on this device: what the service said, and marks that this state does not
// have yet. What is shown is the first with the second applied. A mark is never written into the
// first: the same item may have changed on another device, and the event of that change comes later.

const RECENT = 200; // notification ids that are remembered, so that none is announced twice

const MARKS = {
  seen: (item, at) => (item.seen_at ? item : { ...item, seen_at: at }),
  read: (item, at) =>
    item.read_at ? item : { ...item, read_at: at, seen_at: item.seen_at ?? at },
  unread: (item) => (item.read_at ? { ...item, read_at: null } : item),
  archive: (item, at) => (item.archived_at ? item : { ...item, archived_at: at }),
  unarchive: (item) => (item.archived_at ? { ...item, archived_at: null } : item),
  snooze: (item, _at, mark) => ({ ...item, snoozed_until: mark.until }),
  unsnooze: (item) => (item.snoozed_until ? { ...item, snoozed_until: null } : item),
  delete: () => null,
};

const isListed = (item) => item !== null && !item.archived_at && !item.snoozed_until; // the service ends a snooze

/** Order two items as the pages of the service: the newest arrival first. */
function compare(one, other) {
  if (one.added_version !== other.added_version) return other.added_version - one.added_version;
  return one.message_id < other.message_id ? 1 : -1;
}

/** The items and counts of one recipient; `view` is the list that the app shows. */
export class Model {
  view = { tab: "inbox", category: null, unread: false };
  next = null; // cursor of the next page
  #edge; // last item of the last page, where the next page begins
  cursor = 0; // version up to which all changes are known
  loaded = false;
  marks = []; // sent or to be sent, in order
  #confirmed = []; // marks above the cursor
  #items = new Map();
  #order = []; // ids of the list, newest first
  #groups = new Map(); // group key -> id of the newest item
  #counts = { unread: 0, unseen: 0, total: 0, categories: {} };
  #countsVersion = -1;
  names = {}; // of categories
  brand = null;
  #recent = new Set();
  #overlay = new Map();
  #shownCounts = this.#counts;

  get counts() {
    return this.#shownCounts;
  }

  /** Return the items of the view, newest first. */
  items() {
    const shown = [];
    for (const id of this.#order) {
      const item = this.item(id);
      if (item && this.#stays(item)) shown.push(item);
    }
    return shown;
  }

  /** Return an item as it is shown; null: deleted; undefined: unknown. */
  item(id) {
    return this.#overlay.has(id) ? this.#overlay.get(id) : this.#items.get(id);
  }

  /** Take page 1 (`first`) or a further page of the view; return whether page 1 is older than a known change. */
  addPage(page, { first }) {
    const isOld = first && page.version < this.cursor;
    if (isOld) this.#countsVersion = -1;
    if (first) {
      this.#items.clear();
      this.#groups.clear();
      this.#order = [];
      this.cursor = page.version;
      this.loaded = true;
    }
    for (const item of page.results) {
      this.#remember(item.notification_id);
      const known = this.#items.get(item.message_id);
      if (known && known.version > item.version) continue;
      if (!known) this.#order.push(item.message_id);
      this.#keep(item);
    }
    if (!first) this.#sort();
    this.next = page.next;
    this.#edge = page.results[page.results.length - 1];
    this.names = page.category_names ?? {}; // an earlier service has none
    this.brand = page.brand ?? null; // as above
    if (page.counts) this.takeCounts(page.counts, page.version);
    this.refresh();
    return isOld;
  }

  /** Take changes of the stream or of a poll; return the new items. */
  addChanges({ version, items, removed, counts }) {
    if (version <= this.cursor) return [];
    this.cursor = version;
    const fresh = [];
    for (const id of removed ?? []) this.#forget(id);
    for (const item of items ?? []) {
      const known = this.#items.get(item.message_id);
      if (known && known.version >= item.version) continue;
      if (!known && !item.seen_at && !item.read_at && isListed(item) && this.#remember(item.notification_id)) {
        fresh.push(item);
      }
      this.#place(item, known);
    }
    if (counts) this.takeCounts(counts, version);
    this.refresh();
    return fresh;
  }

  takeCounts(counts, version) {
    if (version < this.#countsVersion) return;
    this.#countsVersion = version;
    this.#counts = counts;
  }

  /** The service confirmed a mark: apply it until the changes up to the version of the answer are here. */
  confirm(mark, answer) {
    const { version = 0, counts } = answer ?? {};
    this.marks.splice(this.marks.indexOf(mark), 1);
    this.#confirmed.push(Object.assign(mark, { doneAt: version }));
    if (counts) this.takeCounts(counts, version);
    this.refresh();
  }

  /** Forget a mark that the service refused. */
  rollBack(mark) {
    this.marks.splice(this.marks.indexOf(mark), 1);
    this.refresh();
  }

  /** Compute what is shown: the items and counts of the service with each mark applied that they lack. */
  refresh() {
    this.#overlay.clear();
    this.#confirmed = this.#confirmed.filter((mark) => mark.doneAt > this.cursor);
    for (const mark of this.#confirmed) this.#apply(mark, null); // the counts have the mark
    if (this.marks.length === 0) {
      this.#shownCounts = this.#counts;
      return;
    }
    const counts = JSON.parse(JSON.stringify(this.#counts));
    for (const mark of this.marks) {
      const isBulk = mark.ids === null;
      this.#apply(mark, isBulk ? null : counts);
      if (isBulk) adjustAll(counts, mark);
    }
    this.#shownCounts = counts;
  }

  /** Show the items of a mark as marked, and change the counts by the difference. */
  #apply(mark, counts) {
    for (const id of this.#touched(mark)) {
      if (this.#items.get(id).version >= mark.doneAt) continue; // the item has the mark
      const before = this.item(id);
      const after = this.#marked(before, mark);
      if (after === before) continue;
      this.#overlay.set(id, after);
      if (counts) adjust(counts, before, after);
    }
  }

  #touched(mark) {
    if (mark.ids !== null) return mark.ids.filter((id) => this.item(id));
    const ids = [];
    for (const [id, item] of this.#items) {
      const isIn = isListed(item) && (!mark.category || item.category === mark.category);
      if (isIn && item.added_version <= mark.version) ids.push(id);
    }
    return ids;
  }

  #marked(item, mark) {
    return item ? MARKS[mark.action](item, mark.at, mark) : item;
  }

  #belongs(item) {
    const { tab, category, unread } = this.view;
    if (category && item.category !== category) return false;
    if (unread && item.read_at) return false;
    if (tab === "archived") return Boolean(item.archived_at);
    if (tab === "snoozed") return !item.archived_at && Boolean(item.snoozed_until);
    return isListed(item);
  }

  /** Return whether a listed item stays: what was read in the view of unread items stays in sight. */
  #stays(item) {
    return this.#belongs(this.view.unread ? { ...item, read_at: null } : item);
  }

  #keep(item) {
    this.#items.set(item.message_id, item);
    if (item.group) this.#groups.set(item.group.key, item.message_id);
  }

  #place(item, known) {
    const id = item.message_id;
    if (known && this.#stays(item) && known.added_version === item.added_version) return this.#keep(item);
    if (known) this.#forget(id); // a snooze that ended gives the item a new place
    if (!(known ? this.#stays(item) : this.#belongs(item))) return undefined;
    const older = item.group && this.#items.get(this.#groups.get(item.group.key));
    if (older && compare(older, item) > 0) this.#forget(older.message_id);
    if (this.next !== null && compare(item, this.#edge) > 0) return undefined; // comes with its page
    this.#order.splice(this.#position(item), 0, id);
    return this.#keep(item);
  }

  /** Return the place of an item that is not in the list. */
  #position(item) {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(this.#items.get(this.#order[middle]), item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #sort() {
    this.#order.sort((one, other) => compare(this.#items.get(one), this.#items.get(other)));
  }

  #forget(id) {
    const item = this.#items.get(id);
    if (!item) return;
    this.#items.delete(id);
    if (item.group && this.#groups.get(item.group.key) === id) this.#groups.delete(item.group.key);
    const place = this.#order.indexOf(id);
    if (place >= 0) this.#order.splice(place, 1);
  }

  /** Note a notification; return whether it is new. */
  #remember(id) {
    if (this.#recent.has(id)) return false;
    this.#recent.add(id);
    if (this.#recent.size > RECENT) this.#recent.delete(this.#recent.values().next().value);
    return true;
  }
}

/** Change the counts by the difference between two states of an item. */
function adjust(counts, before, after) {
  const categories = (counts.categories ??= {});
  const category = categories[before.category];
  const is = (item, key) => Number(isListed(item) && (key === null || !item[key]));
  for (const [name, key] of [["unread", "read_at"], ["unseen", "seen_at"], ["total", null]]) {
    const step = is(after, key) - is(before, key);
    counts[name] = Math.max(0, counts[name] + step);
    if (category && name in category) category[name] = Math.max(0, category[name] + step);
  }
}

/** Change the counts by a mark of the whole inbox or of a category. */
function adjustAll(counts, { action, category }) {
  const names = { seen: ["unseen"], read: ["unread", "unseen"], archive: ["unread", "unseen", "total"] }[action];
  for (const [name, own] of Object.entries(counts.categories ?? {})) {
    if (category && name !== category) continue;
    for (const each of names) {
      if (category) counts[each] = Math.max(0, counts[each] - (own[each] ?? 0));
      if (each in own) own[each] = 0;
    }
  }
  if (!category) for (const each of names) counts[each] = 0;
}
