// Elements without HTML text: what the service sends becomes text nodes and checked URLs.

const ICONS = {
  bell: "M6 9a6 6 0 0 1 12 0c0 6 2.5 7.5 2.5 7.5h-17S6 15 6 9M10 20a2.2 2.2 0 0 0 4 0",
  check: "M4 12.5l5 5L20 6.5",
  checks: "M2 12.5l4.5 4.5M11 12.5L18 5.5M8 12.5l4.5 4.5L23 6.5",
  close: "M6 6l12 12M18 6L6 18",
  dots: "M5 12h.01M12 12h.01M19 12h.01",
  archive: "M4 8v11h16V8M3 4h18v4H3zM10 12h4",
  inbox: "M4 13l2.5-8h11L20 13v6H4zM4 13h5l1 2.5h4l1-2.5h5",
  clock: "M12 7v5l3 2M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18",
  mail: "M3 6h18v12H3zM3 7l9 6.5L21 7",
  bin: "M4 7h16M9 7V4h6v3M6.5 7l1 13h9l1-13",
};
const SVG = "http://www.w3.org/2000/svg";

/** Make an element: a key with `on` is a listener, other keys are attributes, false and null are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Set an attribute if it differs; null removes it. */
export function set(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  if (name === "dots") path.setAttribute("stroke-width", "2.75");
  svg.append(path);
  return svg;
}

/** Return the URL if a link may have it, else null: https, this page's own origin, or a named scheme. */
export function safeUrl(text, schemes = []) {
  if (typeof text !== "string" || text === "") return null;
  let url;
  try {
    url = new URL(text, document.baseURI);
  } catch {
    return null;
  }
  const scheme = url.protocol.slice(0, -1);
  const isOwn = scheme === "http" && url.origin === location.origin;
  return scheme === "https" || isOwn || (schemes.includes(scheme) && !UNSAFE.has(scheme)) ? url.href : null;
}

const UNSAFE = new Set(["javascript", "data", "vbscript", "blob", "file", "about", "filesystem"]);

/** Put a fixed box beside a button, inside the window. */
export function placeBeside(box, button, direction) {
  const { left, right, top, bottom } = button.getBoundingClientRect();
  const [width, height] = [box.offsetWidth, box.offsetHeight];
  const start = direction === "rtl" ? left : right - width;
  const x = Math.max(8, Math.min(start, document.documentElement.clientWidth - width - 8)); // without the scroll bar
  const isBelow = bottom + 6 + height <= innerHeight - 8 || top < innerHeight - bottom;
  const y = isBelow ? Math.min(bottom + 6, innerHeight - height - 8) : top - 6 - height;
  box.style.left = `${x}px`;
  box.style.top = `${Math.max(8, y)}px`;
}

/** Show or hide a box in the top layer, or above by z-index in an older browser. */
export function toggle(box, isOpen) {
  box.classList.toggle("open", isOpen);
  if (!box.showPopover) return;
  if (isOpen) box.showPopover();
  else if (box.matches(":popover-open")) box.hidePopover();
}
