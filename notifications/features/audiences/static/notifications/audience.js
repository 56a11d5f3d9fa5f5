// The audience builder: rows of conditions in place of the JSON of an audience expression.
//
// The text area keeps the expression. An expression that rows cannot show stays JSON.

const DEPTH = 3; // groups within groups
const FEW = 30; // names of a select; a longer list is searched by typing

const KINDS = [
  ["attribute", "attribute"],
  ["topic", "subscribed to the topic"],
  ["audience", "in the saved audience"],
  ["upload", "in the upload"],
  ["snapshot", "in the snapshot"],
  ["reachable", "reachable on the channel"],
  ["received", "received a message of the type"],
  ["job", "received the bulk job"],
  ["user_ids", "one of the user ids"],
  ["everyone", "everyone"],
];
const NAMED = ["topic", "audience", "upload", "snapshot", "reachable"];
const NUMBERED = ["upload", "snapshot"]; // the values are ids

const OPERATORS = {
  is: "is",
  in: "is one of",
  at_least: "is at least",
  at_most: "is at most",
  before: "is before",
  after: "is on or after",
  contains: "contains",
  exists: "is known",
};
const TIMES = [["", "the date"], ["days_ago", "days ago"], ["days_ahead", "days ahead"]];

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function select(label, options, chosen, change) {
  const made = element("select", { "aria-label": label, on: { change: () => change(made.value) } });
  const known = options.some(([value]) => value === chosen);
  for (const [value, text] of known || chosen === undefined || chosen === "" ? options : [...options, [chosen, chosen]]) {
    made.append(new Option(text, value, false, value === chosen));
  }
  return made;
}

const words = (text) => text.split(/[,\n]/).map((each) => each.trim()).filter(Boolean);

// A condition of a row: { not, kind, ... }; a group: { not, join: "and" | "or", parts: [] }.
function read(expression) {
  if (!expression || typeof expression !== "object" || Array.isArray(expression)) return null;
  const keys = Object.keys(expression);
  if (keys.length === 1 && keys[0] === "not") {
    const inner = read(expression.not);
    return inner && !inner.not ? { ...inner, not: true } : null;
  }
  for (const join of ["and", "or"]) {
    if (keys.length === 1 && Array.isArray(expression[join])) {
      const parts = expression[join].map(read);
      return parts.includes(null) ? null : { not: false, join, parts };
    }
  }
  return readCondition(expression, keys);
}

function readCondition(expression, keys) {
  const row = { not: false, value: "" };
  if (keys.length === 1) {
    if (expression.everyone === true) return { ...row, kind: "everyone" };
    for (const kind of NAMED) {
      if (kind in expression) return { ...row, kind, value: String(expression[kind]) };
    }
    if (Array.isArray(expression.user_ids)) return { ...row, kind: "user_ids", value: expression.user_ids.join("\n") };
    const { received } = expression;
    if (received && typeof received === "object" && Number.isInteger(received.within_days) && Object.keys(received).length === 2) {
      if ("type" in received) return { ...row, kind: "received", value: received.type, days: received.within_days };
      if ("bulk_job" in received) return { ...row, kind: "job", value: received.bulk_job, days: received.within_days };
    }
  }
  if (keys.length === 2 && "attribute" in expression) {
    const operator = keys.find((key) => key !== "attribute");
    if (!(operator in OPERATORS)) return null;
    const given = expression[operator];
    if (given === null) return null;
    if (typeof given === "object" && !Array.isArray(given)) {
      const [time] = Object.keys(given);
      if (!TIMES.some(([name]) => name && name === time)) return null;
      return { ...row, kind: "attribute", attribute: expression.attribute, operator, time, value: String(given[time]) };
    }
    return { ...row, kind: "attribute", attribute: expression.attribute, operator, value: Array.isArray(given) ? given.join(", ") : String(given) };
  }
  return null;
}

export class Builder {
  constructor(place, area) {
    this.place = place;
    this.area = area;
    this.data = JSON.parse(document.getElementById("audience-data").textContent);
    this.rows = new Map(); // pointer -> element
    this.typed = document.getElementById("audience-typed");
    this.area.addEventListener("input", () => this.load());
    this.load();
    if (!this.place.hidden) this.typed.open = false; // the server opens the JSON for browsers without scripts
  }

  load() {
    let expression = null;
    try {
      expression = this.area.value.trim() ? JSON.parse(this.area.value) : { and: [] };
    } catch {
      // The text is no JSON yet: the server says what is wrong.
    }
    const root = read(expression);
    this.place.hidden = !root;
    if (!root) {
      this.typed.open = true;
      return;
    }
    this.root = root.join && !root.not ? root : { not: false, join: "and", parts: [root] };
    this.draw();
  }

  kindOf(attribute) {
    return this.data.attributes.find(([name]) => name === attribute)?.[1] ?? "text";
  }

  operatorsOf(attribute) {
    return this.data.attributes.find(([name]) => name === attribute)?.[2] ?? Object.keys(OPERATORS);
  }

  // A new condition on an attribute.
  fresh(attribute) {
    const [operator] = this.operatorsOf(attribute);
    return { not: false, kind: "attribute", attribute, operator, time: "", value: "" };
  }

  // The expression of a node. The pointers of the rows are those of the JSON.
  write(node, pointer = "") {
    const at = node.not ? `${pointer}/not` : pointer;
    let made;
    if (node.join) {
      made = { [node.join]: node.parts.map((each, index) => this.write(each, `${at}/${node.join}/${index}`)) };
    } else {
      made = this.condition(node);
    }
    if (node.element) this.rows.set(pointer, node.element);
    return node.not ? { not: made } : made;
  }

  condition(row) {
    switch (row.kind) {
      case "everyone": return { everyone: true };
      case "user_ids": return { user_ids: words(row.value) };
      case "received": return { received: { type: row.value, within_days: row.days ?? 7 } };
      case "job": return { received: { bulk_job: row.value, within_days: row.days ?? 7 } };
      case "attribute": return { attribute: row.attribute, [row.operator]: this.value(row) };
      default: return { [row.kind]: NUMBERED.includes(row.kind) && row.value ? Number(row.value) : row.value };
    }
  }

  value(row) {
    if (row.operator === "exists") return row.value !== "false";
    const kind = this.kindOf(row.attribute);
    const typed = (text) => (kind === "number" && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text);
    if (row.operator === "in") return words(row.value).map(typed);
    if (row.time) return { [row.time]: row.value.trim() === "" ? "" : Number(row.value) };
    if (kind === "boolean") return row.value !== "false";
    return typed(row.value);
  }

  store() {
    this.rows.clear();
    const only = this.root.parts.length === 1 ? this.root.parts[0] : this.root;
    // No condition is no choice yet: only the person chooses everyone.
    this.area.value = this.root.parts.length ? JSON.stringify(this.write(only), null, 2) : "";
    // The listener of the form hears this event; the builder's own `load` must not draw again.
    this.area.form.dispatchEvent(new Event("input", { bubbles: true }));
  }

  draw() {
    this.place.replaceChildren(this.group(this.root, null, 1));
    this.rows.clear();
    this.write(this.root.parts.length === 1 ? this.root.parts[0] : this.root);
  }

  // Draw again after a change of the structure, with the focus on the changed row.
  change(node, selector) {
    this.store();
    this.draw();
    (node.element?.querySelector(selector) ?? this.place.querySelector("button"))?.focus();
  }

  add(group, node, selector = "[data-kind], select") {
    group.parts.push(node);
    this.change(node, selector);
  }

  remove(group, node) {
    const index = group.parts.indexOf(node);
    group.parts.splice(index, 1);
    this.change(group.parts[index] ?? group.parts[index - 1] ?? group, "select");
  }

  group(group, parent, depth) {
    const joined = select(parent ? "Join of the group" : "Join of the conditions", [["and", "all of these"], ["or", "any of these"]], group.join, (value) => {
      group.join = value;
      this.store();
    });
    const head = element("div", { class: "nc-row" }, parent ? this.negation(group, "Recipients with", "Leave out those with") : "Recipients with", joined);
    if (parent) head.append(this.removal(parent, group, "Remove the group"));
    const list = element("ul", { class: "nc-rows" });
    for (const each of group.parts) list.append(each.join ? this.group(each, group, depth + 1) : this.row(each, group));
    if (!group.parts.length) list.append(element("li", { class: "nc-quiet" }, parent ? "No condition yet." : "Nobody is chosen yet."));
    const first = this.data.attributes[0][0];
    const buttons = element("div", { class: "nc-row" },
      this.button("Add a condition", () => this.add(group, this.fresh(first))),
      ...(parent || group.parts.length ? [] : [this.button("Everyone", () => this.add(group, { not: false, kind: "everyone", value: "" }))]),
      this.button("Leave out who got a message", () => this.add(group, { not: true, kind: "received", value: "", days: 7 }, "input")));
    if (depth < DEPTH) buttons.append(this.button("Add a group", () => this.add(group, { not: false, join: group.join === "and" ? "or" : "and", parts: [] }, "select")));
    group.element = element(parent ? "li" : "div", { class: "nc-group" }, head, list, buttons);
    return group.element;
  }

  button(text, act) {
    return element("button", { type: "button", class: "nc-small nc-tall", on: { click: act } }, text);
  }

  removal(parent, node, label) {
    return element("button", { type: "button", class: "nc-small nc-tall", "aria-label": label, title: label, on: { click: () => this.remove(parent, node) } }, "×");
  }

  negation(node, plain, negative) {
    return select("Take or leave out", [["", plain], ["not", negative]], node.not ? "not" : "", (value) => {
      node.not = value === "not";
      this.store();
    });
  }

  row(row, group) {
    const kind = select("Condition", KINDS, row.kind, (value) => {
      Object.assign(row, { kind: value, value: "", days: 7 });
      if (value === "attribute") Object.assign(row, this.fresh(this.data.attributes[0][0]), { not: row.not });
      this.change(row, "[data-kind]");
    });
    kind.dataset.kind = "";
    const fault = element("p", { class: "nc-bad", role: "alert", hidden: true });
    row.element = element("li", { class: "nc-condition" },
      element("div", { class: "nc-row" }, this.negation(row, "those", "not those"), kind, ...this.fields(row), this.removal(group, row, "Remove the condition")), fault);
    return row.element;
  }

  fields(row) {
    const list = (values) => values.map((each) => (Array.isArray(each) ? each : [each, each]));
    switch (row.kind) {
      case "everyone": return [];
      case "attribute": return this.attribute(row);
      case "topic": return [this.input(row, "Topic", { list: "audience-topics", class: "nc-completed" })];
      case "upload": return [this.choice(row, "Upload", list(this.data.uploads))];
      case "snapshot": return [this.choice(row, "Snapshot", list(this.data.snapshots))];
      case "reachable": return [this.choice(row, "Channel", list(this.data.channels))];
      case "audience": return this.data.audiences.length > FEW ? [this.input(row, "Saved audience", { list: "audience-names", class: "nc-completed" })] : [this.choice(row, "Saved audience", list(this.data.audiences))];
      case "received": return [this.input(row, "Type", { list: "types", class: "nc-completed" }), ...this.days(row)];
      case "job": return [this.choice(row, "Bulk job", list(this.data.jobs)), ...this.days(row)];
      default: return [this.input(row, "User ids", { placeholder: "user ids with commas" })];
    }
  }

  choice(row, label, options) {
    if (!row.value && options.length) queueMicrotask(() => { row.value ||= options[0][0]; this.store(); });
    return options.length || row.value ? select(label, options, row.value, (value) => { row.value = value; this.store(); })
      : element("span", { class: "nc-quiet" }, "none yet");
  }

  days(row) {
    const made = element("input", { type: "number", min: 1, max: 90, value: row.days ?? 7, "aria-label": "Days", class: "nc-short" });
    made.addEventListener("input", (event) => {
      event.stopPropagation();
      row.days = Number(made.value);
      this.store();
    });
    return ["in the last", made, "days"];
  }

  attribute(row) {
    const name = select("Attribute", this.data.attributes.map(([each]) => [each, each]), row.attribute, (value) => {
      Object.assign(row, this.fresh(value), { not: row.not });
      this.change(row, "[data-kind]");
    });
    const kind = this.kindOf(row.attribute);
    const offered = this.operatorsOf(row.attribute).map((each) => [each, OPERATORS[each]]);
    const operator = select("Comparison", offered, row.operator, (value) => {
      Object.assign(row, { operator: value, value: value === "exists" ? "true" : row.value });
      this.change(row, "[data-operator]");
    });
    operator.dataset.operator = "";
    return [name, operator, ...this.operand(row, kind)];
  }

  operand(row, kind) {
    if (row.operator === "exists" || kind === "boolean") {
      const [yes, no] = row.operator === "exists" ? ["yes", "no"] : ["true", "false"];
      return [select("Value", [["true", yes], ["false", no]], row.value === "false" ? "false" : "true", (value) => { row.value = value; this.store(); })];
    }
    if (row.operator === "in") return [this.input(row, "Values", { placeholder: "values with commas" })];
    if (kind === "number") return [this.input(row, "Value", { type: "number", step: "any" })];
    if (kind !== "date") return [this.input(row, "Value", {})];
    const time = select("Kind of the time", TIMES, row.time ?? "", (value) => {
      Object.assign(row, { time: value, value: "" });
      this.change(row, "[data-time]");
    });
    time.dataset.time = "";
    const value = row.time ? this.input(row, "Days", { type: "number", min: 0, class: "nc-short" })
      : this.input(row, "Date", { placeholder: "2026-11-21" });
    return row.time ? [value, time] : [time, value];
  }

  input(row, label, attributes) {
    const made = element("input", { type: "text", value: row.value, "aria-label": label, spellcheck: "false", autocomplete: "off", ...attributes });
    made.addEventListener("input", (event) => {
      event.stopPropagation();
      row.value = made.value;
      this.store();
    });
    return made;
  }

  // Faults of the server: [pointer within the expression, sentence].
  complain(faults) {
    for (const row of this.rows.values()) {
      const place = row.querySelector(":scope > [role=alert]");
      if (place) place.hidden = true;
    }
    for (const [pointer, text] of faults) {
      let at = pointer;
      while (at && !this.rows.has(at)) at = at.slice(0, at.lastIndexOf("/"));
      const place = this.rows.get(at)?.querySelector(":scope > [role=alert]");
      if (!place) continue;
      place.textContent = text;
      place.hidden = false;
    }
  }
}
