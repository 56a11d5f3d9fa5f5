// Runs the service worker of docs/client-receipts.md in a scope with real HTTP: events in, receipts out.
// Arguments: the file of the worker, the service's URL, the origin of the site, a push's payload, the events.
import { readFile } from "node:fs/promises";
import vm from "node:vm";

const [file, service, site, payload, ...events] = process.argv.slice(2);
const listeners = {};
const shown = [];
const scope = {
  Date,
  JSON,
  Promise,
  Error,
  // A worker resolves a path against its own site.
  fetch: (target, options) => fetch(new URL(target, site), options),
  addEventListener: (name, listener) => (listeners[name] = listener),
  registration: {
    showNotification: async (title, options) => {
      const notification = { title, ...options, closed: false, close: () => (notification.closed = true) };
      shown.push(notification);
    },
    getNotifications: async ({ tag }) => shown.filter((each) => each.tag === tag && !each.closed),
  },
  clients: { openWindow: async () => null },
};
scope.self = scope;
const code = (await readFile(file, "utf8")).replace("https://notify.example.com", service);
vm.runInNewContext(code, scope);

for (const each of events) {
  const [name, action = ""] = each.split(":");
  let work;
  const waitUntil = (promise) => (work = promise);
  // `withdraw` is the silent push about the notification of the payload, `withdraw:ID` about another notification.
  const first = JSON.parse(payload);
  const silent = {
    notification_id: action || first.notification_id, delivery_id: first.delivery_id, "notifications.withdraw": first.tag,
  };
  const data = { json: () => (name === "withdraw" ? silent : first) };
  const listener = listeners[name === "withdraw" ? "push" : name];
  listener({ data, notification: shown[0], action, waitUntil });
  const results = await work;
  for (const result of results ?? []) if (result.status === "rejected") throw result.reason;
}
console.log(JSON.stringify(shown));
