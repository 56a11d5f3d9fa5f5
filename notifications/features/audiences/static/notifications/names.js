// Boxes that complete names: a list with data-search asks the server for the names with the typed text.

const QUIET_MS = 200; // after the last key, so that a word is one request

let timer = 0;
let asked = 0;

async function search(box, list) {
  const mine = ++asked;
  const typed = box.value.trim();
  if ([...list.options].some((each) => each.value === typed)) return; // a chosen name
  try {
    const address = new URL(list.dataset.search, location.href);
    address.searchParams.set("part", typed);
    const answer = await fetch(address, { headers: { Accept: "application/json" } });
    if (!answer.ok || answer.redirected) return;
    const { names } = await answer.json();
    if (mine !== asked) return; // a later text is under way
    list.replaceChildren(...names.map(([value, label]) => Object.assign(document.createElement("option"), { value, label })));
  } catch {
    // The network is away: the box takes the name as typed, and the check of the form judges it.
  }
}

// The capture phase, because the boxes of the audience builder stop the event.
export function completeNames() {
  document.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.list?.dataset.search) return;
    clearTimeout(timer);
    timer = setTimeout(() => search(target, target.list), QUIET_MS);
  }, { capture: true });
}
