import { h, icon, safeUrl, set } from "./dom.js";

/** One item of the list. The row keeps its element, so focus and scroll position survive changes. */
export class Row {
  #owner; // the component
  #item = null;
  #controls = [];
  #members = null;

  constructor(owner, item, isNew) {
    this.#owner = owner;
    const id = `n-${item.message_id}`;
    this.time = h("time", { part: "item-time" });
    this.title = h("div", { class: "title", part: "item-title", id: `${id}-title` });
    this.body = h("p", { class: "body", part: "item-body", id: `${id}-body` });
    this.face = h("span", { class: "face", part: "item-image", "aria-hidden": "true" });
    this.category = h("span", {});
    this.state = h("span", { class: "hide" });
    this.buttons = h("div", { class: "buttons" });
    this.more = h("button", { class: "more", type: "button", "aria-expanded": "false", onclick: () => this.#toggleMembers() });
    this.toggleRead = h("button", { class: "icon quick", type: "button", onclick: () => owner.toggleRead(this.#item) });
    this.options = h(
      "button",
      { class: "icon", type: "button", "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => owner.openMenu(this.options, this.#item) },
      icon("dots"),
    );
    this.element = h(
      "div",
      { class: isNew ? "row new" : "row", part: "item", role: "article", tabindex: "-1", id, "aria-labelledby": `${id}-title`, "aria-describedby": `${id}-body` },
      h(
        "div",
        { class: "card", onclick: (event) => this.#click(event) },
        this.face, this.title, this.body,
        h("div", { class: "meta" }, this.time, this.category, this.state),
        this.buttons,
      ),
      h("div", { class: "tools" }, this.toggleRead, this.options),
      this.more,
    );
    this.update(item);
  }

  get item() {
    return this.#item;
  }

  /** Show another state of the item. */
  update(item) {
    const before = this.#item;
    if (before === item) return;
    this.#item = item;
    const { words } = this.#owner;
    const isUnread = !item.read_at;
    this.element.classList.toggle("unread", isUnread);
    this.state.textContent = isUnread ? words.texts.isUnread : "";
    this.#updateTools(words, isUnread);
    const isSame = before && before.title === item.title && before.body === item.body && before.url === item.url;
    if (!isSame) this.#fill(item);
    if (!before || before.image_url !== item.image_url) this.#updateFace(item);
    if (!before || JSON.stringify(before.actions) !== JSON.stringify(item.actions)) this.#updateActions(item);
    const others = (item.group?.size ?? 1) - 1;
    this.more.hidden = others < 1;
    if (!this.#members) this.more.textContent = words.count("more", others);
    this.tick();
  }

  /** Show the age. */
  tick(now = Date.now()) {
    const text = this.#owner.words.ago(this.#item.created_at, now);
    if (this.time.textContent !== text) this.time.textContent = text;
  }

  /** Make the controls reachable by Tab while the row is the current row. */
  set current(isCurrent) {
    set(this.element, "tabindex", isCurrent ? "0" : "-1");
    for (const control of this.element.querySelectorAll("a, button")) {
      set(control, "tabindex", isCurrent ? null : "-1");
    }
  }

  #fill({ title, body, url, created_at: created, category }) {
    const { words } = this.#owner;
    const href = safeUrl(url, this.#owner.schemes);
    const link = href && h("a", { href, target: this.#owner.getAttribute("link-target"), rel: "noopener noreferrer" }, h("bdi", {}, title));
    this.title.replaceChildren(link || h("bdi", {}, title ?? ""));
    this.body.replaceChildren(h("bdi", {}, body ?? ""));
    this.body.hidden = !body;
    set(this.time, "datetime", created);
    set(this.time, "title", words.exact.format(new Date(created)));
    this.category.textContent = category ? this.#owner.labelOf(category) : "";
    this.category.hidden = !category;
  }

  #updateTools({ texts }, isUnread) {
    const label = isUnread ? texts.read : texts.markUnread;
    set(this.toggleRead, "aria-label", label);
    set(this.toggleRead, "title", label);
    this.toggleRead.replaceChildren(icon(isUnread ? "check" : "mail"));
    set(this.options, "aria-label", texts.options);
    set(this.options, "title", texts.options);
  }

  #updateFace({ image_url: image, category, type }) {
    const src = safeUrl(image);
    const name = category || type || "?";
    let face = h("span", { class: `face c${hash(name) % 6}`, part: "item-image", "aria-hidden": "true" }, this.#owner.labelOf(name).charAt(0));
    if (src) {
      const letter = face;
      face = h("img", { class: "face", part: "item-image", src, alt: "", loading: "lazy", referrerpolicy: "no-referrer", width: "40", height: "40" });
      face.addEventListener("error", () => face.replaceWith(letter), { once: true });
    }
    this.face.replaceWith(face);
    this.face = face;
  }

  #updateActions({ actions }) {
    const controls = (actions ?? []).slice(0, 3).map((action) => this.#action(action));
    this.buttons.replaceChildren(...controls.filter(Boolean));
    if (this.element.tabIndex < 0) this.current = false;
  }

  #action(action) {
    const shown = { class: "button", part: "action" };
    if (!action.url) {
      return h("button", { ...shown, type: "button", onclick: ({ currentTarget }) => this.#owner.runAction(this.#item, action, currentTarget) }, action.label);
    }
    const href = safeUrl(action.url, this.#owner.schemes);
    if (!href) return null;
    const target = this.#owner.getAttribute("link-target");
    return h("a", { ...shown, href, target, rel: "noopener noreferrer", onclick: (event) => this.#owner.follow(event, this.#item, href) }, action.label);
  }

  #click(event) {
    if (event.target.closest(".button")) return;
    const link = event.target.closest("a");
    this.#owner.follow(event, this.#item, link?.href ?? null);
  }

  async #toggleMembers() {
    const { words, inbox } = this.#owner;
    if (this.#members) {
      this.#members.remove();
      this.#members = null;
      this.more.textContent = words.count("more", this.#item.group.size - 1);
      set(this.more, "aria-expanded", "false");
      return;
    }
    const key = this.#item.group.key;
    set(this.more, "aria-busy", "true");
    const found = await inbox.loadGroup(key).catch(() => null);
    set(this.more, "aria-busy", null);
    if (!found || this.#members) return;
    const others = found.filter((each) => each.message_id !== this.#item.message_id);
    this.#members = h("ul", { class: "members" }, ...others.map((each) => this.#member(each)));
    this.more.before(this.#members);
    this.more.textContent = words.texts.fewer;
    set(this.more, "aria-expanded", "true");
  }

  #member({ title, url, created_at: created }) {
    const href = safeUrl(url, this.#owner.schemes);
    const ago = h("time", { datetime: created }, this.#owner.words.ago(created));
    const text = h("bdi", {}, title);
    return h("li", {}, href ? h("a", { href, rel: "noopener noreferrer" }, text) : text, ago);
  }
}

function hash(text) {
  let sum = 7;
  for (const letter of text) sum = (sum * 31 + letter.codePointAt(0)) >>> 0;
  return sum;
}
