// The boxes of the variables of a bulk job: one for each variable that the chosen texts use.
// The job has the variables of the JSON text; an empty box removes its variable there.

import { element, isTable, retyped, rowTable } from "./rows.js";

const isTexts = (value) => Array.isArray(value) && value.every((each) => typeof each === "string");
const isExact = (value) => typeof value !== "number" || !Number.isInteger(value) || Number.isSafeInteger(value);
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

export class Variables {
  constructor(source, whole) {
    this.source = source;
    this.whole = whole;
    this.place = whole.querySelector("div");
    this.used = [];
    source.addEventListener("input", () => this.draw());
    this.place.addEventListener("focusout", () => setTimeout(() => this.draw())); // what was not drawn while somebody typed
  }

  // `used` has name, type, required and example of each variable.
  show(used) {
    this.used = used;
    this.draw();
  }

  // Returns the variables of the JSON text; null for broken JSON, and for a whole number whose last digits JavaScript loses.
  values() {
    try {
      let isWhole = true;
      const read = JSON.parse(this.source.value || "{}", (_, value) => ((isWhole &&= isExact(value)), value));
      return isObject(read) && isWhole ? read : null;
    } catch {
      return null; // the answer of the check says it
    }
  }

  change(name, value) {
    const values = { ...this.values(), [name]: value };
    if (value === undefined) delete values[name];
    this.source.value = Object.keys(values).length ? JSON.stringify(values, null, 2) : "";
    this.source.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // Draws the boxes, unless somebody is typing in one, or nothing has changed.
  draw({ always = false } = {}) {
    const values = this.values();
    this.whole.hidden = !this.used.length;
    this.place.inert = !values; // a value from a box would replace broken JSON as a whole, and change the digits of a large number
    this.whole.title = values ? "" : "Change the JSON under Advanced: it is broken, or has a whole number of more digits than a box keeps.";
    const drawn = JSON.stringify([this.used, values]);
    if (!values || drawn === this.drawn || (!always && this.place.contains(document.activeElement))) return;
    this.drawn = drawn;
    this.place.replaceChildren(...this.used.map((each) => this.box(each, Object.hasOwn(values, each.name) ? values[each.name] : undefined)));
  }

  box(variable, value) {
    const { name, type, example } = variable;
    if (type === "list" && isTable(value)) return this.table(name, value);
    if (type === "list" && value === undefined && isTable(example)) return this.firstRow(name, example);
    if (type === "list" && isTexts(value ?? example)) return this.lines(variable, value ?? []);
    if (type === "boolean" && typeof (value ?? true) === "boolean") return this.choice(variable, value);
    if (type === "money" && isObject(value ?? {})) return this.money(name, value ?? {});
    if (["list", "object"].includes(type) || (value !== undefined && typeof value === "object")) return this.json(variable, value);
    return this.text(variable, value);
  }

  field(name, control, help) {
    control.dataset.variable = name;
    control.addEventListener("input", (event) => event.stopPropagation()); // the form has the value in the JSON text
    const parts = [element("label", {}, element("strong", { textContent: name }), control)];
    if (help) parts.push(element("span", { className: "nc-quiet nc-help", textContent: help }));
    return element("div", { className: "nc-field" }, ...parts);
  }

  help({ required, example, type }) {
    const such = ["date", "datetime"].includes(type) ? `Such as ${example}.` : "";
    return [required ? "" : "Not required.", such].filter(Boolean).join(" ");
  }

  text(variable, value) {
    const isNumber = ["integer", "number"].includes(variable.type);
    const control = element("input", { value: value === undefined ? "" : String(value), inputMode: isNumber ? "decimal" : "", dir: "auto" });
    const before = isNumber ? 0 : value;
    control.addEventListener("input", () => this.change(variable.name, control.value === "" ? undefined : retyped(control.value, before)));
    return this.field(variable.name, control, this.help(variable));
  }

  choice(variable, value) {
    const control = element("select", {}, ...[["", "choose"], ["true", "yes"], ["false", "no"]].map(([each, label]) => element("option", { value: each, textContent: label })));
    control.value = value === undefined ? "" : String(value);
    control.addEventListener("input", () => this.change(variable.name, control.value === "" ? undefined : control.value === "true"));
    return this.field(variable.name, control, this.help(variable));
  }

  money(name, value) {
    const inputs = ["amount", "currency"].map((part) => element("input", { value: String(value[part] ?? ""), ariaLabel: `${name}, ${part}`, placeholder: { amount: "9.90", currency: "EUR" }[part] }));
    const [amount, currency] = inputs;
    const store = (event) => {
      event.stopPropagation();
      this.change(name, amount.value || currency.value ? { amount: amount.value, currency: currency.value } : undefined);
    };
    for (const each of inputs) each.addEventListener("input", store);
    amount.dataset.variable = name;
    return element("div", { className: "nc-field", role: "group", ariaLabel: name }, element("strong", { textContent: name }), element("div", { className: "nc-row" }, ...inputs));
  }

  lines(variable, value) {
    const control = element("textarea", { value: value.join("\n"), rows: 3 });
    control.addEventListener("input", () => {
      const lines = control.value.split("\n").filter((each) => each.trim());
      this.change(variable.name, lines.length ? lines : undefined);
    });
    return this.field(variable.name, control, ["One in a line.", this.help(variable)].join(" ").trim());
  }

  json(variable, value) {
    const control = element("textarea", { value: value === undefined ? "" : JSON.stringify(value, null, 1), rows: 3, placeholder: JSON.stringify(variable.example ?? "") });
    control.addEventListener("input", () => {
      try {
        this.change(variable.name, control.value.trim() ? JSON.parse(control.value) : undefined);
        control.setCustomValidity("");
      } catch (error) {
        control.setCustomValidity(error.message);
        control.reportValidity();
      }
    });
    return this.field(variable.name, control, ["As JSON.", this.help(variable)].join(" ").trim());
  }

  table(name, rows) {
    const store = {
      read: () => this.values()[name],
      change: (changed) => this.change(name, changed),
      replace: (changed) => this.replace(name, changed),
      isRequired: false,
    };
    return element("div", { className: "nc-field nc-wide" }, rowTable(name, rows, store));
  }

  firstRow(name, example) {
    const add = element("button", { type: "button", className: "nc-small nc-tall", textContent: "Add a row", ariaLabel: `Add a row of ${name}` });
    const empty = Object.fromEntries(Object.keys(example[0]).map((column) => [column, ""]));
    add.addEventListener("click", () => this.replace(name, [empty]));
    return element("div", { className: "nc-field" }, element("strong", { textContent: name }), add);
  }

  // Stores other rows, draws the boxes again and keeps the focus near the table.
  replace(name, rows) {
    this.change(name, rows.length ? rows : undefined);
    this.draw({ always: true });
    const table = [...this.place.querySelectorAll("fieldset")].find((each) => each.dataset.sample === name);
    (table?.querySelector("tbody tr:last-child input") ?? this.place.querySelector("textarea, input, button"))?.focus();
  }
}
