// The conditions of a branch, and the events of entry, goal and waits, as fields.

import { button, element } from "./fields.js";

const KINDS = [
  ["message", "a message has a status"],
  ["event", "an event was posted"],
  ["and", "all of these"],
  ["or", "any of these"],
  ["not", "not"],
];
const SCALARS = [["text", "text"], ["number", "number"], ["boolean", "true or false"], ["nothing", "empty"]];

export function kindOf(condition) {
  return KINDS.map(([kind]) => kind).find((kind) => kind in condition);
}

function parts(condition) {
  const kind = kindOf(condition);
  if (kind === "not") return [condition.not];
  return kind === "and" || kind === "or" ? condition[kind] : [];
}

// Yields the conditions on messages, also inside groups.
export function* messages(condition) {
  if (kindOf(condition) === "message") yield condition;
  for (const each of parts(condition)) yield* messages(each);
}

// Returns the same condition as another kind; groups keep their conditions.
function changed(condition, kind, name) {
  const inside = parts(condition);
  if (kind === "and" || kind === "or") return { [kind]: inside.length ? inside : [condition] };
  if (kind === "not") return { not: condition };
  const same = inside.find((each) => kindOf(each) === kind);
  return same ?? (kind === "message" ? { message: name, status: "read" } : { event: "" });
}

function replace(condition, by) {
  for (const name of Object.keys(condition)) delete condition[name];
  Object.assign(condition, by);
}

export class Conditions {
  // Args: fields; data of the page; names(pointer) returns the messages before a step.
  constructor(fields, data, names) {
    this.fields = fields;
    this.data = data;
    this.names = names;
  }

  // The fields of a condition at a pointer; `label` is read before the choice of the kind.
  draw(condition, at, label) {
    const kind = kindOf(condition);
    const choice = element("select");
    this.fields.fill(choice, KINDS, kind);
    choice.addEventListener("change", () => {
      const copy = { ...condition };
      replace(condition, changed(copy, choice.value, this.names(at).at(-1) ?? ""));
      this.fields.rows.delete(condition); // the object is another condition now
      this.fields.changed();
      this.fields.redraw(at, "select");
    });
    return element("div", { class: "nc-group", "data-condition": at }, this.fields.wrap(at, label, choice), ...this.inside(condition, kind, at));
  }

  inside(condition, kind, at) {
    switch (kind) {
      case "message": return [element("div", { class: "nc-fields" }, this.message(condition, at), this.fields.select({ of: condition, at }, "status", "Status", this.data.statuses, { isRequired: true }))];
      case "event": return [this.event({ of: condition, at })];
      case "not": return [this.draw(condition.not, `${at}/not`, "Not")];
      default: return this.several(condition, kind, at);
    }
  }

  message(condition, at) {
    const field = this.fields.select({ of: condition, at }, "message", "Message", [["", "choose"], ...this.names(at)], { isRequired: true });
    const control = field.querySelector("select");
    control.dataset.messages = "";
    control.refresh = () => this.fields.fill(control, [["", "choose"], ...this.names(at)], condition.message);
    return field;
  }

  several(condition, kind, at) {
    const list = condition[kind];
    const word = kind === "and" ? "And" : "Or";
    return [
      ...list.map((each, index) => {
        const drawn = this.draw(each, `${at}/${kind}/${index}`, index ? word : "Condition");
        if (list.length > 1) {
          drawn.append(button("Remove the condition", () => {
            list.splice(index, 1);
            this.fields.changed();
            this.fields.redraw(at, "select");
          }));
        }
        return drawn;
      }),
      button("Add a condition", () => {
        list.push({ event: "" });
        this.fields.changed();
        this.fields.redraw(`${at}/${kind}/${list.length - 1}`, "select");
      }),
    ];
  }

  // The name of an event, and the properties that the event must have.
  event(part) {
    return element("div", {}, this.fields.text(part, "event", "Event", { list: "series-events", isRequired: true }),
      this.fields.pairs(part, "where", "Only with these properties", { noun: "property", kinds: SCALARS }));
  }

  // An event that can be left out: the legend, the text of the box, and with `more` further fields.
  optionalEvent({ of, at }, name, legend, label, { help = "", more = () => [] } = {}) {
    const pointer = `${at}/${name}`;
    const box = element("input", { type: "checkbox" });
    box.checked = Boolean(of[name]);
    box.addEventListener("change", () => {
      const kept = this.fields.rows.get(of) ?? {};
      this.fields.rows.set(of, kept);
      if (box.checked) of[name] = kept[`event ${name}`] ?? { event: "" };
      else {
        kept[`event ${name}`] = of[name]; // ticked again, the box shows the same event
        delete of[name];
      }
      this.fields.changed();
      this.fields.redraw(pointer, "input");
    });
    const part = { of: of[name], at: pointer };
    const inside = of[name] ? [element("div", { class: "nc-group" }, this.event(part), ...more(part))] : [];
    return this.fields.group(pointer, legend, help, element("label", { class: "nc-series-tick" }, box, element("span", {}, label)), ...inside);
  }
}
