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

  // An element with data-refresh="seconds" and an id takes the content of the same element of a
  // new copy of the page. A copy without data-refresh ends the refreshes.
  function refresh(element) {
    const wait = Number(element.dataset.refresh) * 1000;
    if (!wait) return;
    setTimeout(async () => {
      let next = element;
      try {
        const answer = document.hidden ? null : await fetch(location.href);
        if (answer?.ok) {
          const page = new DOMParser().parseFromString(await answer.text(), "text/html");
          const found = page.getElementById(element.id);
          if (found) {
            element.replaceWith(found);
            next = found;
          }
        }
      } catch {
        // The network is away: the next try follows.
      }
      refresh(next);
    }, wait);
  }

  for (const element of document.querySelectorAll("[data-refresh]")) refresh(element);
})();
