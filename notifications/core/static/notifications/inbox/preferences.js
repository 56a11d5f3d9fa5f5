import { h } from "./dom.js";
import { LANGUAGES, PREFERENCE_TEXTS } from "./preference-texts.js";
import STYLE from "./preferences.css";
import { TokenSource, Transport } from "./transport.js";

const ORIGIN = new URL(import.meta.url).origin;
const SAVED_FOR = 4000; // milliseconds for which the line says that a change is saved
let sheet = null;

/** `<notify-preferences>`: the choices of a recipient by topic and channel; each change is saved at once. */
export class NotifyPreferencesElement extends HTMLElement {
  static observedAttributes = ["locale", "token", "token-url", "base-url", "user-id"];
  #token = null;
  #transport = null;
  #answer = null; // the preferences as the service sent them
  #drawn = ""; // channels and topics of the page as it is drawn
  #boxes = new Map();
  #changes = Promise.resolve(); // changes leave one after another
  #waiting = 0;
  #timer = null;
  #load = 0; // number of the newest load; an older one is dropped

  constructor() {
    super();
    this.attachShadow({ mode: "open" });
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
    }
    this.shadowRoot.adoptedStyleSheets = [sheet];
  }

  /** A token, or an async function that returns a token, or null if nobody is signed in. */
  set token(token) {
    this.#token = token;
    this.#restart();
  }

  /** The preferences as the service sent them; null before the first answer. */
  get preferences() {
    return this.#answer;
  }

  connectedCallback() {
    if (Object.hasOwn(this, "token")) {
      const { token } = this; // set before the class was defined
      delete this.token;
      this.#token = token;
    }
    this.#restart();
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
    this.#load += 1;
  }

  attributeChangedCallback(_name, before, now) {
    if (before !== now && this.#transport) this.#restart();
  }

  /** Load the preferences again. */
  async reload() {
    const load = ++this.#load;
    try {
      const answer = await this.#transport.json("GET", this.#path);
      if (load === this.#load) this.#show(answer);
    } catch (error) {
      if (load === this.#load) this.#fail(error);
    }
  }

  get #path() {
    const user = encodeURIComponent(this.getAttribute("user-id") || "me");
    const locale = this.getAttribute("locale");
    return `/v1/recipients/${user}/preferences${locale ? `?language=${encodeURIComponent(locale)}` : ""}`;
  }

  #restart() {
    if (!this.isConnected) return;
    const token = this.#token ?? this.getAttribute("token") ?? undefined;
    const tokens = new TokenSource({ token, tokenUrl: this.getAttribute("token-url") ?? undefined });
    const base = (this.getAttribute("base-url") || ORIGIN).replace(/\/+$/, "");
    this.#transport = new Transport(base, tokens);
    this.#answer = null;
    this.#drawn = "";
    this.#frame(this.getAttribute("locale") ?? navigator.language, h("p", { class: "soft" }, this.#texts(navigator.language).loading));
    this.shadowRoot.firstElementChild.setAttribute("aria-busy", "true");
    this.reload();
  }

  #texts(language) {
    return PREFERENCE_TEXTS[language.split("-")[0]] ?? PREFERENCE_TEXTS.en;
  }

  #frame(language, ...content) {
    const direction = language.startsWith("ar") ? "rtl" : "ltr";
    const root = h("section", { class: "root", part: "root", dir: direction, lang: language }, ...content);
    this.shadowRoot.replaceChildren(root);
  }

  #fail(error) {
    const language = this.getAttribute("locale") ?? navigator.language;
    const texts = this.#texts(language);
    const isSignedOut = error.status === 401;
    this.#frame(
      language,
      h("p", { role: "alert" }, isSignedOut ? texts.signedOut : texts.error),
      isSignedOut ? null : h("button", { type: "button", onclick: () => this.#restart() }, texts.retry),
    );
    this.dispatchEvent(new CustomEvent("notify-error", { detail: error, bubbles: true, composed: true }));
  }

  // --- Drawing

  #show(answer) {
    this.#answer = answer;
    const names = (topic) => [topic.topic, topic.name, topic.description, topic.mandatory, topic.digest === null, topic.types?.map(names)];
    const drawn = JSON.stringify([answer.language, answer.channels.map((each) => each.channel), answer.topics.map(names), answer.quiet_hours]);
    if (drawn !== this.#drawn) {
      this.#drawn = drawn;
      this.#draw(answer);
    }
    this.#tick(answer);
  }

  /** Draw the page; the element with the focus keeps it. */
  #draw(answer) {
    const texts = this.#texts(answer.language);
    const focus = this.shadowRoot.activeElement?.dataset.key;
    const open = new Set([...this.shadowRoot.querySelectorAll("details[open]")].map((each) => each.dataset.topic));
    this.#boxes.clear();
    this.#frame(
      answer.language,
      h("h2", { part: "title" }, texts.title),
      h("p", { class: "status", role: "status", part: "status" }),
      h("div", { class: "part" }, h("h3", { id: "channels" }, texts.channels), h("p", { class: "soft", id: "note" }, texts.channelNote), this.#channels(answer)),
      h("div", { class: "part" }, h("h3", {}, texts.topics), ...answer.topics.flatMap((topic) => this.#category(topic, open, texts))),
      this.#quiet(answer, texts),
      this.#place(answer, texts),
    );
    if (focus) this.shadowRoot.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
  }

  #channels({ channels }) {
    const labels = channels.map(({ channel, name }) => this.#box(`/${channel}`, name, { channel }));
    return h("div", { class: "cells", role: "group", "aria-labelledby": "channels", "aria-describedby": "note" }, ...labels);
  }

  #category(topic, open, texts) {
    const all = [this.#topic(topic, texts)];
    if (topic.types?.length > 1) {
      const label = `${texts.types}: ${topic.name}`;
      const types = topic.types.map((type) => this.#topic(type));
      all.push(h("details", { open: open.has(topic.topic), "data-topic": topic.topic }, h("summary", {}, label), ...types));
    }
    return all;
  }

  #topic({ topic, name, description, mandatory_reason: reason, cells, digest }, texts = null) {
    const named = new Map(this.#answer.channels.map((each) => [each.channel, each.name]));
    return h(
      "fieldset",
      { part: "topic" },
      h("legend", {}, name),
      description ? h("p", { class: "soft" }, description) : null,
      reason ? h("p", { class: "soft" }, reason) : null,
      h("div", { class: "cells" }, ...cells.map(({ channel }) => this.#box(`${topic}/${channel}`, named.get(channel), { topic, channel }))),
      texts && digest ? this.#digest(topic, texts) : null,
    );
  }

  #digest(topic, texts) {
    const select = h(
      "select",
      { "data-key": `${topic}/digest`, onchange: () => this.#save({ digests: { [topic]: select.value } }) },
      ...["at_once", "daily", "weekly"].map((value) => h("option", { value }, texts[value])),
    );
    this.#boxes.set(`${topic}/digest`, select);
    return h("label", { class: "field" }, texts.emails, select);
  }

  #box(key, name, cell) {
    const box = h("input", { type: "checkbox", "data-key": key, onchange: () => this.#save({ choices: [{ ...cell, on: box.checked }] }) });
    this.#boxes.set(key, box);
    return h("label", {}, box, h("span", {}, name));
  }

  #quiet({ quiet_hours: windows }, texts) {
    const isSimple = windows.length === 0 || (windows.length === 1 && !windows[0].days.length && !windows[0].channels.length);
    const input = (key, value) => h("input", { type: "time", "data-key": key, value, "aria-describedby": "quiet", onchange: () => this.#changeQuiet() });
    const [first] = isSimple ? windows : [];
    const list = windows.map(({ start, end, days }) => h("li", {}, [`${start} - ${end}`, ...days].join(" ")));
    return h(
      "div",
      { class: "part" },
      h("h3", {}, texts.quiet),
      h("p", { class: "soft", id: "quiet" }, texts.quietNote),
      isSimple ? null : h("p", {}, texts.replaces),
      isSimple ? null : h("ul", {}, ...list),
      h("div", { class: "pair" }, h("label", { class: "field" }, texts.from, input("start", first?.start ?? "")), h("label", { class: "field" }, texts.to, input("end", first?.end ?? ""))),
      windows.length ? h("button", { type: "button", onclick: () => this.#save({ quiet_hours: [] }) }, texts.none) : null,
    );
  }

  #changeQuiet() {
    const [start, end] = ["start", "end"].map((key) => this.shadowRoot.querySelector(`[data-key=${key}]`).value.slice(0, 5));
    if (start && end && start !== end) this.#save({ quiet_hours: [{ start, end }] });
  }

  #place({ locale, timezone }, texts) {
    const select = (name, options, value) => h(
      "select",
      { "data-key": name, onchange: (event) => this.#save({ [name]: event.target.value }) },
      ...options.map(([tag, label]) => h("option", { value: tag, selected: tag === value }, label)),
    );
    const languages = Object.entries({ ...(locale in LANGUAGES ? {} : { [locale]: locale }), ...LANGUAGES });
    const zones = new Set([timezone, ...(Intl.supportedValuesOf?.("timeZone") ?? [])].filter(Boolean));
    return h(
      "div",
      { class: "part" },
      h("h3", {}, texts.place),
      h(
        "div",
        { class: "pair" },
        h("label", { class: "field" }, texts.locale, select("locale", languages, locale)),
        h("label", { class: "field" }, texts.timezone, select("timezone", [["", texts.unknown], ...[...zones].map((zone) => [zone, zone])], timezone)),
      ),
    );
  }

  /** Set the state of each box. */
  #tick({ channels, topics, locale, timezone }) {
    for (const { channel, on } of channels) this.#boxes.get(`/${channel}`).checked = on;
    for (const topic of topics) {
      if (topic.digest) this.#boxes.get(`${topic.topic}/digest`).value = topic.digest;
      for (const { topic: name, cells } of [topic, ...(topic.types?.length > 1 ? topic.types : [])]) {
        for (const { channel, on, locked } of cells) {
          const box = this.#boxes.get(`${name}/${channel}`);
          box.checked = on;
          box.disabled = locked !== "";
        }
      }
    }
    for (const [key, value] of Object.entries({ locale, timezone })) this.shadowRoot.querySelector(`[data-key=${key}]`).value = value;
  }

  // --- Saving

  #save(change) {
    const [transport, path] = [this.#transport, this.#path]; // of the person who made the change
    this.#waiting += 1;
    this.#say("saving");
    this.#changes = this.#changes.then(() => this.#send(change, transport, path));
  }

  async #send(change, transport, path) {
    try {
      const answer = await transport.json("PATCH", path, { body: change });
      this.#waiting -= 1;
      if (transport !== this.#transport) return;
      // An answer would undo the boxes of the changes that are still under way.
      if (this.#waiting === 0) this.#show(answer);
      else this.#answer = answer;
      this.#say("saved");
      this.dispatchEvent(new CustomEvent("notify-preferences", { detail: answer, bubbles: true, composed: true }));
    } catch (error) {
      this.#waiting -= 1;
      if (transport !== this.#transport) return;
      if (this.#waiting === 0) this.#show(this.#answer);
      this.#say("refused");
      this.dispatchEvent(new CustomEvent("notify-error", { detail: error, bubbles: true, composed: true }));
    }
  }

  #say(name) {
    const line = this.shadowRoot.querySelector(".status");
    if (!line) return;
    clearTimeout(this.#timer);
    line.textContent = this.#texts(this.#answer.language)[name];
    line.classList.toggle("bad", name === "refused");
    if (name === "saved") this.#timer = setTimeout(() => (line.textContent = ""), SAVED_FOR);
  }
}

if (!customElements.get("notify-preferences")) customElements.define("notify-preferences", NotifyPreferencesElement);
