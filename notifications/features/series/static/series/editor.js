// The editor of a series: forms in place of the JSON, faults at the fields, and the picture while the steps are typed.
//
// The text box with the JSON is the definition: the forms read it and write each change into it. JSON that the forms
// cannot show, or would not keep exactly, stays JSON.

import { element } from "./fields.js";
import { Steps, numberOf, unreadable } from "./steps.js";

const QUIET_MS = 300; // after the last key, so that a word is one request
const LONG_NUMBER = /\d{16,}|\d[eE][+-]?\d/;

const form = document.getElementById("series-editor");
const area = form.elements.definition;
const data = JSON.parse(document.getElementById("series-data").textContent);
const told = document.getElementById("told");
const summary = document.getElementById("series-faults");
const refused = document.getElementById("series-unreadable");
const place = document.getElementById("series-forms");
const tabs = form.querySelector(".nc-series-tabs");
let isTried = form.dataset.tried === "yes"; // after the first save, empty fields are faults too
let isDirty = isTried;
let timer = 0;
let asked = 0;
let isSaving = false;

const steps = new Steps(place, data, (definition) => {
  area.value = JSON.stringify(definition, null, 2);
  plan();
});

// The definition of the text box for the forms, or the reason against the forms.
function read() {
  let definition;
  try {
    definition = JSON.parse(area.value);
  } catch (error) {
    return [null, `The text is not JSON: ${error.message}.`];
  }
  if (LONG_NUMBER.test(area.value.replace(/"(?:[^"\\]|\\.)*"/g, ""))) return [null, "A number has more digits than the forms keep."];
  return [definition, unreadable(definition)];
}

function open(name) {
  const [definition, reason] = name === "forms" ? read() : [null, ""];
  const shown = reason ? "json" : name;
  refused.textContent = reason && `${reason} Edit the definition as JSON.`;
  refused.hidden = !reason;
  if (shown === "forms") steps.show(definition);
  place.hidden = shown !== "forms";
  document.getElementById("series-json").hidden = shown !== "json";
  for (const each of tabs.children) each.setAttribute("aria-pressed", each.dataset.tab === shown);
}

function holderOf(pointer) {
  const holders = new Map([...place.querySelectorAll("[data-at]")].map((each) => [each.dataset.at, each]));
  let at = pointer;
  while (at && !holders.has(at)) at = at.slice(0, at.lastIndexOf("/"));
  return [holders.get(at), pointer.slice(at.length + 1).replaceAll("/", " ")];
}

function clear() {
  for (const each of place.querySelectorAll("[data-at] > .nc-bad, [data-at] > fieldset > .nc-bad")) each.hidden = true;
  for (const each of place.querySelectorAll("[aria-invalid]")) {
    each.removeAttribute("aria-invalid");
    each.removeAttribute("aria-describedby");
  }
}

// Shows a sentence at the field, and returns the field and the place in words.
function mark([pointer, words, sentence]) {
  const [holder, rest] = holderOf(pointer);
  if (!isTried && pointer === "/steps" && steps.definition?.steps.length === 0) return null;
  if (place.hidden || !holder) return [null, words, sentence];
  const control = holder.querySelector(":scope > input, :scope > select, :scope > textarea");
  if (!isTried && control?.value === "") return null;
  const fault = holder.querySelector(":scope > .nc-bad, :scope > fieldset > .nc-bad");
  fault.textContent = rest && !holder.dataset.step ? `${rest}: ${sentence}` : sentence;
  fault.hidden = false;
  const target = control ?? holder.querySelector("input, select, textarea, button");
  if (control) {
    control.setAttribute("aria-invalid", "true");
    control.setAttribute("aria-describedby", fault.id);
  }
  holder.closest("details")?.setAttribute("open", "");
  const step = holder.closest("[data-step]");
  return [target, [step && `step ${numberOf(step.dataset.step)}`, holder.dataset.label].filter(Boolean).join(", "), fault.textContent];
}

function complain({ faults, objections, errors }) {
  clear();
  for (const each of form.querySelectorAll("[data-error]")) {
    each.textContent = errors[each.dataset.error] ?? "";
    each.hidden = !each.textContent;
  }
  const found = [...faults.map((each) => [each, ""]), ...objections.map((each) => [each, " (prevents publishing)"])];
  const marked = found.map(([each, after]) => [mark(each), after]).filter(([each]) => each);
  summary.replaceChildren(...marked.map(([[target, words, sentence], after]) => {
    const line = `${words ? `${words}: ` : ""}${sentence}${after}`;
    const text = line.charAt(0).toUpperCase() + line.slice(1);
    return element("li", {}, target ? element("button", { type: "button", class: "nc-series-fault", on: { click: () => target.focus() } }, text) : text);
  }));
  return marked.map(([[target]]) => target).find(Boolean);
}

async function ask(wish) {
  const body = new FormData(form);
  body.set("do", wish);
  const answer = await fetch(location.pathname, { method: "POST", body, headers: { Accept: "application/json" } });
  if (answer.redirected || answer.status === 403) throw new Error("The session has ended. Sign in in another tab, then save again. The steps stay on this page.");
  if (!answer.ok) throw new Error(`The server answered ${answer.status}. The steps stay on this page.`);
  return answer.json();
}

function show(answer) {
  if (answer.picture) document.getElementById("part-picture").innerHTML = answer.picture;
  document.getElementById("series-old").hidden = Boolean(answer.picture);
  return complain(answer);
}

async function check() {
  const mine = ++asked;
  try {
    const answer = await ask("check");
    if (mine === asked) show(answer); // else a later check is under way
  } catch (error) {
    if (mine === asked) told.textContent = error.name === "TypeError" ? "The server does not answer. The steps stay on this page." : error.message;
  }
}

function plan() {
  isDirty = true;
  told.textContent = "Not saved yet.";
  asked += 1; // an answer under way is of earlier steps
  clearTimeout(timer);
  timer = setTimeout(check, QUIET_MS);
}

// Leads to a property that the JSON cannot hold as typed, such as a second one with the same name.
function isUnfinished(consequence) {
  const fault = place.hidden ? null : place.querySelector("[data-typed-fault]:not([hidden])");
  if (!fault) return false;
  told.textContent = `${consequence}: a property ${fault.textContent}.`;
  fault.closest("details")?.setAttribute("open", "");
  fault.closest("li").querySelector("input").focus();
  return true;
}

async function save(button) {
  if (isSaving || isUnfinished("Not saved")) return;
  clearTimeout(timer);
  asked += 1;
  isTried = true;
  isSaving = true;
  const sent = area.value;
  try {
    const answer = await ask(button.value);
    if (answer.location) {
      isDirty = area.value !== sent;
      location.assign(answer.location);
      return;
    }
    form.elements.seen.value = answer.seen;
    isDirty = !answer.told || area.value !== sent;
    told.textContent = answer.told || "Not saved. Correct the marked fields.";
    const first = show(answer);
    if (!answer.told) first?.focus();
  } catch (error) {
    told.textContent = error.name === "TypeError" ? "The server does not answer. The steps stay on this page." : error.message;
  } finally {
    isSaving = false;
  }
}

tabs.addEventListener("click", (event) => {
  if (!event.target.dataset.tab || isUnfinished("Not shown as JSON")) return;
  open(event.target.dataset.tab);
  check();
});
area.addEventListener("input", plan);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  save(event.submitter ?? form.querySelector("[value=save]"));
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("[value=save]"));
});
window.addEventListener("beforeunload", (event) => {
  if (isDirty) event.preventDefault();
});

tabs.hidden = false;
open("forms");
complain({ errors: {}, ...data });
