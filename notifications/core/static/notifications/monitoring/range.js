// The time range in the URL: ?range=1h for the last hour, ?from=...&to=... for a fixed time.

const DAY = 86_400_000;

/** The part of the URL's query that names a time range; the server reads the same names. */
export function query(search = location.search) {
  const given = new URLSearchParams(search);
  const kept = new URLSearchParams();
  for (const name of ["range", "from", "to"]) {
    if (given.has(name)) kept.set(name, given.get(name));
  }
  return kept;
}

/** The query of a fixed time; milliseconds since 1970. */
export function fixed(since, until) {
  return new URLSearchParams({ from: iso(since), to: iso(until) });
}

function iso(milliseconds) {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Keep the query in the URL, as an entry of the browser's history. */
export function push(wanted) {
  const url = new URL(location.href);
  url.search = wanted.toString();
  history.pushState(null, "", url);
}

const format = (options) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });
const TIME = format({ hour: "2-digit", minute: "2-digit" });
const TIME_WITH_SECONDS = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DATE = format({ day: "numeric", month: "short" });
const DATE_AND_TIME = format({
  day: "numeric", month: "short", hour: "2-digit", minute: "2-digit",
});

/** Words for a tick of the time axis. */
export function tick(at, span) {
  if (span > 3 * DAY) return DATE.format(at);
  return at % DAY === 0 ? DATE.format(at) : TIME.format(at);
}

/** Words for an instant, with the date where the range has several days. */
export function instant(at, span) {
  return (span > DAY ? DATE_AND_TIME : TIME).format(at);
}

/** Words for an instant of today with seconds. */
export function clock(at) {
  return `${TIME_WITH_SECONDS.format(at)} UTC`;
}

const TICK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080, 20_160, 43_200];

/** Round instants for about so many ticks. */
export function ticks(since, until, count) {
  const steps = TICK_STEPS.map((minutes) => minutes * 60_000);
  const step = steps.find((each) => (until - since) / each <= count) ?? steps.at(-1);
  const found = [];
  for (let at = Math.ceil(since / step) * step; at <= until; at += step) found.push(at);
  return found;
}
