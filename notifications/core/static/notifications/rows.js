// A table of rows of simple values, in which a person changes the cells, and adds and removes rows.

const MOST_CELLS = 500; // a longer list is JSON, so that each key stays fast

export function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const isSimple = (value) => ["string", "number", "boolean"].includes(typeof value);
const isRow = (value) => value && typeof value === "object" && !Array.isArray(value) && Object.values(value).every(isSimple);
const columnsOf = (rows) => [...new Set(rows.flatMap(Object.keys))];
const isSmall = (rows) => rows.length <= MOST_CELLS && columnsOf(rows).length > 0 && rows.length * columnsOf(rows).length <= MOST_CELLS;

export const isTable = (value) => Array.isArray(value) && value.length > 0 && value.every(isRow) && isSmall(value);

// Returns the typed text as a value of the kind that was there, else as a text. A whole number whose last digits JavaScript loses stays a text.
export function retyped(text, before) {
  const number = Number(text);
  const isKept = Number.isSafeInteger(number) || (Number.isFinite(number) && !Number.isInteger(number));
  if (typeof before === "number" && text.trim() && isKept) return number;
  if (typeof before === "boolean" && ["true", "false"].includes(text)) return text === "true";
  return text;
}

// Returns the table. `read` returns the present rows, `change` stores rows, and `replace` stores rows and draws the table again.
export function rowTable(name, rows, { read, change, replace, isRequired = true }) {
  const columns = columnsOf(rows);

  function cell(index, column, value) {
    const field = element("input", { value: String(value), ariaLabel: `${name}, row ${index + 1}, ${column}` });
    field.addEventListener("input", (event) => {
      event.stopPropagation(); // the form has the rows in another field
      const changed = structuredClone(read());
      changed[index][column] = retyped(field.value, value);
      change(changed);
    });
    return element("td", {}, field);
  }

  function remove(index) {
    const button = element("button", { type: "button", textContent: "\u2715", ariaLabel: `Remove row ${index + 1} of ${name}`, disabled: isRequired && rows.length === 1 });
    button.addEventListener("click", () => replace(read().filter((_, other) => other !== index)));
    return element("td", {}, button);
  }

  const head = element("tr", {}, ...columns.map((each) => element("th", { scope: "col", textContent: each })), element("td", {}));
  const lines = rows.map((row, index) => element("tr", {}, ...columns.map((column) => cell(index, column, Object.hasOwn(row, column) ? row[column] : "")), remove(index)));
  const add = element("button", { type: "button", className: "nc-small", textContent: "Add a row" });
  add.dataset.act = "add-row";
  add.addEventListener("click", () => replace([...read(), { ...read().at(-1) }]));
  const legend = element("legend", { textContent: name });
  const whole = element("fieldset", { className: "nc-rows" }, legend, element("table", {}, element("thead", {}, head), element("tbody", {}, ...lines)), add);
  whole.dataset.sample = name;
  return whole;
}
