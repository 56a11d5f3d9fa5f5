// Numbers in words, one function for each unit of a plot.

const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const SHARE = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

export function seconds(value) {
  if (value === 0) return "0 s";
  if (value < 1) return `${COUNT.format(Math.round(value * 1000))} ms`;
  if (value < 120) return `${COUNT.format(value)} s`;
  if (value < 7200) return `${COUNT.format(value / 60)} min`;
  if (value < 172_800) return `${COUNT.format(value / 3600)} h`;
  return `${COUNT.format(value / 86_400)} d`;
}

/** Words for a value; `unit` is count, seconds, share, or money and a currency such as money:EUR. */
export function words(value, unit, { short = false } = {}) {
  if (value === null || value === undefined) return "-";
  if (unit === "seconds") return seconds(value);
  if (unit === "share") return SHARE.format(value);
  if (unit.startsWith("money:")) {
    const currency = unit.slice(6);
    const digits = value !== 0 && Math.abs(value) < 1 ? 4 : 2;
    return new Intl.NumberFormat("en", {
      style: "currency", currency, minimumFractionDigits: short ? 0 : 2, maximumFractionDigits: digits,
    }).format(value);
  }
  return (short && Math.abs(value) >= 10_000 ? SHORT : COUNT).format(value);
}
