// The pages of the console: copy buttons, and parts of a page that are loaded again.
"use strict";

(() => {
  const state = document.getElementById("copied");

  // The clipboard needs a secure context; elsewhere the text is selected for the keyboard.
  async function copy(source) {
    const text = source.textContent.trim();
    try {
      await navigator.clipboard.writeText(text);
      return "Copied.";
    } catch {
      source.closest("details")?.setAttribute("open", "");
      getSelection().selectAllChildren(source);
      return "Selected: press Ctrl+C to copy.";
    }
  }

  for (const button of document.querySelectorAll("[data-copies]")) {
    button.addEventListener("click", async () => {
      state.textContent = await copy(document.getElementById(button.dataset.copies));
    });
  }

  // Make `old` equal to `fresh` with as few changes as possible: equal nodes stay, with the focus,
  // the selection and the scroll position of the reader, and what the reader opened stays open.
  function update(old, fresh) {
    for (const { name } of [...old.attributes]) if (name !== "open" && !fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    const [before, after] = [[...old.childNodes], [...fresh.childNodes]];
    after.forEach((node, index) => {
      const there = before[index];
      if (!there) old.append(node);
      else if (there.nodeType !== node.nodeType || there.nodeName !== node.nodeName || there.id !== node.id) there.replaceWith(node);
      else if (node.nodeType === Node.ELEMENT_NODE) update(there, node);
      else if (there.data !== node.data) there.data = node.data;
    });
    for (const node of before.slice(after.length)) node.remove();
  }

  // An element with data-refresh="seconds" and an id takes the content of the same element of a
  // new copy of the page. A copy without data-refresh ends the refreshes.
  function refresh(element) {
    const wait = Number(element.dataset.refresh) * 1000;
    if (!wait) return;
    setTimeout(async () => {
      try {
        const answer = document.hidden ? null : await fetch(location.href);
        if (answer?.ok) {
          const page = new DOMParser().parseFromString(await answer.text(), "text/html");
          const found = page.getElementById(element.id);
          if (found) update(element, found);
        }
      } catch {
        // The network is away: the next try follows.
      }
      refresh(element);
    }, wait);
  }

  for (const element of document.querySelectorAll("[data-refresh]")) refresh(element);
})();
