// The composer: builds the audience, checks the form while it is typed, keeps the draft in the URL.

import { Builder } from "./audience.js";
import { completeNames } from "./names.js";
import { Variables } from "./variables.js";

const QUIET_MS = 400; // after the last key, so that a word is one request
const LONGEST = 1_000_000; // characters of the draft in the address; Chromium ignores an address above 2 MiB

const form = document.getElementById("composer");
const told = document.getElementById("told");
const fields = Array.from(form.elements).filter((each) => each.name && each.type !== "submit" && each.name !== "csrfmiddlewaretoken");
const names = new Set(fields.map((each) => each.name));
const FOLDED = "details:not(#audience-typed):not(#variables-typed)"; // JSON stays folded: other fields have its values
let timer = 0;
let asked = 0;
let builder = null;
let boxes = null; // of variables, which the page of an audience has not
let isKept = true; // false: the draft is too long for the address
let waiting = null; // stops the request for the cost of an earlier text
const KEPT = `draft:${location.pathname}`; // of this tab: a sign-in on the way loses the fragment

// The draft is in the fragment, which the browser sends to no server.
function remember() {
  const draft = [];
  for (const [name, value] of new FormData(form)) if (names.has(name) && value !== "") draft.push([name, value]);
  const fragment = `#${new URLSearchParams(draft)}`;
  isKept = fragment.length <= LONGEST;
  if (isKept) history.replaceState(null, "", fragment);
}

function restore() {
  const draft = new URLSearchParams(location.hash.slice(1));
  if (![...draft.keys()].length) return;
  const places = new Map(); // of fields with the same name, as the channels in their order
  for (const element of fields) {
    const place = places.get(element.name) ?? 0;
    places.set(element.name, place + 1);
    if (element.type === "select-one" && !draft.has(element.name) && element.selectedIndex >= 0 && !element.querySelector('[value=""]')) continue;
    if (element.type === "checkbox") element.checked = draft.getAll(element.name).includes(element.value);
    else element.value = draft.getAll(element.name)[place] ?? "";
    if (element.value && draft.has(element.name)) element.closest(FOLDED)?.setAttribute("open", "");
  }
}

// A form that was submitted and does not come back, as after a sign-in, can be filled in again.
function offer() {
  const kept = sessionStorage.getItem(KEPT);
  if (!(kept?.length > 1) || location.hash.length > 1 || form.dataset.state) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "nc-small nc-tall";
  button.textContent = "Restore the last draft";
  button.addEventListener("click", () => {
    location.hash = kept;
    location.reload();
  });
  told.after(button);
}

function complain(errors) {
  for (const place of form.querySelectorAll("[data-error]")) {
    const text = errors[place.dataset.error] ?? "";
    if (place.textContent !== text) place.textContent = text;
    place.hidden = !text;
    const field = form.elements[place.dataset.error];
    if (text && field instanceof HTMLElement) field.closest(FOLDED)?.setAttribute("open", "");
    if (field instanceof HTMLElement) field.setAttribute("aria-invalid", text ? "true" : "false");
  }
}

function show(parts) {
  for (const [name, html] of Object.entries(parts)) {
    const place = document.getElementById(`part-${name}`);
    if (!place || place.dataset.shown === html) continue;
    place.innerHTML = html;
    place.dataset.shown = html;
  }
}

async function ask(wish, signal) {
  const body = new FormData(form);
  body.set("do", wish);
  const answer = await fetch(location.pathname, { method: "POST", body, signal, headers: { Accept: "application/json" } });
  if (answer.redirected || answer.status === 403) throw new Error("Your session has ended. Sign in in another tab, then reload this page. The draft stays.");
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return answer.json();
}

async function check() {
  const mine = ++asked;
  waiting?.abort();
  waiting = new AbortController();
  told.textContent = "Checking.";
  try {
    const { parts, errors, audience, variables, is_ready } = await ask("check", waiting.signal);
    if (mine !== asked) return; // a later check is under way
    show(parts);
    complain(errors);
    builder?.complain(audience);
    boxes?.show(variables);
    told.textContent = is_ready ? "Computing the cost." : "";
    const cost = is_ready ? await ask("cost", waiting.signal) : { parts: { cost: "" } };
    if (mine !== asked) return;
    show(cost.parts);
    told.textContent = isKept ? "" : "The draft is too long for the address of this page: a reload loses the last changes.";
  } catch (error) {
    if (mine !== asked || error.name === "AbortError") return;
    told.textContent = error.name === "TypeError" ? "The server does not answer. Type to try again." : error.message;
  }
}

function plan() {
  asked += 1; // an answer under way is of an earlier text
  waiting?.abort();
  clearTimeout(timer);
  timer = setTimeout(check, QUIET_MS);
}

// Only the fields of the chosen start and rate are shown, and the variants up to the first empty row.
function reveal() {
  const rows = Array.from(form.querySelectorAll(".nc-variant"));
  const filled = rows.map((row) => Array.from(row.querySelectorAll("input, select")).some((each) => each.value));
  const shown = Math.max(filled.lastIndexOf(true) + 2, 2);
  rows.forEach((row, index) => { row.hidden = index >= shown; });
  for (const order of form.querySelectorAll(".nc-order")) {
    const channels = Array.from(order.querySelectorAll("select"));
    const last = channels.findLastIndex((each) => each.value);
    channels.forEach((each, index) => { each.hidden = index > last + 1; });
  }
  for (const place of form.querySelectorAll("[data-when]")) {
    const [name, ...values] = place.dataset.when.split(" ");
    place.hidden = !values.includes(form.elements[name].value);
  }
}

function changed() {
  reveal();
  remember();
  plan();
}

form.addEventListener("input", changed);
form.addEventListener("change", ({ target }) => {
  if (target.tagName === "SELECT") changed(); // not every browser sends "input" for a choice
});
form.elements.mode.addEventListener("change", () => {
  remember();
  location.replace(`?mode=${form.elements.mode.value}${location.hash}`); // the other mode has other topics and lists
});
form.addEventListener("submit", () => {
  clearTimeout(timer);
  sessionStorage.setItem(KEPT, location.hash);
});

form.action = location.pathname; // without the draft, which a redirect would carry to the next page
restore();
if (form.dataset.state === "answered") remember();
const source = document.getElementById("audience-builder");
if (source) builder = new Builder(source, form.elements.audience);
const places = document.getElementById("variable-boxes");
if (places) {
  boxes = new Variables(form.elements.variables, places);
  boxes.show(JSON.parse(document.getElementById("used-variables").textContent));
}
reveal();
offer();
completeNames();
// A page that answers a submitted form shows its faults already.
if (form.dataset.state !== "answered") check();
