// The boxes of the sample variables: a text, a table for a list of rows, JSON for each other value.
"use strict";

(() => {
  const form = document.getElementById("editor");
  if (!form) return;
  const variables = form.elements.variables;
  const boxes = document.getElementById("samples");
  const added = new Map(); // name -> value in JSON, of samples that nobody has typed
  const MOST_CELLS = 500; // of a table; a longer list is JSON, so that each key stays fast

  function samples() {
    try {
      const read = JSON.parse(variables.value || "{}");
      return read && typeof read === "object" && !Array.isArray(read) ? read : null;
    } catch {
      return null; // the answer to "render" says it
    }
  }

  function store(values) {
    variables.value = JSON.stringify(values, null, 2);
    variables.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function change(name, value) {
    added.delete(name);
    store({ ...samples(), [name]: value });
  }

  function element(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  const isSimple = (value) => ["string", "number", "boolean"].includes(typeof value);
  const isRow = (value) => value && typeof value === "object" && !Array.isArray(value) && Object.values(value).every(isSimple);
  const columnsOf = (rows) => [...new Set(rows.flatMap(Object.keys))];
  const isSmall = (rows) => rows.length <= MOST_CELLS && columnsOf(rows).length > 0 && rows.length * columnsOf(rows).length <= MOST_CELLS;
  const isTable = (value) => Array.isArray(value) && value.length > 0 && value.every(isRow) && isSmall(value);

  // Returns the typed text as a value of the kind that the cell had, else as a text.
  function retyped(text, before) {
    if (typeof before === "number" && text.trim() && Number.isFinite(Number(text))) return Number(text);
    if (typeof before === "boolean" && ["true", "false"].includes(text)) return text === "true";
    return text;
  }

  function box(name, value) {
    if (isTable(value)) return table(name, value);
    const isText = typeof value === "string";
    const field = element(isText ? "input" : "textarea", { value: isText ? value : JSON.stringify(value, null, 1) });
    field.dataset.sample = name;
    field.addEventListener("input", (event) => {
      event.stopPropagation(); // a sample is no part of the template
      let typed = field.value;
      if (!isText) {
        try {
          typed = JSON.parse(typed);
        } catch (error) {
          field.setCustomValidity(error.message);
          field.reportValidity();
          return;
        }
        field.setCustomValidity("");
      }
      change(name, typed);
    });
    return element("label", {}, element("span", { textContent: name }), field);
  }

  function table(name, rows) {
    const columns = columnsOf(rows);
    const head = element("tr", {}, ...columns.map((each) => element("th", { scope: "col", textContent: each })), element("td", {}));
    const lines = rows.map((row, index) => element("tr", {}, ...columns.map((column) => cell(name, index, column, Object.hasOwn(row, column) ? row[column] : "")), remove(name, rows, index)));
    const add = element("button", { type: "button", className: "nc-small", textContent: "Add a row" });
    add.dataset.act = "add-row";
    add.addEventListener("click", () => replace(name, [...current(name), { ...current(name).at(-1) }]));
    const legend = element("legend", { textContent: name });
    const whole = element("fieldset", { className: "nc-rows" }, legend, element("table", {}, element("thead", {}, head), element("tbody", {}, ...lines)), add);
    whole.dataset.sample = name;
    return whole;
  }

  const current = (name) => samples()[name];

  // Stores other rows, and draws the table again.
  function replace(name, rows) {
    change(name, rows);
    draw({ always: true });
    const whole = [...boxes.children].find((each) => each.dataset.sample === name);
    (whole?.querySelector("tbody tr:last-child input") ?? boxes.querySelector("textarea, input"))?.focus();
  }

  function cell(name, index, column, value) {
    const field = element("input", { value: String(value), ariaLabel: `${name}, row ${index + 1}, ${column}` });
    field.addEventListener("input", (event) => {
      event.stopPropagation();
      const rows = structuredClone(current(name));
      rows[index][column] = retyped(field.value, value);
      change(name, rows);
    });
    return element("td", {}, field);
  }

  function remove(name, rows, index) {
    const button = element("button", { type: "button", textContent: "\u2715", ariaLabel: `Remove row ${index + 1} of ${name}`, disabled: rows.length === 1 });
    button.addEventListener("click", () => replace(name, current(name).filter((_, other) => other !== index)));
    return element("td", {}, button);
  }

  // Draws a box for each variable, unless somebody is typing in one.
  function draw({ always = false } = {}) {
    const values = samples();
    boxes.inert = !values; // a value from a box would replace broken JSON as a whole
    if (!values || (!always && boxes.contains(document.activeElement))) return;
    boxes.replaceChildren(...Object.entries(values).map(([name, value]) => box(name, value)));
  }

  // Adds the variables that the texts now use, and removes those that were added and are used no longer.
  function follow(used) {
    const values = samples();
    if (!values) return;
    let changed = false;
    for (const [name, value] of added) {
      if (name in used || JSON.stringify(values[name]) !== value) continue;
      delete values[name];
      added.delete(name);
      changed = true;
    }
    for (const [name, value] of Object.entries(used)) {
      if (name in values) continue;
      values[name] = value;
      added.set(name, JSON.stringify(value));
      changed = true;
    }
    if (changed) store(values);
  }

  form.addEventListener("rendered", (event) => follow(event.detail.samples));
  variables.addEventListener("input", () => draw());
  draw();
})();
