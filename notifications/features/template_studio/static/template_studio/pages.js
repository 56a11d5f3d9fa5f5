// The template editor: shows what is typed as it will be seen; saves and test-sends without leaving.
"use strict";

(() => {
  const SAVE_KEY = navigator.platform.startsWith("Mac") ? "⌘S" : "Ctrl+S";
  const QUIET_MS = 150; // after the last key, so that a word is one request

  for (const select of document.querySelectorAll("select[data-submits]")) {
    select.addEventListener("change", () => select.form.submit());
  }

  const form = document.getElementById("editor");
  if (!form) return;
  for (const choice of form.querySelectorAll("[name=email-written-as]")) {
    choice.addEventListener("change", () => {
      for (const part of form.querySelectorAll("[data-written-as]")) part.hidden = part.dataset.writtenAs !== choice.value;
    });
  }
  const variables = form.elements.variables;
  const fault = document.getElementById("fault");
  const save = form.querySelector("[value=save]"); // only where there is a draft to be saved
  const remembered = sessionStorage.getItem(form.dataset.key);
  let timer = 0;
  let asked = 0;
  let dirty = false;

  async function ask(what, more = {}) {
    const body = new FormData(form);
    body.set("do", what);
    for (const [name, value] of Object.entries(more)) body.set(name, value);
    const answer = await fetch(location.pathname, { method: "POST", body });
    if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
    return answer.json();
  }

  function complain(text) {
    fault.textContent = text;
    fault.hidden = !text;
  }

  function soil() {
    dirty = true;
    document.getElementById("told").textContent = save ? `Not saved yet (${SAVE_KEY}).` : "";
  }

  async function render() {
    const mine = ++asked;
    try {
      const answer = await ask("render");
      if (mine !== asked) return; // a later one is under way
      complain(answer.fault);
      for (const panel of form.querySelectorAll("[data-channel]")) {
        panel.querySelector(".nc-frame").innerHTML = answer.frames[panel.dataset.channel];
      }
      form.dispatchEvent(new CustomEvent("rendered", { detail: answer }));
    } catch (error) {
      complain(error.message);
    }
  }

  form.addEventListener("input", (event) => {
    if (event.target === variables) sessionStorage.setItem(form.dataset.key, variables.value);
    else if (!event.target.name.endsWith("-test-list")) soil();
    clearTimeout(timer);
    timer = setTimeout(render, QUIET_MS);
  });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = event.submitter;
    const panel = button.closest("[data-channel]");
    const told = panel ? panel.querySelector(".nc-told") : document.getElementById("told");
    button.disabled = true;
    try {
      const answer = await ask(button.value, panel ? { channel: panel.dataset.channel } : {});
      told.innerHTML = answer.told;
      if (button.value === "save" && !answer.fault) {
        dirty = false;
        document.getElementById("objections").innerHTML = answer.objections;
      }
    } catch (error) {
      told.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  });

  document.addEventListener("keydown", (event) => {
    if (!save || event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!save.disabled) form.requestSubmit(save);
  });

  window.addEventListener("beforeunload", (event) => {
    if (dirty) event.preventDefault();
  });

  if (remembered !== null && remembered !== variables.value) {
    variables.value = remembered;
    render();
  }
})();
