// The previews of a mail as a desktop, a phone, a dark screen and plain text show it, and the boxes of the sample variables.
"use strict";

(() => {
  const DARK = /\(prefers-color-scheme:\s*dark\)/g;
  const form = document.getElementById("editor");
  if (!form) return;
  const variables = form.elements.variables;
  const boxes = document.getElementById("samples");
  const added = new Map(); // name -> value in JSON, of samples that nobody has typed

  // Shows the preview of a mail in the pressed look.
  function look(panel) {
    const pressed = panel.querySelector("[data-look][aria-pressed=true]");
    if (!pressed) return;
    const frame = panel.querySelector(".nc-frame");
    const page = frame.querySelector("iframe");
    const text = frame.querySelector("details");
    frame.dataset.shown = pressed.dataset.look;
    if (text) text.open = pressed.dataset.look === "text";
    if (!page) return;
    page.dataset.source ??= page.srcdoc;
    page.srcdoc = page.dataset.source.replace(DARK, pressed.dataset.look === "dark" ? "all" : "not all");
  }

  for (const choice of form.querySelectorAll("[data-look]")) {
    choice.addEventListener("click", () => {
      for (const each of choice.parentElement.children) each.setAttribute("aria-pressed", each === choice);
      look(choice.closest("[data-channel]"));
    });
  }

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

  function box(name, value) {
    const label = document.createElement("label");
    const title = document.createElement("span");
    const field = document.createElement(typeof value === "string" ? "input" : "textarea");
    title.textContent = name;
    field.dataset.sample = name;
    field.value = typeof value === "string" ? value : JSON.stringify(value, null, 1);
    field.addEventListener("input", (event) => {
      event.stopPropagation(); // a sample is no part of the template
      let typed = field.value;
      if (field.tagName === "TEXTAREA") {
        try {
          typed = JSON.parse(typed);
        } catch (error) {
          field.setCustomValidity(error.message);
          field.reportValidity();
          return;
        }
        field.setCustomValidity("");
      }
      added.delete(name);
      store({ ...samples(), [name]: typed });
    });
    label.append(title, field);
    return label;
  }

  // Draws a box for each variable, unless somebody is typing in one.
  function draw() {
    const values = samples();
    if (!values || boxes.contains(document.activeElement)) return;
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

  form.addEventListener("rendered", (event) => {
    for (const panel of form.querySelectorAll("[data-channel]")) look(panel);
    follow(event.detail.samples);
  });
  variables.addEventListener("input", draw);
  for (const panel of form.querySelectorAll("[data-channel]")) look(panel);
  draw();
})();
