// A monitoring page: loads figures every five seconds and draws them; the URL has the time range.

import { Plot } from "./plot.js";
import { clock, fixed, push, query } from "./range.js";

const EVERY_MS = 5_000;
const GIVE_UP_MS = 10_000; // an answer this late counts as none
const LATE_MS = 20_000; // figures this old are marked as old

const page = document.getElementById("monitoring");
const state = page.querySelector("#freshness");
const fault = page.querySelector("#no-answer");
const plots = new Map();
const shown = new Map(); // the HTML of each part
let timer = 0;
let updatedAt = 0; // of the browser's clock
let asked = 0;
let last = null; // the newest answer
let etag = "";
let failures = 0;

for (const frame of page.querySelectorAll("[data-plot]")) {
  plots.set(frame.dataset.plot, new Plot(frame, zoom));
}

async function load() {
  clearTimeout(timer);
  const mine = ++asked;
  const address = `${page.dataset.live}?${query()}`;
  try {
    const headers = etag && last?.address === address ? { "If-None-Match": etag } : {};
    const answer = await fetch(address, { headers, cache: "no-store", signal: AbortSignal.timeout(GIVE_UP_MS) });
    if (mine !== asked) return; // a later request is under way
    if (answer.redirected) throw new Error("Your session has ended. Reload the page to sign in.");
    if (answer.status !== 304) {
      if (!answer.ok) throw new Error(await reason(answer));
      etag = answer.headers.get("ETag") ?? "";
      last = { address, ...(await answer.json()) };
      show();
    }
    succeed();
  } catch (error) {
    if (mine !== asked) return;
    fail(error);
  }
  plan();
}

async function reason(answer) {
  const text = await answer.text();
  try {
    return JSON.parse(text).detail ?? `The server answered ${answer.status}.`;
  } catch {
    return `The server answered ${answer.status}.`;
  }
}

function plan() {
  clearTimeout(timer);
  if (document.hidden) return;
  timer = setTimeout(load, Math.min(EVERY_MS * 2 ** Math.min(failures, 3), 30_000));
}

function succeed() {
  updatedAt = Date.now();
  failures = 0;
  fault.hidden = true;
  page.removeAttribute("data-stale");
  age();
}

function fail(error) {
  failures += 1;
  page.setAttribute("data-stale", "");
  const cause = ["TypeError", "TimeoutError"].includes(error.name)
    ? "The server does not answer." : error.message;
  const shown = last ? ` The figures are those of ${clock(Date.parse(last.at))}.` : "";
  const text = `${cause}${shown} The page tries again.`;
  const line = fault.querySelector("span:last-child");
  if (line.textContent !== text) line.textContent = text;
  fault.hidden = false;
  age();
}

function show() {
  const range = {
    since: Date.parse(last.range.since),
    until: Date.parse(last.range.until),
    isLive: last.range.is_live,
  };
  const lines = last.annotations.map((each) => ({ ...each, at: Date.parse(each.at) })).reverse();
  for (const [name, plot] of plots) {
    if (last.plots[name]) plot.draw(last.plots[name], range, lines);
  }
  for (const [name, html] of Object.entries(last.parts)) replace(name, html);
  for (const link of page.querySelectorAll("[data-range]")) {
    if (link.dataset.range === last.range.name) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  page.querySelector("#range-in-words").textContent = last.range.sentence;
  page.querySelector("#end-zoom").hidden = range.isLive;
  const form = page.querySelector("#fixed-range form");
  if (!form.contains(document.activeElement)) {
    form.elements.from.value = last.range.since.slice(0, 16);
    form.elements.to.value = last.range.until.slice(0, 16);
  }
}

/** Replace a part of the page, unless nothing changed; the focus stays on the same link. */
function replace(name, html) {
  const part = page.querySelector(`[data-part="${name}"]`);
  if (!part || shown.get(name) === html) return;
  const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  part.innerHTML = html; // rendered and escaped by the server's templates
  shown.set(name, html);
  if (focused) part.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
}

function age() {
  const seconds = Math.round((Date.now() - updatedAt) / 1000);
  const isFixed = last && !last.range.is_live;
  if (!updatedAt) state.textContent = "Loading…";
  else if (document.hidden) state.textContent = "Paused";
  else state.textContent = `${isFixed ? "Fixed time, updated" : "Updated"} ${seconds} s ago`;
  state.toggleAttribute("data-late", Date.now() - updatedAt > LATE_MS);
}

function go(wanted) {
  push(wanted);
  load();
}

function zoom(since, until) {
  go(fixed(since, until));
}

page.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-range]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(new URLSearchParams({ range: link.dataset.range }));
});
page.querySelector("#fixed-range form").addEventListener("submit", (event) => {
  event.preventDefault();
  const { from, to } = event.target.elements;
  go(fixed(Date.parse(`${from.value}Z`), Date.parse(`${to.value}Z`)));
  page.querySelector("#fixed-range").open = false;
});
addEventListener("popstate", load);
document.addEventListener("visibilitychange", () => (document.hidden ? (clearTimeout(timer), age()) : load()));
// Unfold's switch of the theme changes the class of the page.
new MutationObserver(() => plots.forEach((plot) => plot.redraw())).observe(document.documentElement, {
  attributes: true, attributeFilter: ["class"],
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach((plot) => plot.redraw()));
setInterval(age, 1_000);
load();
