// The steps of a series as an ordered list of forms: adds, moves and removes steps by mouse and keyboard.

import { Conditions, kindOf, messages } from "./conditions.js";
import { Fields, button, element } from "./fields.js";

const NAMES = { send: "Message", wait: "Wait", condition: "Branch", exit: "End" };
const BRANCHES = [["then", "Then"], ["else", "Else"]];

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isAbsent = (value) => value === undefined || value === null;

// Why the forms cannot show a definition; empty if they can.
export function unreadable(definition) {
  if (!isObject(definition)) return "The definition is not an object.";
  if (!Array.isArray(definition.steps)) return "The definition has no list of steps.";
  for (const name of ["trigger", "goal"]) if (!isEvent(definition[name])) return `The field ${name} is not an event.`;
  return definition.steps.map((step, index) => unreadableStep(step, `/steps/${index}`)).find(Boolean) ?? "";
}

function isEvent(value) {
  return isAbsent(value) || (isObject(value) && (value.where === undefined || isObject(value.where)));
}

function unreadableStep(step, at) {
  if (!isObject(step) || !(step.step in NAMES)) return `${at} is not a step of a known kind.`;
  for (const name of ["channels", "weekdays"]) if (step[name] !== undefined && !(Array.isArray(step[name]) && step[name].every((each) => typeof each === "string"))) return `${at}/${name} is not a list of words.`;
  if (step.fallback_chain !== undefined && typeof step.fallback_chain !== "boolean") return `${at}/fallback_chain is not true or false.`;
  for (const name of ["variables", "metadata"]) if (step[name] !== undefined && !isObject(step[name])) return `${at}/${name} is not an object.`;
  if (!isEvent(step.until_event)) return `${at}/until_event is not an event.`;
  if (step.step !== "condition") return "";
  if (!isCondition(step.if)) return `${at}/if is not a condition.`;
  for (const [name] of BRANCHES) {
    if (step[name] === undefined) continue;
    if (!Array.isArray(step[name])) return `${at}/${name} is not a list of steps.`;
    const found = step[name].map((each, index) => unreadableStep(each, `${at}/${name}/${index}`)).find(Boolean);
    if (found) return found;
  }
  return "";
}

function isCondition(condition) {
  if (!isObject(condition)) return false;
  const kind = kindOf(condition);
  if (kind === "not") return isCondition(condition.not);
  if (kind === "and" || kind === "or") return Array.isArray(condition[kind]) && condition[kind].every(isCondition);
  return Boolean(kind) && isEvent(condition);
}

export class Steps {
  // Args: place of the forms; data of the page; changed(definition) after each change.
  constructor(place, data, changed) {
    this.place = place;
    this.data = data;
    this.open = new WeakSet(); // steps whose further fields are shown
    this.removal = null; // the last removal, until the next change of the list: { text, undo }
    this.fields = new Fields({ changed: () => changed(this.definition), redraw: (at, selector) => this.redraw(at, selector) });
    this.conditions = new Conditions(this.fields, data, (at) => this.messagesBefore(at));
  }

  show(definition) {
    this.removal = null;
    this.definition = definition;
    this.draw();
  }

  draw() {
    this.place.replaceChildren(this.settings(), element("section", { class: "nc-card", "aria-labelledby": "h-steps" },
      element("h2", { id: "h-steps" }, "Steps"), this.undoer(), ...this.list(this.definition.steps, "/steps", "Steps", 0)));
  }

  redraw(at, selector) {
    this.draw();
    const holder = [...this.place.querySelectorAll("[data-at], [data-step], [data-list]")].find((each) => [each.dataset.at, each.dataset.step, each.dataset.list].includes(at));
    holder?.closest("details")?.setAttribute("open", "");
    (holder?.querySelector(selector) ?? holder?.querySelector("input, select, textarea, button:not(:disabled)"))?.focus();
  }

  settings() {
    const part = { of: this.definition, at: "" };
    return element("section", { class: "nc-card", "aria-labelledby": "h-entry" }, element("h2", { id: "h-entry" }, "Entry and goal"),
      this.fields.text(part, "description", "Description", { isLong: true }),
      this.conditions.optionalEvent(part, "trigger", "Entry", "An event enrols the recipient", { help: "Without an event, calls of the API enrol recipients." }),
      this.fields.select(part, "reentry", "A recipient is enrolled", this.data.reentries),
      this.conditions.optionalEvent(part, "goal", "Goal", "An event ends the series", { help: "The recipient leaves, and no further message is sent." }));
  }

  // A list of steps with the buttons that add one. `attach` puts a list into the definition that has no such list yet.
  list(steps, at, label, depth, attach = () => {}) {
    const kinds = Object.entries(NAMES).filter(([kind]) => kind !== "condition" || depth < this.data.max_depth);
    const add = (kind) => {
      this.removal = null;
      attach();
      steps.push(this.fresh(kind, at));
      this.fields.changed();
      this.redraw(`${at}/${steps.length - 1}`, "fieldset > div input, fieldset > div select");
    };
    return [
      element("ol", { class: "nc-series-list", "aria-label": label }, ...steps.map((step, index) => this.step(step, steps, index, at, depth))),
      element("div", { class: "nc-series-add", role: "group", "aria-label": `Add to: ${label}`, "data-list": at },
        element("span", { "aria-hidden": "true" }, "Add:"), ...kinds.map(([kind, name]) => button(name, () => add(kind), { "data-add": kind }))),
    ];
  }

  fresh(kind, at) {
    switch (kind) {
      case "send": return { step: "send", name: this.freeName(), type: "", template_id: "" };
      case "wait": return { step: "wait", days: 1 };
      case "exit": return { step: "exit" };
      default: {
        const name = this.messagesBefore(`${at}/${Infinity}`).at(-1);
        return { step: "condition", if: name ? { message: name, status: "read" } : { event: "" }, then: [], else: [] };
      }
    }
  }

  step(step, steps, index, at, depth) {
    const pointer = `${at}/${index}`;
    const number = numberOf(pointer);
    const act = (to, name) => button(name === "up" ? "↑" : "↓", () => this.move(steps, index, to, at, name),
      { "aria-label": `Move step ${number} ${name}`, "data-act": name, disabled: to < 0 || to >= steps.length });
    const title = element("legend", {}, `${number}. ${NAMES[step.step]}`);
    const made = element("fieldset", {}, title,
      element("p", { class: "nc-series-acts" }, act(index - 1, "up"), act(index + 1, "down"),
        button("✕", () => this.remove(steps, index, at), { "aria-label": `Remove step ${number}`, "data-act": "remove" })),
      ...this.content(step, pointer, depth),
      element("p", { class: "nc-bad", id: `series-fault-${pointer.replaceAll("/", "-")}`, hidden: true }));
    made.addEventListener("keydown", (event) => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!by || !event.altKey || !event.target.dataset.act) return;
      event.preventDefault();
      event.stopPropagation();
      this.move(steps, index, index + by, at, by < 0 ? "up" : "down");
    });
    return element("li", { class: "nc-series-step", "data-kind": step.step, "data-step": pointer, "data-at": pointer }, made);
  }

  move(steps, from, to, at, focused) {
    if (to < 0 || to >= steps.length) return;
    this.removal = null;
    steps.splice(to, 0, ...steps.splice(from, 1));
    this.fields.changed();
    this.redraw(`${at}/${to}`, `:scope > fieldset > .nc-series-acts > [data-act=${focused}]:not(:disabled)`);
  }

  remove(steps, index, at) {
    const pointer = `${at}/${index}`;
    const removed = steps.splice(index, 1);
    const undo = () => {
      this.removal = null;
      steps.splice(index, 0, ...removed);
      this.fields.changed();
      this.redraw(pointer, "button:not(:disabled)");
    };
    this.removal = { text: `Step ${numberOf(pointer)} is removed.`, undo };
    this.fields.changed();
    this.redraw(steps.length ? `${at}/${Math.min(index, steps.length - 1)}` : at, "button:not(:disabled)");
  }

  undoer() {
    if (!this.removal) return null;
    return element("p", { class: "nc-series-mover", role: "status" }, this.removal.text, button("Undo", this.removal.undo, { "data-act": "undo" }));
  }

  content(step, at, depth) {
    const part = { of: step, at };
    switch (step.step) {
      case "send": return this.send(part);
      case "wait": return this.wait(part);
      case "exit": return [this.fields.text(part, "reason", "Reason, for the history"), this.more(part)];
      default: return [this.conditions.draw(step.if, `${at}/if`, "If"), ...BRANCHES.map(([name, label]) => this.branch(step, name, label, at, depth)), this.more(part)];
    }
  }

  branch(step, name, label, at, depth) {
    const steps = step[name] ?? [];
    const title = `${label} of step ${numberOf(at)}`;
    return element("section", { class: "nc-series-inner", "aria-label": title }, element("h3", {}, label),
      ...this.list(steps, `${at}/${name}`, title, depth + 1, () => { step[name] = steps; }));
  }

  more({ of, at }, ...fields) {
    const named = of.step === "send" ? [] : [this.fields.text({ of, at }, "name", "Name of the step")];
    const made = element("details", { open: this.open.has(of) }, element("summary", {}, "More"), ...named, ...fields, this.mover(of, at));
    made.addEventListener("toggle", () => this.open[made.open ? "add" : "delete"](of));
    return made;
  }

  // A choice of another list for a step, and the button that moves the step to the end of the list.
  mover(step, at) {
    const targets = [["/steps", "the steps", (moved) => this.definition.steps.push(moved)]];
    for (const [each, pointer] of this.walk()) {
      if (each.step !== "condition" || `${pointer}/`.startsWith(`${at}/`)) continue;
      for (const [name, label] of BRANCHES) {
        targets.push([`${pointer}/${name}`, `${label} of step ${numberOf(pointer)}`, (moved) => (each[name] ??= []).push(moved)]);
      }
    }
    const others = targets.filter(([list]) => list !== at.slice(0, at.lastIndexOf("/")));
    if (!others.length) return null;
    const choice = element("select", { "aria-label": `List for step ${numberOf(at)}` }, ...others.map(([list, label]) => new Option(label, list)));
    return element("div", { class: "nc-series-mover" }, choice, button(`Move step ${numberOf(at)} to the end of this list`, () => {
      this.removal = null;
      this.holder(at).splice(Number(at.slice(at.lastIndexOf("/") + 1)), 1);
      others[choice.selectedIndex][2](step);
      this.fields.changed();
      this.redraw([...this.walk()].find(([each]) => each === step)[1], ":scope > fieldset > .nc-series-acts > button:not(:disabled)");
    }));
  }

  // The list with the step at a pointer.
  holder(at) {
    return at.split("/").slice(1, -1).reduce((inner, part) => inner[part], this.definition);
  }

  send(part) {
    const fields = this.fields;
    const name = fields.text(part, "name", "Name", { isRequired: true, help: "Conditions and the history use the name." });
    this.follow(name.querySelector("input, textarea"), part.of);
    return [
      element("div", { class: "nc-fields" }, name,
        fields.text(part, "template_id", "Template", { list: "series-templates", isRequired: true }),
        fields.text(part, "type", "Type", { list: "series-types", isRequired: true })),
      fields.several(part, "channels", "Channels, in the order of the choice", this.data.channels, { isOrdered: true, help: "No choice: the order of the recipient." }),
      fields.pairs(part, "variables", "Variables of the template"),
      this.more(part,
        element("div", { class: "nc-fields" },
          fields.select(part, "priority", "Priority", [["", "of the type"], ...this.data.priorities]),
          fields.select(part, "delivery", "Delivery", this.data.spreads),
          fields.select(part, "on_rejected", "After a rejected message", [["continue", "go on"], ["exit", "end the enrolment"]]),
          fields.text(part, "ttl_seconds", "Time to live in seconds", { isNumber: true }),
          fields.text(part, "collapse_key", "Collapse key")),
        fields.flag(part, "fallback_chain", "Try the next channel after a failure"),
        fields.pairs(part, "metadata", "Metadata", { noun: "entry" })),
    ];
  }

  wait(part) {
    const fields = this.fields;
    const number = (name, label) => fields.text(part, name, label, { isNumber: true });
    return [
      element("div", { class: "nc-fields" }, number("days", "Days"), number("hours", "Hours"), number("minutes", "Minutes"),
        fields.text(part, "until_local", "Then until the recipient's time", { placeholder: "09:00" })),
      fields.several(part, "weekdays", "On these days; no choice: each day", this.data.weekdays),
      this.conditions.optionalEvent(part, "until_event", "Event", "An event ends the wait early", {
        more: (event) => [fields.select(event, "since", "The event counts", [["enrolment", "since the enrolment"], ["step", "since the beginning of the wait"]])],
      }),
      this.more(part),
    ];
  }

  // A renamed message keeps its name in the conditions, unless another message has the old name.
  follow(control, step) {
    let old = step.name;
    control.addEventListener("input", () => this.refresh());
    control.addEventListener("change", () => {
      const shared = !step.name || [...this.walk()].some(([each]) => each !== step && each.step === "send" && each.name === old);
      for (const [each] of shared ? [] : this.walk()) {
        if (each.step !== "condition") continue;
        for (const asked of messages(each.if)) if (asked.message === old) asked.message = step.name;
      }
      old = step.name || old;
      this.refresh();
      this.fields.changed();
    });
  }

  refresh() {
    for (const each of this.place.querySelectorAll("select[data-messages]")) each.refresh();
  }

  *walk(steps = this.definition.steps, at = "/steps") {
    for (const [index, step] of steps.entries()) {
      yield [step, `${at}/${index}`];
      for (const [name] of BRANCHES) if (step[name]) yield* this.walk(step[name], `${at}/${index}/${name}`);
    }
  }

  // The names of the messages before a pointer, in the order of the definition.
  messagesBefore(at) {
    return [...this.walk()].filter(([step, pointer]) => step.step === "send" && step.name && isBefore(pointer, at)).map(([step]) => step.name);
  }

  freeName() {
    const taken = new Set([...this.walk()].map(([step]) => step.name));
    let number = 1;
    while (taken.has(`message-${number}`)) number += 1;
    return `message-${number}`;
  }
}

// Returns `3 then 1` for /steps/2/then/0.
export function numberOf(pointer) {
  return pointer.split("/").slice(2).map((part) => (/^\d+$/.test(part) ? Number(part) + 1 : part)).join(" ");
}

function isBefore(pointer, at) {
  const [one, other] = [pointer, at].map((each) => each.split("/").slice(2));
  for (const [index, part] of one.entries()) {
    if (part === other[index]) continue;
    if (other[index] === undefined) return false;
    return index % 2 ? part === "then" && other[index] === "else" : Number(part) < Number(other[index]);
  }
  return false;
}
