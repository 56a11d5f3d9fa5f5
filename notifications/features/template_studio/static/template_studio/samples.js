// The boxes of the sample variables: a text, a table for a list of rows, JSON for each other value.

import { element, isTable, rowTable } from "../notifications/rows.js";

const form = document.getElementById("editor");
if (form) {
  const variables = form.elements.variables;
  const boxes = document.getElementById("samples");
  const added = new Map(); // name -> value in JSON, of samples that nobody has typed

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

  function box(name, value) {
    if (isTable(value)) return rowTable(name, value, { read: () => samples()[name], change: (rows) => change(name, rows), replace: (rows) => replace(name, rows) });
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

  // Stores other rows, and draws the table again.
  function replace(name, rows) {
    change(name, rows);
    draw({ always: true });
    const whole = [...boxes.children].find((each) => each.dataset.sample === name);
    (whole?.querySelector("tbody tr:last-child input") ?? boxes.querySelector("textarea, input"))?.focus();
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
}
