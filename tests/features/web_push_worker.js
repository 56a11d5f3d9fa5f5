// The service worker of the test's site. The push service of the vendor, clicks and windows are replaced here:
// headless Chromium has none of them. Everything else is notify-sw.js.
const opened = [];
let subscription = null;
let number = 0;
let pushes = 0;

self.clients.openWindow = async (url) => void opened.push(url);
WindowClient.prototype.focus = async function () {
  opened.push(`focus ${this.url}`);
};
PushManager.prototype.getSubscription = async () => subscription;
PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
  const endpoint = `https://fcm.googleapis.com/fcm/send/${++number}`;
  subscription = {
    endpoint,
    options: { applicationServerKey: applicationServerKey.slice().buffer },
    unsubscribe: async () => (subscription = null) === null,
    toJSON: () => ({ endpoint, expirationTime: null, keys: { p256dh: "POINT", auth: "BTBZMqHH6r4Tts7J_aSIgg" } }),
  };
  return subscription;
};

// Counts the pushes that every listener has handled.
self.addEventListener("push", (event) => {
  const works = [];
  const wait = event.waitUntil.bind(event);
  event.waitUntil = (work) => {
    works.push(work);
    wait(work);
  };
  setTimeout(() => Promise.allSettled(works).then(() => pushes++));
});

async function dispatch(event) {
  let work;
  event.waitUntil = (promise) => (work = promise);
  self.dispatchEvent(event);
  await work;
}

self.addEventListener("message", async ({ data, ports: [port] }) => {
  if (data.notify) return;
  if (data.count) return port.postMessage({ pushes });
  if (data.happen) {
    const [name, action] = data.happen;
    const [notification] = await self.registration.getNotifications();
    await dispatch(new NotificationEvent(name, { notification, action }));
  }
  if (data.lose) {
    subscription = null;
    await dispatch(new Event("pushsubscriptionchange"));
  }
  const shown = await self.registration.getNotifications();
  port.postMessage({
    opened,
    endpoint: subscription?.endpoint,
    shown: shown.map(({ title, body, tag, dir, data, actions }) => ({ title, body, tag, dir, data, actions })),
  });
});

importScripts("SERVICE/embed/latest/notify-sw.js");
