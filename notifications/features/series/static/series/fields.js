// The fields of the series editor. Each field shows a value of the definition and writes changes into the definition.
//
// A part is { of, at }: an object of the definition, and the JSON pointer of the object. A value of another type than
// the field expects is shown as its text, so that the server can name the fault and nothing is lost.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((each) => each !== null));
  return made;
}

export function button(text, act, attributes = {}) {
  return element("button", { type: "button", class: "nc-small nc-tall", on: { click: act }, ...attributes }, text);
}

const KINDS = [["text", "text"], ["number", "number"], ["boolean", "true or false"], ["nothing", "empty"], ["json", "JSON"]];

function kindOf(value) {
  if (value === null) return "nothing";
  if (typeof value === "string") return "text";
  if (typeof value === "object") return "json";
  return typeof value;
}

function textOf(value) {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
}

// An input drops the ends of lines, so a text with lines has a text area.
function tagOf(text, isLong) {
  return isLong || text.includes("\n") ? "textarea" : "input";
}

// The value of a typed property, and why the text is no such value.
function read({ kind, text }) {
  if (kind === "nothing") return [null, ""];
  if (kind === "boolean") return [text === "true", ""];
  if (kind === "number") {
    const value = text.trim() === "" ? NaN : Number(text);
    if (!Number.isFinite(value)) return [text, "is not a number"];
    return Math.abs(value) > Number.MAX_SAFE_INTEGER ? [text, "has too many digits for a number; use text"] : [value, ""];
  }
  if (kind === "json") {
    try {
      return [JSON.parse(text), ""];
    } catch (error) {
      return [text, `is not JSON: ${error.message}`];
    }
  }
  return [text, ""];
}

export class Fields {
  // Args: changed() after a change of a value; redraw() after a change of the fields themselves.
  constructor({ changed, redraw }) {
    this.changed = changed;
    this.redraw = redraw;
    this.made = 0;
    this.rows = new WeakMap(); // object of the definition -> name -> typed rows, with unfinished ones
  }

  // A label, a control, and the place of the fault.
  wrap(at, label, control, help = "") {
    const id = `series-field-${(this.made += 1)}`;
    control.id = id;
    return element("div", { class: "nc-field", "data-at": at, "data-label": label },
      element("label", { for: id }, element("strong", {}, label)), control,
      help ? element("span", { class: "nc-quiet nc-help" }, help) : null,
      element("p", { class: "nc-bad", id: `${id}-fault`, hidden: true }));
  }

  // Options: list, placeholder, help, isRequired, isLong, isNumber. An empty optional value is left out.
  text({ of, at }, name, label, { list, help, isRequired = false, isLong = false, isNumber = false, ...more } = {}) {
    const tag = tagOf(textOf(of[name]), isLong);
    const control = element(tag, {
      autocomplete: "off", spellcheck: "false", list, class: list && "nc-completed", rows: tag === "textarea" && 2,
      inputmode: isNumber && "numeric", "aria-required": isRequired && "true", ...more,
    });
    control.value = textOf(of[name]);
    control.addEventListener("input", () => {
      const typed = control.value;
      if (typed === "" && !isRequired) delete of[name];
      else of[name] = isNumber && /^\d{1,9}$/.test(typed.trim()) ? Number(typed) : typed;
      this.changed();
    });
    return this.wrap(`${at}/${name}`, label, control, help);
  }

  // Options are [value, text] or a value; the first option stands for a value that is left out.
  select({ of, at }, name, label, options, { isRequired = false, help = "" } = {}) {
    const control = element("select");
    this.fill(control, options, textOf(of[name]));
    control.addEventListener("change", () => {
      if (!isRequired && control.selectedIndex === 0) delete of[name];
      else of[name] = control.value;
      this.changed();
    });
    return this.wrap(`${at}/${name}`, label, control, help);
  }

  fill(control, options, chosen) {
    const pairs = options.map((each) => (Array.isArray(each) ? each : [each, each]));
    const known = pairs.some(([value]) => value === chosen) || chosen === "";
    const all = known ? pairs : [...pairs, [chosen, `${chosen} (unknown)`]];
    control.replaceChildren(...all.map(([value, text]) => new Option(text, value, false, value === chosen)));
    if (chosen === "" && !pairs.some(([value]) => value === "")) control.selectedIndex = 0;
  }

  flag({ of, at }, name, label) {
    const control = element("input", { type: "checkbox" });
    control.checked = of[name] === true;
    control.addEventListener("change", () => {
      if (control.checked) of[name] = true;
      else delete of[name];
      this.changed();
    });
    const field = this.wrap(`${at}/${name}`, label, control);
    field.classList.add("nc-series-flag");
    return field;
  }

  // A choice of several values. `isOrdered`: the order of the choices counts, and is shown.
  several({ of, at }, name, label, options, { isOrdered = false, help = "" } = {}) {
    const list = () => (Array.isArray(of[name]) ? of[name] : []);
    const boxes = [...new Set([...options, ...list()])].map((option) => {
      const box = element("input", { type: "checkbox", value: option });
      return { option, box, text: element("span") };
    });
    const show = () => {
      for (const { option, box, text } of boxes) {
        const place = list().indexOf(option);
        box.checked = place >= 0;
        text.textContent = isOrdered && place >= 0 && list().length > 1 ? `${option} (${place + 1})` : option;
      }
    };
    for (const { option, box } of boxes) {
      box.addEventListener("change", () => {
        const kept = list().filter((each) => each !== option);
        const chosen = box.checked ? [...kept, option] : kept;
        if (!isOrdered) chosen.sort((one, other) => options.indexOf(one) - options.indexOf(other));
        if (chosen.length) of[name] = chosen;
        else delete of[name];
        show();
        this.changed();
      });
    }
    show();
    return this.group(`${at}/${name}`, label, help,
      element("div", { class: "nc-series-boxes" }, ...boxes.map(({ box, text }) => element("label", {}, box, text))));
  }

  group(at, label, help, ...children) {
    const id = `series-field-${(this.made += 1)}`;
    return element("fieldset", { class: "nc-field", id, "data-at": at, "data-label": label }, element("legend", {}, label), ...children,
      help ? element("span", { class: "nc-quiet nc-help" }, help) : null, element("p", { class: "nc-bad", id: `${id}-fault`, hidden: true }));
  }

  // Properties by name, each with the kind of the value.
  pairs({ of, at }, name, label, { noun = "variable", help = "", kinds = KINDS } = {}) {
    const known = this.rows.get(of) ?? {};
    this.rows.set(of, known);
    known[name] ??= Object.entries(of[name] ?? {}).map(([key, value]) => ({ key, kind: kindOf(value), text: textOf(value) }));
    const rows = known[name];
    const check = () => {
      for (const row of rows) {
        const again = row.key !== "" && rows.filter((each) => each.key === row.key).length > 1;
        row.fault.textContent = again ? `another ${noun} has this name` : row.key === "" && row.text !== "" ? "needs a name" : read(row)[1];
        row.fault.hidden = !row.fault.textContent;
      }
    };
    const write = () => {
      const kept = rows.filter((row) => row.key !== "" || row.text !== "");
      if (kept.length) of[name] = Object.fromEntries(kept.map((row) => [row.key, read(row)[0]]));
      else delete of[name];
      check();
      this.changed();
    };
    const pointer = `${at}/${name}`;
    const remove = (index) => {
      rows.splice(index, 1);
      write();
      this.redraw(pointer, "button:last-of-type");
    };
    const items = rows.map((row, index) => this.pair(row, { number: index + 1, noun, kinds, write, remove: () => remove(index) }));
    check();
    return this.group(pointer, label, help, element("ul", { class: "nc-series-pairs" }, ...items), button(`Add a ${noun}`, () => {
      rows.push({ key: "", kind: "text", text: "" });
      this.redraw(pointer, "li:last-child input");
    }));
  }

  pair(row, { number, noun, kinds, write, remove }) {
    const label = (part) => `${part} of ${noun} ${number}`;
    const key = element("input", { value: row.key, placeholder: "name", "aria-label": label("Name"), autocomplete: "off", spellcheck: "false" });
    key.addEventListener("input", () => {
      row.key = key.value;
      write();
    });
    const kind = element("select", { "aria-label": label("Kind") });
    this.fill(kind, kinds, row.kind);
    const place = element("span", { class: "nc-series-value" });
    const drawValue = () => {
      const value = row.kind === "boolean" ? element("select") : element(tagOf(row.text, row.kind === "json"), { placeholder: "value", autocomplete: "off", spellcheck: "false" });
      value.setAttribute("aria-label", label("Value"));
      if (row.kind === "boolean") this.fill(value, ["true", "false"], row.text);
      else value.value = row.text;
      value.addEventListener("input", () => {
        row.text = value.value;
        write();
      });
      place.replaceChildren(...(row.kind === "nothing" ? [] : [value]));
    };
    kind.addEventListener("change", () => {
      row.kind = kind.value;
      if (row.kind === "boolean" && row.text !== "false") row.text = "true";
      drawValue();
      write();
    });
    drawValue();
    row.fault = element("p", { class: "nc-bad", "data-typed-fault": true, hidden: true });
    return element("li", {}, key, kind, place, button("✕", remove, { "aria-label": `Remove ${noun} ${number}` }), row.fault);
  }
}
