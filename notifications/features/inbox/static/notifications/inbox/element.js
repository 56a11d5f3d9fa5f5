import { NotifyInbox } from "./client.js";
import { h, icon, placeBeside, safeUrl, set, toggle } from "./dom.js";
import { Row } from "./row.js";
import STYLE from "./style.css";
import { Words } from "./texts.js";

export { NotifyInbox } from "./client.js";

const MOST_SHOWN = 99; // in the badge
const SEEN_AFTER = 800; // milliseconds for which an item is in sight until it counts as seen
const NOTE_AFTER = 1500; // milliseconds without a connection until a line says so
const ORIGIN = new URL(import.meta.url).origin;
let sheet = null;

/** `<notify-inbox>`: a bell with the number of unread messages, and a panel with the messages. */
export class NotifyInboxElement extends HTMLElement {
  static observedAttributes = ["locale", "token", "token-url", "base-url", "user-id", "category-labels", "brand"];
  words = new Words("en");
  #inbox = null;
  #token; // undefined: the attributes say where tokens come from
  #labels = {};
  #rows = new Map();
  #isOpen = false;
  #opensLater = false; // `open` was set before the element came into the page
  #current = null; // id of the row that Tab reaches
  #tab = "all";
  #fresh = 0;
  #timers = {};
  #observer = null;
  #inSight = new Map();
  #menuButton = null;
  #ends = null;
  #brandSheet = new CSSStyleSheet();
  #brand = null;
  #brokenLogo = "";

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open", delegatesFocus: false });
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
    }
    root.adoptedStyleSheets = [sheet, this.#brandSheet];
    this.#build(root);
  }

  // --- Properties for the page

  /** The headless client; null before the element is in the page. */
  get inbox() {
    return this.#inbox;
  }

  /** A token, or an async function that returns a token, or null if nobody is signed in. */
  set token(token) {
    this.#token = token;
    this.#restart();
  }

  /** Names of categories, such as `{orders: "My orders"}`. */
  set categoryLabels(labels) {
    this.#labels = labels ?? {};
    if (this.#inbox) this.#render();
  }

  /** Further URL schemes that links may have, from the attribute `url-schemes`. */
  get schemes() {
    return (this.getAttribute("url-schemes") ?? "").split(/\s+/).filter(Boolean);
  }

  get open() {
    return this.#isOpen;
  }

  set open(isOpen) {
    if (!this.#inbox) this.#opensLater = Boolean(isOpen);
    else if (Boolean(isOpen) !== this.#isOpen) isOpen ? this.#show() : this.#hide();
  }

  // --- Life

  connectedCallback() {
    for (const name of ["token", "categoryLabels", "open"]) {
      if (!Object.hasOwn(this, name)) continue; // set before the class was defined
      const value = this[name];
      delete this[name];
      this[name] = value;
    }
    this.#ends = new AbortController();
    const { signal } = this.#ends;
    document.addEventListener("pointerdown", (event) => this.#outside(event), { signal });
    window.addEventListener("resize", () => this.#place(), { signal });
    window.addEventListener("scroll", () => this.#place(), { signal, passive: true });
    document.addEventListener("visibilitychange", () => this.#watchSight(), { signal });
    this.#timers.age = setInterval(() => this.#tick(), 30_000);
    this.#observer = new IntersectionObserver((entries) => this.#sight(entries), { root: this.scroll, threshold: 0.6 });
    this.#speak();
    this.#restart();
    this.open = this.#opensLater;
    this.#opensLater = false;
  }

  disconnectedCallback() {
    this.open = false;
    this.#ends.abort();
    this.#observer.disconnect();
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#timers = {};
    this.#inbox?.stop();
    this.#inbox = null;
  }

  attributeChangedCallback(name, before, now) {
    if (before === now || !this.#ends || this.#ends.signal.aborted) return;
    if (name === "locale" || name === "category-labels") this.#speak();
    else if (name === "brand") this.#render();
    else this.#restart();
  }

  #restart() {
    if (!this.isConnected || !this.#ends) return;
    this.#inbox?.stop();
    const token = this.#token ?? this.getAttribute("token") ?? undefined;
    const tokenUrl = this.getAttribute("token-url") ?? undefined;
    this.#clear();
    const inbox = new NotifyInbox({
      baseUrl: this.getAttribute("base-url") || ORIGIN,
      userId: this.getAttribute("user-id") || "me",
      token,
      tokenUrl,
    });
    this.#inbox = inbox;
    inbox.language = this.words.language;
    const only = (handle) => (event) => inbox === this.#inbox && handle(event);
    inbox.addEventListener("change", only(() => this.#render()));
    inbox.addEventListener("item", only(({ detail }) => this.#announce(detail)));
    inbox.addEventListener("state", only(({ detail }) => this.#emit("notify-state", { state: detail })));
    inbox.addEventListener("refused", only(() => this.#say(this.words.texts.refused)));
    if (token || tokenUrl || this.#token === null) inbox.start();
    this.#render();
  }

  // --- Structure

  #build(root) {
    const click = (handle) => ({ type: "button", onclick: handle });
    this.badge = h("span", { class: "badge", part: "badge", hidden: true, "aria-hidden": "true" });
    this.bell = h("button", { class: "bell", part: "bell", "aria-haspopup": "dialog", "aria-expanded": "false", "aria-controls": "panel", ...click(() => (this.open = !this.open)) }, icon("bell"));
    this.logo = h("img", { class: "logo", part: "logo", hidden: true, loading: "lazy", referrerpolicy: "no-referrer", onerror: () => this.#hideBrokenLogo() });
    this.heading = h("h2", { id: "title", part: "title", tabindex: "-1" });
    this.readAll = h("button", { class: "icon", part: "button", ...click(() => this.#readAll()) }, icon("checks"));
    this.closing = h("button", { class: "icon", part: "button", ...click(() => (this.open = false)) }, icon("close"));
    this.tabs = h("div", { class: "tabs", part: "tabs", role: "tablist", onkeydown: (event) => this.#tabKeys(event) });
    this.noteText = h("span", {});
    this.noteButton = h("button", click(() => this.#inbox?.retry()));
    this.note = h("div", { class: "note", part: "note", hidden: true }, this.noteText, this.noteButton);
    this.list = h("div", { role: "feed", part: "list", onkeydown: (event) => this.#listKeys(event), onfocusin: (event) => this.#focused(event) });
    this.bones = h("div", { class: "bones", "aria-hidden": "true" }, ...Array.from({ length: 6 }, () => h("div", { class: "bone" }, h("i"), h("i"), h("i"), h("i"))));
    this.emptyTitle = h("b");
    this.emptyText = h("span");
    this.empty = h("div", { class: "empty", part: "empty", hidden: true }, h("slot", { name: "empty" }, h("i", {}, icon("bell")), this.emptyTitle, this.emptyText));
    this.scroll = h("div", { class: "scroll", part: "scroll", role: "tabpanel", id: "list", tabindex: "-1", onscroll: () => this.#scrolled() }, this.list, this.bones, this.empty);
    this.live = h("div", { class: "hide", role: "status", "aria-live": "polite" });
    this.menu = h("div", { class: "menu", part: "menu", role: "menu", popover: "manual", onkeydown: (event) => this.#menuKeys(event) });
    this.panel = h(
      "div",
      { class: "panel", part: "panel", id: "panel", role: "dialog", "aria-modal": "true", "aria-labelledby": "title", popover: "manual", onkeydown: (event) => this.#panelKeys(event) },
      h("div", { class: "head", part: "header" }, this.logo, this.heading, this.readAll, this.closing),
      this.tabs, this.note, this.scroll, this.menu,
    );
    root.append(this.bell, this.badge, this.panel, this.live);
  }

  /** Take the texts of the language: attribute `locale`, else the language of the page. */
  #speak() {
    const wanted = this.getAttribute("locale") || this.closest("[lang]")?.lang || navigator.language;
    this.words = new Words(wanted);
    try {
      this.#labels = { ...this.#labels, ...JSON.parse(this.getAttribute("category-labels") || "{}") };
    } catch {
      console.warn("notify-inbox: the attribute category-labels is not a JSON object.");
    }
    const { texts, language, direction } = this.words;
    for (const element of [this.panel, this.live]) {
      set(element, "lang", language);
      set(element, "dir", direction);
    }
    this.heading.textContent = texts.title;
    for (const [button, text] of [[this.readAll, texts.readAll], [this.closing, texts.close]]) {
      set(button, "aria-label", text);
      set(button, "title", text);
    }
    set(this.list, "aria-label", texts.list);
    set(this.tabs, "aria-label", texts.views);
    this.noteButton.textContent = texts.retry;
    for (const row of this.#rows.values()) row.element.remove();
    this.#rows.clear();
    if (!this.#inbox) return;
    this.#inbox.language = language;
    this.#render();
  }

  /** Return the name of a category: from the page, else from the service, else from its code. */
  labelOf(category) {
    const name = this.#labels[category] ?? this.#inbox.getSnapshot().categoryNames[category] ?? category.replaceAll(/[_-]+/g, " ").toLowerCase();
    return name.charAt(0).toUpperCase() + name.slice(1);
  }

  // --- Showing the state

  #render() {
    const shown = this.#inbox.getSnapshot();
    this.#renderBrand(shown);
    this.#renderBell(shown);
    if (!this.#isOpen) return;
    this.#renderTabs(shown);
    this.#renderNote(shown);
    this.#renderList(shown);
  }

  /** Take the look of the brand, which the custom properties of the page replace. The former look stays until page 1 is there. */
  #renderBrand({ brand, loaded }) {
    const look = this.getAttribute("brand") === "none" ? null : brand;
    if (!loaded || look === this.#brand) return;
    this.#brand = look;
    const src = safeUrl(look?.logo_url);
    set(this.logo, "alt", look?.logo_alt ?? "");
    set(this.logo, "src", src);
    this.logo.hidden = !src || src === this.#brokenLogo;
    this.#brandSheet.replaceSync(look ? `:host { --notify-brand-color: ${look.color}; --notify-brand-dark: ${look.color_on_dark}; --notify-brand-font: ${look.font} }` : "");
  }

  /** Hide the logo until its URL changes: a new page 1 renders the brand again, and loads an unchanged URL no second time. */
  #hideBrokenLogo() {
    this.#brokenLogo = this.logo.getAttribute("src");
    this.logo.hidden = true;
  }

  #renderBell({ counts }) {
    const { texts, numbers } = this.words;
    const unread = counts.unread ?? 0;
    const text = unread > MOST_SHOWN ? `${numbers.format(MOST_SHOWN)}+` : numbers.format(unread);
    this.badge.hidden = unread === 0;
    if (this.badge.textContent !== text) this.badge.textContent = text;
    set(this.bell, "aria-label", unread ? `${texts.title}, ${this.words.count("unreadCount", unread)}` : texts.title);
    this.readAll.disabled = unread === 0;
    if (this.dataset.unread === String(unread)) return;
    this.dataset.unread = unread;
    this.#emit("notify-counts", counts);
  }

  #renderTabs({ counts }) {
    const { texts, numbers } = this.words;
    const tabs = [["all", texts.all, 0], ["unread", texts.unread, counts.unread]];
    for (const [name, own] of Object.entries(counts.categories ?? {}).sort()) {
      tabs.push([`category:${name}`, this.labelOf(name), own.unread]);
    }
    tabs.push(["snoozed", texts.snoozed, 0], ["archived", texts.archived, 0]);
    const drawn = JSON.stringify([tabs, this.#tab]);
    if (this.tabs.drawn === drawn) return;
    this.tabs.drawn = drawn;
    const hadFocus = this.tabs.contains(this.shadowRoot.activeElement);
    this.tabs.replaceChildren(...tabs.map(([key, text, count]) => {
      const isChosen = key === this.#tab;
      const number = count ? h("b", {}, numbers.format(count)) : null;
      return h("button", { class: "tab", part: isChosen ? "tab tab-selected" : "tab", type: "button", role: "tab", id: `tab-${key}`, "aria-selected": String(isChosen), "aria-controls": "list", tabindex: isChosen ? "0" : "-1", onclick: () => this.#choose(key) }, text, number);
    }));
    set(this.scroll, "aria-labelledby", `tab-${this.#tab}`);
    if (hadFocus) this.tabs.querySelector("[aria-selected=true]")?.focus();
  }

  #renderNote({ state, error, loaded }) {
    const { texts } = this.words;
    const text = { offline: texts.offline, reconnecting: texts.reconnecting, signed_out: texts.signedOut, error: texts.error }[state];
    if (text && state !== this.note.state) {
      const isLate = state === "reconnecting" && loaded;
      clearTimeout(this.#timers.note);
      this.#timers.note = setTimeout(() => (this.note.hidden = false), isLate ? NOTE_AFTER : 0);
    }
    if (!text) {
      clearTimeout(this.#timers.note);
      this.note.hidden = true;
    }
    this.note.state = text ? state : null;
    this.noteText.textContent = text ?? "";
    set(this.note, "title", error?.message ?? "");
    this.noteButton.hidden = state !== "error" && state !== "signed_out";
  }

  #renderList({ items, loaded, loadingMore, hasMore, state, view }) {
    this.bones.hidden = loaded && !loadingMore;
    this.empty.hidden = !loaded || items.length > 0;
    if (!loaded && (state === "signed_out" || state === "error")) this.bones.hidden = true;
    const { texts } = this.words;
    const isInbox = view.tab === "inbox" && !view.category;
    this.emptyTitle.textContent = isInbox ? texts.empty : texts.emptyView;
    this.emptyText.textContent = isInbox ? texts.emptyMore : "";
    set(this.list, "aria-busy", String(!loaded || loadingMore));
    this.#reconcile(loaded ? items : []);
    const size = hasMore ? -1 : items.length;
    let position = 0;
    for (const { message_id: id } of loaded ? items : []) {
      position += 1;
      const { element } = this.#rows.get(id);
      set(element, "aria-posinset", position);
      set(element, "aria-setsize", size);
    }
    if (loaded && hasMore) requestAnimationFrame(() => this.#scrolled());
  }

  /** Make the rows those of the items: each row is made once, moved never, and removed when gone. */
  #reconcile(items) {
    const wanted = new Set(items.map((item) => item.message_id));
    for (const [id, row] of this.#rows) {
      if (!wanted.has(id)) this.#removeRow(id, row);
    }
    const isFirst = this.#rows.size === 0;
    let place = this.list.firstElementChild;
    for (const item of items) {
      let row = this.#rows.get(item.message_id);
      if (row) row.update(item);
      else {
        row = new Row(this, item, !isFirst && place !== null);
        this.#rows.set(item.message_id, row);
        row.current = false;
        if (!item.seen_at) this.#observer.observe(row.element);
      }
      if (row.element === place) place = place.nextElementSibling;
      else this.list.insertBefore(row.element, place);
    }
    if (!this.#rows.has(this.#current)) this.#setCurrent(items[0]?.message_id ?? null);
  }

  #removeRow(id, row) {
    const hadFocus = row.element.contains(this.shadowRoot.activeElement);
    const next = row.element.nextElementSibling ?? row.element.previousElementSibling;
    this.#observer.unobserve(row.element);
    this.#unsight(id);
    row.element.remove();
    this.#rows.delete(id);
    if (!hadFocus) return;
    if (next) this.#focusRow(next);
    else this.heading.focus();
  }

  #clear() {
    this.#closeMenu();
    for (const [id, row] of [...this.#rows]) this.#removeRow(id, row);
    this.#tab = "all";
    clearTimeout(this.#timers.seen);
    this.#seenIds = this.#timers.seen = undefined; // ids of the former person's messages
  }

  #tick() {
    const now = Date.now();
    for (const row of this.#rows.values()) row.tick(now);
  }

  // --- Panel

  #show() {
    this.#isOpen = true;
    set(this.bell, "aria-expanded", "true");
    toggle(this.panel, true);
    this.#place();
    this.#render();
    this.#watchSight();
    this.heading.focus({ preventScroll: true });
    this.#emit("notify-toggle", { open: true });
  }

  #hide() {
    this.#closeMenu();
    const hadFocus = this.panel.contains(this.shadowRoot.activeElement);
    this.#isOpen = false;
    set(this.bell, "aria-expanded", "false");
    toggle(this.panel, false);
    this.#watchSight();
    if (hadFocus) this.bell.focus({ preventScroll: true });
    this.#emit("notify-toggle", { open: false });
  }

  #place() {
    if (!this.#isOpen || innerWidth <= 480) {
      this.panel.removeAttribute("style");
      return;
    }
    const { top, bottom } = this.bell.getBoundingClientRect();
    const room = Math.max(top, innerHeight - bottom) - 16;
    this.panel.style.setProperty("--room", `${Math.max(320, room)}px`);
    placeBeside(this.panel, this.bell, getComputedStyle(this).direction);
  }

  #outside(event) {
    const path = event.composedPath();
    if (this.#menuButton && !path.includes(this.menu) && !path.includes(this.#menuButton)) this.#closeMenu();
    if (this.#isOpen && !path.includes(this)) this.open = false;
  }

  #panelKeys(event) {
    if (event.key === "Escape") {
      event.stopPropagation();
      this.open = false;
    }
    if (event.key !== "Tab") return;
    const all = [...this.panel.querySelectorAll("a[href], button")].filter(
      (each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility?.() !== false && !each.closest(".menu"),
    );
    const active = this.shadowRoot.activeElement;
    const rows = [...this.panel.querySelectorAll(".row[tabindex='0']")];
    const first = all[0];
    const last = all.at(-1) ?? rows.at(-1);
    if (event.shiftKey && (active === first || active === this.heading)) {
      event.preventDefault();
      last?.focus();
    } else if (!event.shiftKey && active === last) {
      event.preventDefault();
      first?.focus();
    }
  }

  #tabKeys(event) {
    const all = [...this.tabs.children];
    const isRtl = this.words.direction === "rtl";
    const step = { ArrowRight: isRtl ? -1 : 1, ArrowLeft: isRtl ? 1 : -1 }[event.key];
    const place = all.indexOf(this.shadowRoot.activeElement);
    let next;
    if (step) next = all[(place + step + all.length) % all.length];
    else if (event.key === "Home") [next] = all;
    else if (event.key === "End") next = all.at(-1);
    else if (event.key === "ArrowDown") return this.#focusFirst(event);
    if (!next) return undefined;
    event.preventDefault();
    next.focus();
    return next.click();
  }

  #choose(key) {
    if (key === this.#tab) return;
    this.#tab = key;
    this.scroll.scrollTop = 0;
    const [kind, category] = key.split(/:(.*)/s);
    if (kind === "category") this.#inbox.show({ category });
    else if (kind === "unread") this.#inbox.show({ unread: true });
    else this.#inbox.show({ tab: kind === "all" ? "inbox" : kind });
    this.tabs.querySelector(`[id="tab-${CSS.escape(key)}"]`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  #readAll() {
    const category = this.#tab.startsWith("category:") ? this.#tab.slice(9) : null;
    this.#inbox.readAll({ category });
    this.#say(this.words.texts.done);
    this.heading.focus({ preventScroll: true });
  }

  // --- List

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroll;
    if (scrollHeight - scrollTop - clientHeight < clientHeight) this.#inbox?.loadMore().catch(() => {});
  }

  #setCurrent(id) {
    const before = this.#rows.get(this.#current);
    if (before) before.current = false;
    this.#current = id;
    const now = this.#rows.get(id);
    if (now) now.current = true;
  }

  #focused(event) {
    const id = event.target.closest(".row")?.id.slice(2);
    if (id && id !== this.#current) this.#setCurrent(id);
  }

  #focusRow(element) {
    this.#setCurrent(element.id.slice(2));
    element.focus();
  }

  #focusFirst(event) {
    event.preventDefault();
    const first = this.list.firstElementChild;
    if (first) this.#focusRow(first);
  }

  #listKeys(event) {
    const row = event.target.closest(".row");
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const { item } = this.#rows.get(row.id.slice(2));
    const isRow = event.target === row;
    const targets = {
      ArrowDown: row.nextElementSibling,
      ArrowUp: row.previousElementSibling ?? this.tabs.querySelector("[aria-selected=true]"),
      PageDown: row.nextElementSibling,
      PageUp: row.previousElementSibling,
      Home: this.list.firstElementChild,
      End: this.list.lastElementChild,
    };
    if (event.key in targets) {
      event.preventDefault();
      const next = targets[event.key];
      if (next?.classList.contains("row")) this.#focusRow(next);
      else next?.focus();
    } else if (isRow && event.key === "Enter") {
      const link = row.querySelector(".title a");
      if (link) link.click();
      else this.follow(event, item, null);
    } else if (isRow && event.key === "Delete") this.toggleArchive(item);
  }

  /** Open an item: it is read; the page may handle the cancelable event `notify-open` itself. */
  follow(event, item, url) {
    if (!item.read_at) this.#inbox.markRead(item.message_id);
    const isHandled = !this.#emit("notify-open", { item, url }, { cancelable: true });
    if (isHandled) event.preventDefault();
    if (isHandled || (url && !this.getAttribute("link-target") && !event.metaKey && !event.ctrlKey)) this.open = false;
  }

  async runAction(item, action, button) {
    button.disabled = true;
    try {
      await this.#inbox.runAction(item.message_id, action.id);
      this.#say(`${action.label}: ${this.words.texts.done}`);
      this.#emit("notify-action", { item, action });
    } catch {
      this.#say(this.words.texts.refused);
    } finally {
      button.disabled = false;
    }
  }

  toggleRead(item) {
    if (item.read_at) this.#inbox.markUnread(item.message_id);
    else this.#inbox.markRead(item.message_id);
  }

  toggleArchive(item) {
    if (item.archived_at) this.#inbox.unarchive(item.message_id);
    else this.#inbox.archive(item.message_id);
  }

  // --- Menu of an item

  openMenu(button, item) {
    if (this.#menuButton === button) return this.#closeMenu();
    this.#closeMenu();
    const { texts, hour } = this.words;
    const id = item.message_id;
    const entry = (name, text, run, more) =>
      h("button", { class: "item", type: "button", role: "menuitem", tabindex: "-1", onclick: () => this.#pick(run) }, icon(name), text, more ? h("small", {}, more) : null);
    const times = snoozeTimes().map(([name, at]) => entry("clock", texts[name], () => this.#inbox.snooze(id, at), hour.format(at)));
    if (item.snoozed_until) times.unshift(entry("close", texts.unsnooze, () => this.#inbox.unsnooze(id)));
    this.menu.replaceChildren(
      entry(item.read_at ? "mail" : "check", item.read_at ? texts.markUnread : texts.read, () => this.toggleRead(item)),
      entry(item.archived_at ? "inbox" : "archive", item.archived_at ? texts.unarchive : texts.archive, () => this.toggleArchive(item)),
      h("div", { class: "group", role: "group", "aria-label": texts.snooze }, h("span", { "aria-hidden": "true" }, texts.snooze), ...times),
      entry("bin", texts.remove, () => this.#inbox.remove(id)),
    );
    set(this.menu, "aria-label", texts.options);
    this.#menuButton = button;
    set(button, "aria-expanded", "true");
    toggle(this.menu, true);
    placeBeside(this.menu, button, this.words.direction);
    this.menu.querySelector(".item").focus();
    return undefined;
  }

  #pick(run) {
    const row = this.#menuButton?.closest(".row");
    this.#closeMenu();
    if (row) this.#focusRow(row);
    run();
  }

  #closeMenu() {
    if (!this.#menuButton) return;
    set(this.#menuButton, "aria-expanded", "false");
    this.#menuButton = null;
    toggle(this.menu, false);
  }

  #menuKeys(event) {
    const all = [...this.menu.querySelectorAll(".item")];
    const place = all.indexOf(this.shadowRoot.activeElement);
    const next = { ArrowDown: all[(place + 1) % all.length], ArrowUp: all.at(place - 1), Home: all[0], End: all.at(-1) }[event.key];
    if (!next && event.key !== "Escape" && event.key !== "Tab") return;
    event.preventDefault();
    event.stopPropagation();
    if (next) return void next.focus();
    const button = this.#menuButton;
    this.#closeMenu();
    button?.focus();
  }

  // --- Seen and new items

  /** Count as seen what is in sight for a moment while the panel and the page are visible. */
  #sight(entries) {
    for (const { target, isIntersecting } of entries) {
      const id = target.id.slice(2);
      this.#unsight(id);
      if (!isIntersecting || !this.#isOpen || document.hidden) continue;
      this.#inSight.set(id, setTimeout(() => this.#seen(id, target), SEEN_AFTER));
    }
  }

  #seen(id, target) {
    this.#inSight.delete(id);
    this.#observer.unobserve(target);
    this.#seenIds ??= [];
    this.#seenIds.push(id);
    this.#timers.seen ??= setTimeout(() => {
      this.#inbox?.markSeen(this.#seenIds);
      this.#seenIds = this.#timers.seen = undefined;
    }, 200);
  }

  #seenIds;

  #unsight(id) {
    clearTimeout(this.#inSight.get(id));
    this.#inSight.delete(id);
  }

  /** Observe again when the panel or the page becomes visible: the observer reports each row anew. */
  #watchSight() {
    for (const [id, row] of this.#rows) {
      this.#unsight(id);
      if (row.item.seen_at) continue;
      this.#observer.unobserve(row.element);
      this.#observer.observe(row.element);
    }
  }

  #announce(item) {
    this.#emit("notify-item", { item });
    this.#fresh += 1;
    this.#timers.fresh ??= setTimeout(() => {
      this.#say(this.words.count("fresh", this.#fresh));
      this.#fresh = 0;
      this.#timers.fresh = undefined;
    }, 1000);
  }

  /** Have a screen reader say a text. */
  #say(text) {
    this.live.textContent = "";
    setTimeout(() => (this.live.textContent = text), 50);
  }

  #emit(name, detail, more = {}) {
    return this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true, ...more }));
  }
}

/** Return the offered times: `[name of the text, Date]`. */
function snoozeTimes(now = new Date()) {
  const at = (days, hours) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hours);
  const toMonday = ((8 - now.getDay()) % 7) || 7;
  const times = [["hour", new Date(now.getTime() + 3_600_000)], ["tomorrow", at(1, 8)], ["week", at(toMonday, 8)]];
  if (now.getHours() < 17) times.splice(1, 0, ["evening", at(0, 18)]);
  return times;
}

if (!customElements.get("notify-inbox")) customElements.define("notify-inbox", NotifyInboxElement);
