// Mails in blocks: inserts, moves and removes blocks of a source, by mouse and by keyboard.
// The source in the text box is the mail; the list of blocks is drawn from it. Each part of a page
// with `data-blocks` has a text box and, where the mail may be changed, `admin/block_tools.html`.
"use strict";

for (const root of document.querySelectorAll("[data-blocks]")) {
  const OPENING = new Set(["columns", "table", "if"]);
  const LABEL_LENGTH = 48;

  const source = root.querySelector("textarea");
  const list = root.querySelector(".nc-blocks"); // only where there is a draft to be changed
  let dragged = -1;

  // Returns the blocks of a source with their first and last position.
  function split(text) {
    const blocks = [];
    let depth = 0;
    let start = -1;
    let position = 0;
    const end = (at) => {
      if (start >= 0) blocks.push({ start, end: at, text: text.slice(start, at) });
      start = -1;
    };
    for (const line of text.split("\n")) {
      const word = /^[ \t]{0,3}:::[ \t]*(\w+)/.exec(line)?.[1];
      const alone = depth === 0 && (word || /^(#{1,6} |---\s*$)/.test(line));
      if (depth === 0 && (alone || !line.trim())) end(position - 1);
      if (start < 0 && line.trim()) start = position;
      position += line.length;
      if (OPENING.has(word)) depth += 1;
      else if (word === "end" && depth > 0) depth -= 1;
      if (depth === 0 && (alone || word === "end")) end(position);
      position += 1;
    }
    end(text.length);
    return blocks;
  }

  function nameOf(text) {
    const [first, second = ""] = text.replace(/!?\[([^\]]*)\]\([^)\n]*\)/g, (link, label) => (link[0] === "!" ? `!${label}` : label)).split("\n");
    const directive = /^[ \t]*:::[ \t]*(\w+)[ \t]*(.*)/.exec(first);
    if (directive) return `${directive[1]}: ${directive[2] || second}`.slice(0, LABEL_LENGTH);
    const kind = /^#/.test(first) ? "heading" : /^---/.test(first) ? "divider" : /^!/.test(first) ? "image"
      : /^([-*]|\d+\.) /.test(first) ? "list" : /^\|/.test(first) ? "table" : "text";
    return `${kind}: ${first.replace(/^[#!\-*\s]+/, "")}`.slice(0, LABEL_LENGTH);
  }

  function write(texts) {
    source.value = texts.join("\n\n");
    source.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function select(number) {
    const block = split(source.value)[number];
    if (!block) return;
    source.focus();
    source.setSelectionRange(block.start, block.end);
  }

  function insert(text) {
    const blocks = split(source.value);
    const caret = source.selectionEnd;
    const before = blocks.filter((block) => block.start < caret).length;
    const texts = blocks.map((block) => block.text);
    texts.splice(before, 0, text);
    write(texts);
    select(before);
  }

  function move(from, to, focused) {
    const texts = split(source.value).map((block) => block.text);
    if (to < 0 || to >= texts.length || from === to) return;
    texts.splice(to, 0, ...texts.splice(from, 1));
    write(texts);
    list.children[to]?.querySelector(`[data-act=${focused}]`)?.focus();
  }

  function remove(number) {
    write(split(source.value).map((block) => block.text).filter((_, each) => each !== number));
    (list.children[Math.min(number, list.children.length - 1)]?.querySelector("[data-act=select]") || source).focus();
  }

  function button(act, text, label) {
    const made = document.createElement("button");
    made.type = "button";
    made.dataset.act = act;
    made.textContent = text;
    if (label) made.setAttribute("aria-label", label);
    return made;
  }

  function draw() {
    if (!list) return;
    list.replaceChildren(...split(source.value).map(({ text }) => {
      const name = nameOf(text);
      const item = document.createElement("li");
      item.draggable = true;
      item.append(
        button("select", name),
        button("up", "↑", `Move up: ${name}`),
        button("down", "↓", `Move down: ${name}`),
        button("remove", "✕", `Remove: ${name}`),
      );
      return item;
    }));
  }

  function numberOf(element) {
    return [...list.children].indexOf(element.closest("li"));
  }

  for (const inserting of root.querySelectorAll("[data-insert]")) {
    inserting.addEventListener("click", () => insert(inserting.dataset.insert));
  }

  if (list) {
    list.addEventListener("click", (event) => {
      const act = event.target.dataset.act;
      if (!act) return;
      const number = numberOf(event.target);
      if (act === "select") select(number);
      else if (act === "remove") remove(number);
      else move(number, number + (act === "up" ? -1 : 1), act);
    });
    list.addEventListener("keydown", (event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step || !event.target.dataset.act) return;
      event.preventDefault();
      const number = numberOf(event.target);
      if (event.altKey) move(number, number + step, event.target.dataset.act);
      else list.children[number + step]?.querySelector(`[data-act=${event.target.dataset.act}]`).focus();
    });
    list.addEventListener("dragstart", (event) => {
      dragged = numberOf(event.target);
      event.dataTransfer.effectAllowed = "move";
    });
    list.addEventListener("dragover", (event) => {
      if (dragged >= 0) event.preventDefault();
    });
    list.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.target.closest("li")) move(dragged, numberOf(event.target), "select");
      dragged = -1;
    });
  }

  source.addEventListener("input", draw);
  draw();
}
