// The previews of a mail as a desktop, a phone, a dark screen and plain text show it.
"use strict";

(() => {
  const DARK = /\(prefers-color-scheme:\s*dark\)/g;
  const form = document.getElementById("editor");
  if (!form) return;

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

  form.addEventListener("rendered", () => {
    for (const panel of form.querySelectorAll("[data-channel]")) look(panel);
  });
  for (const panel of form.querySelectorAll("[data-channel]")) look(panel);
})();
