import { InboxError, STREAMS, TokenSource, Transport, backOff, claimsOf, otherRecipient, serverSentEvents } from "./transport.js";
import { Detail, Target } from "./events.js";
import { Tabs, canShare } from "./tabs.js";
import { Model } from "./model.js";

const PAGE = 50;
const MOST_IDS = 200; // ids in one request
const POLL_EVERY = 15_000;
const POLL_EVERY_HIDDEN = 60_000;
const POLL_FOR = [10_000, 300_000]; // least and most milliseconds of polling until the stream is tried again
const NO_STREAM = new Set([400, 404, 405, 406, 415, 421, 501]);
const LONGEST_PAUSE = 3_600_000; // a timer of more than 2^31 milliseconds would end at once
const BROKEN_STREAMS = 3; // streams without a first event until the client polls

/** Return the query of a URL, without empty values. The `URLSearchParams` of React Native is not complete. */
function queryOf(values) {
  const given = Object.entries(values).filter(([, value]) => value);
  return given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}

/** An inbox without a user interface: items, counts, live changes and marks. Types: notify-inbox.d.ts */
export class NotifyInbox extends Target {
  #transport;
  #path;
  #language = "en"; // of the names of categories
  #pageSize;
  #share;
  #model = new Model();
  #state = "connecting";
  #streaming = false;
  #error = null;
  #snapshot = null;
  #announced = false;
  #loadingMore = null;
  #run = null; // AbortController of the connection
  #tabs = null;
  #streamUrl = null;
  #retryHint = 0;
  #brokenStreams = 0;
  #pollFor = POLL_FOR[0];
  #flushing = null;
  #wake = null;
  #viewNumber = 0;
  #failedPages = 0;

  constructor({ baseUrl, userId = "me", token, tokenUrl, pageSize = PAGE, share = true } = {}) {
    super();
    const base = String(baseUrl ?? globalThis.location?.origin ?? "").replace(/\/+$/, "");
    const onOwner = () => this.#changeOwner();
    this.#transport = new Transport(base, new TokenSource({ token, tokenUrl, onOwner }));
    this.#path = `/v1/inbox/${encodeURIComponent(userId)}`;
    this.#pageSize = pageSize;
    this.#share = share && canShare() ? `notify-inbox ${base}` : null;
  }

  // --- Connection

  /** Load page 1 and follow the changes until `stop`. A second call does nothing. */
  start() {
    if (this.#run) return this;
    this.#run = new AbortController();
    const { signal } = this.#run;
    globalThis.addEventListener?.("online", () => this.#reconnect(), { signal });
    globalThis.addEventListener?.("offline", () => this.#reconnect(), { signal });
    globalThis.addEventListener?.("pagehide", () => this.#suspend(), { signal });
    globalThis.document?.addEventListener("resume", () => this.#reconnect(), { signal }); // after a freeze
    this.#connect(signal);
    return this;
  }

  /** End the connection; waiting marks are sent first while the page lives. */
  stop() {
    this.#run?.abort();
    this.#run = null;
    this.#streaming = false;
    this.#wake?.();
  }

  /** Try again at once, for example after a sign-in. */
  retry() {
    this.stop();
    return this.start();
  }

  /** Ask for changes now, for example when a push arrives. */
  async refresh() {
    if (!this.#run || !this.#model.loaded) return;
    try {
      await this.#catchUp(this.#run.signal);
    } catch (error) {
      if (error.status === 401) this.#fail(error);
      throw error;
    }
  }

  /** A page in the back-forward cache may hold no connection. Marks that wait for another mark leave now. */
  #suspend() {
    this.stop();
    for (const mark of this.#model.marks.slice(1)) this.#send(mark).catch(() => {});
    globalThis.addEventListener?.("pageshow", ({ persisted }) => persisted && this.start(), { once: true });
  }

  #reconnect() {
    if (globalThis.navigator?.onLine === false) this.#setState("offline");
    this.retry();
  }

  async #connect(signal) {
    for (let failures = 0; !signal.aborted; failures += 1) {
      if (globalThis.navigator?.onLine === false) return this.#setState("offline");
      try {
        if (!this.#model.loaded) {
          this.#setState(failures > 0 ? "reconnecting" : "connecting");
          await this.#loadFirst(signal);
        }
        this.#flush();
        await this.#follow(signal);
      } catch (error) {
        if (signal.aborted) return undefined;
        if (!(error instanceof InboxError)) error = new InboxError(String(error?.message ?? error));
        if (!error.temporary) return this.#fail(error);
        this.#error = error;
        this.#setState("reconnecting");
        await this.#pause(Math.max(backOff(failures), error.retryAfter * 1000), signal);
      }
    }
    return undefined;
  }

  /** Another person is signed in, or nobody: show nothing of the former person, here and in other tabs. */
  #forgetOwner() {
    const { marks, view } = this.#model;
    this.#tabs?.tell({ kind: "owner" });
    this.#model = new Model();
    this.#model.view = view;
    this.#viewNumber += 1;
    for (const mark of marks) mark.reject(otherRecipient());
    this.#changed();
  }

  #changeOwner() {
    this.#forgetOwner();
    if (this.#run) this.retry();
  }

  #fail(error) {
    if (error.status === 401) {
      this.#forgetOwner();
      this.stop();
    }
    this.#error = error;
    this.#setState(error.status === 401 ? "signed_out" : "error");
  }

  async #loadFirst(signal) {
    const number = this.#viewNumber;
    const page = await this.#page(this.#query(), signal);
    if (number !== this.#viewNumber) return this.#loadFirst(signal); // the view changed meanwhile
    this.#streamUrl = page.stream_url || null;
    this.#error = null;
    const isOld = this.#model.addPage(page, { first: true });
    this.#changed();
    return isOld ? this.#catchUp(signal) : undefined;
  }

  /** Follow the changes: by the stream of this tab, of another tab, or by polling. */
  async #follow(signal) {
    const token = await this.#transport.token();
    if (signal.aborted) return undefined;
    const { iss, sub, mode } = claimsOf(token ?? "");
    if (!this.#share || !sub) return this.#lead(signal);
    const name = `${this.#share} ${iss} ${mode} ${sub}`;
    const tabs = new Tabs(name, {
      lead: (leading) => this.#lead(leading).catch((error) => {
        if (error.status === 401) tabs.tell({ kind: "owner" }); // the channel closes with the lead
        throw error;
      }),
      heard: (message) => signal.aborted || this.#hear(message),
      signal,
    });
    this.#tabs = tabs;
    tabs.tell({ kind: "ping" }); // the leader answers with its state and version
    try {
      return await tabs.join();
    } catch (error) {
      if (error instanceof InboxError || signal.aborted) throw error;
      this.#share = null; // no locks here, such as in a frame without storage
      return undefined;
    } finally {
      if (this.#tabs === tabs) this.#tabs = null; // a retry may have begun
    }
  }

  async #lead(signal) {
    for (let failures = 0; !signal.aborted; ) {
      const begin = Date.now();
      try {
        if (STREAMS && this.#streamUrl && this.#brokenStreams < BROKEN_STREAMS) await this.#stream(signal);
        else await this.#poll(signal);
        if (Date.now() - begin < 1000) await this.#pause(backOff(failures), signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof InboxError) || !error.temporary) throw error;
        if (this.#streaming) failures = 0;
        this.#setState("reconnecting");
        await this.#pause(Math.max(backOff(failures, this.#retryHint), error.retryAfter * 1000), signal);
      } finally {
        failures = this.#streaming ? 0 : failures + 1;
        if (!signal.aborted) this.#streaming = false;
      }
    }
  }

  async #stream(signal) {
    const ending = new AbortController();
    const end = () => ending.abort();
    signal.addEventListener("abort", end, { once: true });
    let silence = setTimeout(end, 30_000); // until the first event says the heartbeat
    let greeted = false;
    try {
      const headers = { Accept: "text/event-stream", "Last-Event-ID": String(this.#model.cursor) };
      const response = await this.#transport.open("GET", this.#streamUrl, { headers, signal: ending.signal });
      if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
        throw new InboxError("The stream is not there.", { status: 404 });
      }
      let patience = 30_000;
      for await (const event of serverSentEvents(response.body)) {
        clearTimeout(silence);
        if (event.retry) this.#retryHint = event.retry;
        const data = event.data ? JSON.parse(event.data) : {};
        if (event.name === "hello") {
          greeted = true;
          this.#brokenStreams = 0;
          this.#pollFor = POLL_FOR[0];
          this.#streaming = true;
          patience = (data.heartbeat_seconds ?? 25) * 2500;
          if (this.#tabs) this.#tabs.heartbeatSeconds = data.heartbeat_seconds ?? 25;
          this.#setState("live");
        }
        silence = setTimeout(end, patience);
        if (event.name === "token_expired") return;
        if (event.name === "goodbye") return await this.#leaveRestarting(data, signal);
        await this.#take(event.name, data, signal);
      }
      throw new InboxError("The stream ended.");
    } catch (error) {
      if (signal.aborted) throw error;
      if (NO_STREAM.has(error.status)) this.#brokenStreams = BROKEN_STREAMS;
      else if (!greeted && !(error.status === 401)) this.#brokenStreams += 1;
      if (NO_STREAM.has(error.status)) return;
      throw error instanceof InboxError ? error : new InboxError("The stream broke.");
    } finally {
      clearTimeout(silence);
      signal.removeEventListener("abort", end);
      ending.abort();
    }
  }

  /** The live process restarts: come back when it says, at different times. */
  async #leaveRestarting(data, signal) {
    this.#setState("reconnecting");
    await this.#pause((data.retry_ms ?? 1000) * (0.5 + Math.random()), signal);
  }

  /** Take an event of the own stream, and tell the other tabs. */
  async #take(name, data, signal) {
    const since = this.#model.cursor;
    if (name === "changes") this.#addChanges(data);
    else if (name === "hello") this.#greet(data);
    else if (name === "reset") await this.#loadFirst(signal);
    if (name === "changes" || name === "reset") this.#tabs?.tell({ kind: name, data, since });
    else this.#tellAlive();
  }

  #greet({ version, counts }) {
    if (version !== this.#model.cursor) return; // the changes between follow
    if (counts) this.#model.takeCounts(counts, version);
    this.#model.refresh();
    this.#changed();
  }

  /** Poll, for as long as the stream is not tried again. */
  async #poll(signal) {
    const end = Date.now() + this.#pollFor;
    this.#pollFor = Math.min(POLL_FOR[1], this.#pollFor * 2);
    while (!signal.aborted && Date.now() < end) {
      await this.#catchUp(signal);
      this.#setState("live");
      this.#tellAlive();
      const pause = globalThis.document?.hidden ? POLL_EVERY_HIDDEN : POLL_EVERY;
      await this.#pause(pause * (0.8 + Math.random() * 0.4), signal);
    }
    this.#brokenStreams = BROKEN_STREAMS - 1;
  }

  /** Take all changes since the last known version. */
  async #catchUp(signal) {
    for (;;) {
      const since = this.#model.cursor;
      const answer = await this.#transport.json("GET", `${this.#path}/changes?since=${since}`, { signal });
      if (answer.reset) return this.#loadFirst(signal);
      this.#addChanges({ ...answer, items: answer.results });
      if (this.#model.cursor === since || !answer.has_more) return undefined;
    }
  }

  // --- Other tabs

  #tellAlive() {
    if (this.#tabs?.isLeader) this.#tabs.tell({ kind: "alive", state: this.#state, streaming: this.#streaming, version: this.#model.cursor });
  }

  /** Take a message of another tab; only the leader gets pings, only the others get the rest but `owner`. */
  #hear({ kind, state, streaming, version, data, since }) {
    const signal = this.#run?.signal;
    if (!signal) return;
    if (kind === "ping") return this.#tellAlive();
    if (kind === "owner") {
      this.#transport.forgetToken();
      return this.retry();
    }
    if (kind === "changes" && since > this.#model.cursor) version = data.version; // this tab lacks former changes
    else if (kind === "changes") this.#addChanges(data);
    if (kind === "reset") this.#loadFirst(signal).catch(() => {});
    if (kind === "alive") {
      this.#streaming = streaming;
      this.#setState(state);
    }
    if (version > this.#model.cursor) this.#catchUp(signal).catch(() => this.#tabs?.check());
  }

  #addChanges(data) {
    for (const item of this.#model.addChanges(data)) {
      this.dispatchEvent(new Detail("item", { detail: item }));
    }
    this.#changed();
  }

  // --- Reading

  /** Return the state; the same object until the next change. */
  getSnapshot = () => {
    this.#snapshot ??= Object.freeze({
      state: this.#state,
      transport: this.#streaming ? "stream" : "polling",
      loaded: this.#model.loaded,
      loadingMore: this.#loadingMore !== null,
      hasMore: this.#model.next !== null,
      items: this.#model.items(),
      counts: this.#model.counts,
      categoryNames: this.#model.names,
      brand: this.#model.brand,
      view: this.#model.view,
      waiting: this.#model.marks.length,
      error: this.#error,
    });
    return this.#snapshot;
  };

  /** Call a function after each change; return the function that ends the subscription. */
  subscribe = (listener) => {
    const call = () => listener(this.getSnapshot());
    this.addEventListener("change", call);
    return () => this.removeEventListener("change", call);
  };

  /** Ask for the names of categories in another language. */
  set language(language) {
    if (language === this.#language) return;
    this.#language = language;
    this.show(this.#model.view);
  }

  /** Choose the list: `tab` inbox, archived or snoozed; `category`; `unread` only. */
  async show({ tab = "inbox", category = null, unread = false } = {}) {
    this.#viewNumber += 1;
    this.#model.view = { tab, category, unread };
    this.#model.loaded = false;
    this.#changed();
    if (!this.#run) return;
    const { signal } = this.#run;
    try {
      await this.#loadFirst(signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof InboxError && !error.temporary) this.#fail(error);
      else this.retry();
    }
  }

  /** Load the next page; concurrent calls share one request. A failure comes after a pause, so that a caller may repeat. */
  loadMore() {
    if (this.#model.next === null || !this.#model.loaded) return Promise.resolve();
    this.#loadingMore ??= this.#loadNextOrPause().finally(() => {
      this.#loadingMore = null;
      this.#changed();
    });
    this.#changed();
    return this.#loadingMore;
  }

  async #loadNextOrPause() {
    const signal = this.#run?.signal;
    try {
      await this.#loadNext();
      this.#failedPages = 0;
    } catch (error) {
      await this.#pause(Math.max(backOff(this.#failedPages++), (error.retryAfter ?? 0) * 1000), signal);
      throw error;
    }
  }

  async #loadNext() {
    const number = this.#viewNumber;
    const query = this.#query({ cursor: this.#model.next });
    const page = await this.#page(query, this.#run?.signal);
    if (number !== this.#viewNumber) return;
    this.#model.addPage(page, { first: false });
  }

  #page(query, signal) {
    return this.#transport.json("GET", `${this.#path}?${query}`, { signal, headers: { "Accept-Language": this.#language } });
  }

  /** Return the items of a group, newest first. */
  async loadGroup(key) {
    return (await this.#page(queryOf({ group: key, limit: this.#pageSize }))).results;
  }

  #query(more) {
    const { tab, category, unread } = this.#model.view;
    return queryOf({ tab, limit: this.#pageSize, category, unread, ...more });
  }

  // --- Marks: shown at once, sent in order, kept while the service is away, taken back if refused

  markSeen = (ids) => this.#markEach("seen", ids);
  markRead = (ids) => this.#markEach("read", ids);
  markUnread = (ids) => this.#markEach("unread", ids);
  archive = (ids) => this.#markEach("archive", ids);
  unarchive = (ids) => this.#markEach("unarchive", ids);
  snooze = (ids, until) => this.#markEach("snooze", ids, { until: new Date(until).toISOString() });
  unsnooze = (ids) => this.#markEach("unsnooze", ids);
  remove = (ids) => this.#markEach("delete", ids);
  seenAll = (options) => this.#markAll("seen", options);
  readAll = (options) => this.#markAll("read", options);
  archiveAll = (options) => this.#markAll("archive", options);

  /** Run an action without a URL: the producer's service gets the webhook `inbox.action`. */
  async runAction(messageId, actionId) {
    const path = `${this.#path}/${messageId}/actions/${encodeURIComponent(actionId)}`;
    const answer = await this.#transport.json("POST", path);
    this.markRead(messageId);
    return answer;
  }

  #markEach(action, ids, more = {}) {
    const wanted = typeof ids === "string" ? [ids] : [...ids];
    const inBulk = action === "seen" || action === "read" || action === "archive";
    const size = inBulk ? MOST_IDS : 1;
    const marks = [];
    for (let place = 0; place < wanted.length; place += size) {
      marks.push(this.#mark({ action, ids: wanted.slice(place, place + size), ...more }));
    }
    return Promise.all(marks);
  }

  #markAll(action, { category = null } = {}) {
    return this.#mark({ action, ids: null, category, version: this.#model.cursor });
  }

  /** Show a mark and send it; the promise fails if the service refuses the mark. */
  #mark(mark) {
    const result = new Promise((resolve, reject) => Object.assign(mark, { resolve, reject }));
    result.catch(() => {}); // the event `refused` reports it too
    this.#model.marks.push(Object.assign(mark, { at: new Date().toISOString() }));
    this.#model.refresh();
    this.#changed();
    this.#flush();
    return result;
  }

  #flush() {
    this.#wake?.();
    this.#flushing ??= this.#sendMarks().finally(() => (this.#flushing = null));
  }

  async #sendMarks() {
    for (let failures = 0; this.#model.marks.length > 0; ) {
      const model = this.#model; // another one after a sign-in of another person
      const mark = model.marks[0];
      try {
        const answer = await this.#send(mark);
        failures = 0;
        model.confirm(mark, answer);
        mark.resolve(answer);
      } catch (error) {
        if (!(error instanceof InboxError) || error.temporary) {
          if (!this.#run) return; // the next start sends the rest
          await this.#pause(Math.max(backOff(failures), (error.retryAfter ?? 0) * 1000));
          failures += 1;
          continue;
        }
        if (model !== this.#model) continue;
        model.rollBack(mark);
        mark.reject(error);
        this.dispatchEvent(new Detail("refused", { detail: { error, action: mark.action } }));
        if (error.status === 401) this.#fail(error);
      }
      this.#changed();
    }
  }

  #send({ action, ids, category, version, until }) {
    if (ids === null) {
      const body = category ? { category, version } : { version };
      return this.#transport.json("POST", `${this.#path}/${action}-all`, { body });
    }
    if (ids.length > 1) {
      return this.#transport.json("POST", `${this.#path}/${action}`, { body: { message_ids: ids } });
    }
    const path = `${this.#path}/${ids[0]}`;
    if (action === "delete") return this.#transport.json("DELETE", path);
    return this.#transport.json("POST", `${path}/${action}`, { body: until ? { until } : undefined });
  }

  // --- Time and events

  /** Wait; `flush`, `stop` and the end of the signal wake up marks and connections early. */
  #pause(milliseconds, signal) {
    return new Promise((resolve) => {
      const timer = setTimeout(done, Math.min(milliseconds, LONGEST_PAUSE));
      const inbox = this;
      function done() {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        if (inbox.#wake === done) inbox.#wake = null;
        resolve();
      }
      if (signal?.aborted) done();
      else if (signal) signal.addEventListener("abort", done, { once: true });
      else this.#wake = done;
    });
  }

  #setState(state) {
    if (state === this.#state) return this.#changed();
    this.#state = state;
    if (state === "live") this.#error = null;
    this.dispatchEvent(new Detail("state", { detail: state }));
    this.#tellAlive();
    return this.#changed();
  }

  #changed() {
    this.#snapshot = null;
    if (this.#announced) return;
    this.#announced = true;
    queueMicrotask(() => {
      this.#announced = false;
      this.dispatchEvent(new Detail("change", { detail: this.getSnapshot() }));
    });
  }
}
