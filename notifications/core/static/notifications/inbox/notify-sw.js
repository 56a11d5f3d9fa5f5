// Service worker of web push. The site's own worker loads this file with importScripts(); docs/inbox.md has the steps.
//
//   push                    shows the message once, or closes a message that was withdrawn
//   notificationclick       opens the URL of the message or of the button, and reports `opened` or `clicked`
//   notificationclose       reports `dismissed`
//   pushsubscriptionchange  subscribes again and registers the new subscription
//   message                 answers notify-push.js: subscribe, unsubscribe, state, refresh
//
// A worker has no page and no memory: settings, the recipient token, the ids of shown messages and unsent receipts are
// in IndexedDB. Without a valid token receipts wait, at most 100, for the next event or the next visit of the site.
"use strict";

(() => {
  const DATABASE = "notify-push";
  const SHOWN = 200; // ids of messages that are not shown again
  const UNSENT = 100; // receipts that one call of the API takes
  const EARLY_MS = 30_000; // a token is renewed before its end
  const WITHDRAWN = "notifications.withdraw";
  const KEPT_STATUSES = [401, 403, 408, 425, 429]; // a receipt may succeed later; 5xx as well
  const CALLS = { subscribe, unsubscribe, state, refresh };

  // --- Storage -------------------------------------------------------------------------------

  function open() {
    return new Promise((resolve, reject) => {
      const opening = indexedDB.open(DATABASE, 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("values");
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
  }

  /** Change one value in one transaction, so that concurrent events lose nothing; return the new value. */
  async function change(name, edit) {
    const database = await open();
    try {
      return await new Promise((resolve, reject) => {
        const transaction = database.transaction("values", "readwrite");
        const values = transaction.objectStore("values");
        let changed;
        values.get(name).onsuccess = (event) => {
          changed = edit(event.target.result);
          if (changed === undefined) values.delete(name);
          else values.put(changed, name);
        };
        transaction.oncomplete = () => resolve(changed);
        transaction.onerror = transaction.onabort = () => reject(transaction.error);
      });
    } finally {
      database.close();
    }
  }

  async function read(name) {
    const database = await open();
    try {
      return await new Promise((resolve, reject) => {
        const reading = database.transaction("values").objectStore("values").get(name);
        reading.onsuccess = () => resolve(reading.result);
        reading.onerror = () => reject(reading.error);
      });
    } finally {
      database.close();
    }
  }

  // --- API -----------------------------------------------------------------------------------

  function claimsOf(token) {
    try {
      const part = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
      return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (each) => each.charCodeAt(0))));
    } catch {
      return {}; // an opaque token
    }
  }

  function problem(code, message, status) {
    return Object.assign(new Error(message), { code, status });
  }

  /** Return a token that is valid for a while: the stored token, or a new one of the site's back end. */
  async function tokenOf(settings) {
    const { token } = settings;
    if (token && (!token.expiresAt || token.expiresAt - Date.now() > EARLY_MS)) return token.text;
    if (!settings.tokenUrl) throw problem("token", "no valid token: open the site, or give tokenUrl");
    const answer = await fetch(settings.tokenUrl, { credentials: "include", cache: "no-store" });
    if (!answer.ok) throw problem("token", `${settings.tokenUrl} answered ${answer.status}`, answer.status);
    const text = (await answer.json()).token;
    await change("settings", (found) => ({ ...found, token: stored(text) }));
    return text;
  }

  function stored(text) {
    const { exp } = claimsOf(text);
    return { text, expiresAt: exp ? exp * 1000 : 0 };
  }

  function forget(text) {
    return change("settings", (found) => (found?.token?.text === text ? { ...found, token: undefined } : found));
  }

  /** Call the API as the recipient; a token that the API refuses is replaced once. */
  async function call(method, path, body) {
    for (let tries = 0; ; tries++) {
      const settings = await read("settings");
      const token = await tokenOf(settings);
      const answer = await fetch(settings.baseUrl + path, {
        method,
        headers: { Authorization: `Bearer ${token}`, ...(body && { "Content-Type": "application/json" }) },
        body: body && JSON.stringify(body),
        keepalive: method === "POST",
      });
      if (answer.ok) return answer.status === 204 ? null : answer.json();
      if (answer.status === 401) await forget(token);
      if (answer.status === 401 && settings.tokenUrl && tries === 0) continue;
      const said = await answer.json().catch(() => ({}));
      throw problem("api", said.detail || `${method} ${path} answered ${answer.status}`, answer.status);
    }
  }

  // --- Receipts ------------------------------------------------------------------------------

  async function report(deliveryId, kind) {
    if (!deliveryId) return;
    const receipt = { delivery_id: deliveryId, kind, occurred_at: new Date().toISOString() };
    await change("unsent", (found = []) => [...found, receipt].slice(-UNSENT));
    await sendReceipts();
  }

  /** Send the waiting receipts. A repeat is harmless, so receipts leave the list after the answer. */
  async function sendReceipts() {
    const [receipts, settings] = [await read("unsent"), await read("settings")];
    if (!receipts?.length || !settings) return;
    try {
      await call("POST", "/v1/receipts/client", { receipts });
    } catch (error) {
      if (!error.status || error.code === "token" || error.status >= 500 || KEPT_STATUSES.includes(error.status)) {
        await self.registration.sync?.register("notify-push").catch(() => {});
        return;
      }
      console.warn(`notify-push: receipts were refused: ${error.message}`);
    }
    const sent = new Set(receipts.map((each) => JSON.stringify(each)));
    await change("unsent", (found = []) => found.filter((each) => !sent.has(JSON.stringify(each))));
  }

  // --- Messages ------------------------------------------------------------------------------

  function payloadOf(event) {
    try {
      const payload = event.data.json();
      return payload?.notification_id ? payload : null;
    } catch {
      return null; // a push of another sender, for another listener of the worker
    }
  }

  async function remember(id) {
    await change("shown", (found = []) => [...found.filter((each) => each !== id), id].slice(-SHOWN));
  }

  async function take(payload) {
    const { notification_id: id, delivery_id: delivery } = payload;
    if (WITHDRAWN in payload) {
      for (const each of await self.registration.getNotifications({ tag: payload[WITHDRAWN] })) {
        if (each.data?.notification_id === id) each.close();
      }
      return remember(id); // the message may arrive after its withdrawal
    }
    if (!((await read("shown")) ?? []).includes(id)) {
      await show(payload);
      await remember(id); // after the display: a killed worker shows the message again, and loses none
    }
    return report(delivery, "received");
  }

  async function show({ title, body, tag, data = {}, notification_id, delivery_id }) {
    const settings = (await read("settings")) ?? {};
    const actions = actionsOf(data.actions);
    await self.registration.showNotification(title || self.location.hostname, {
      body,
      tag,
      renotify: Boolean(tag), // a later message with the same collapse key alerts again
      dir: "auto",
      icon: data.icon || settings.icon,
      badge: settings.badge,
      image: data.image_url,
      actions: actions.map(({ id, label }) => ({ action: id, title: label })),
      data: { ...data, actions, notification_id, delivery_id },
    });
  }

  /** Return the buttons `[{id, label, url}]`; the values of a push's data are texts. */
  function actionsOf(written) {
    try {
      const actions = typeof written === "string" ? JSON.parse(written) : written;
      return (actions ?? []).filter(({ id, label }) => id && label).slice(0, Notification.maxActions ?? 2);
    } catch {
      return [];
    }
  }

  /** Return a web address for a click; other schemes, such as javascript:, become the start page. */
  function target(written, settings) {
    try {
      const url = new URL(written || settings?.url || self.registration.scope, self.registration.scope);
      if (["https:", "http:"].includes(url.protocol)) return url.href;
    } catch {
      // Not a URL.
    }
    return self.registration.scope;
  }

  async function follow(data, action) {
    const button = data.actions?.find(({ id }) => id === action);
    const url = target(button?.url || data.url, await read("settings"));
    const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    const page = pages.find((each) => each.url === url);
    return page ? page.focus() : self.clients.openWindow(url);
  }

  // --- Subscription --------------------------------------------------------------------------

  function keyBytes(text) {
    const written = text.replaceAll("-", "+").replaceAll("_", "/");
    return Uint8Array.from(atob(written), (each) => each.charCodeAt(0));
  }

  function isFor(subscription, key) {
    const [has, wanted] = [new Uint8Array(subscription.options.applicationServerKey ?? []), keyBytes(key)];
    return has.length === wanted.length && has.every((each, place) => each === wanted[place]);
  }

  /** Return a subscription for the key; a subscription for a former key ends. */
  async function subscriptionFor(key) {
    const manager = self.registration.pushManager;
    const found = await manager.getSubscription();
    if (found && isFor(found, key)) return found;
    await found?.unsubscribe();
    return manager.subscribe({ userVisibleOnly: true, applicationServerKey: keyBytes(key) });
  }

  function register(subscription) {
    const { endpoint, keys } = subscription.toJSON();
    const address = JSON.stringify({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } });
    return call("POST", "/v1/recipients/me/contacts", { channel: "push", kind: "web_push", address });
  }

  /** Remove a contact whose subscription has ended. Otherwise the next send finds the end and invalidates the contact. */
  async function removeContact(id) {
    try {
      await call("DELETE", `/v1/recipients/me/contacts/${id}`);
    } catch (error) {
      console.warn(`notify-push: contact ${id} stays: ${error.message}`);
    }
  }

  /** Subscribe with the current key and register the browser; safe to run twice. */
  async function ensure(user) {
    const { public_key: key } = await call("GET", "/v1/push/web/key");
    if (!key) throw problem("unconfigured", "the notification service has no web push");
    let subscription = await subscriptionFor(key);
    let contact = await register(subscription);
    if (!contact.valid) {
      await subscription.unsubscribe(); // the push service gave this subscription up: take a new one
      subscription = await subscriptionFor(key);
      contact = await register(subscription);
    }
    const former = await read("registered");
    await change("registered", () => ({ contact: contact.id, endpoint: subscription.endpoint, user }));
    if (former && former.contact !== contact.id) await removeContact(former.contact);
  }

  /** Store the settings of the page. The token of an earlier visit may be another user's, so the token goes. */
  function store({ token, ...rest }) {
    return change("settings", () => ({ ...rest, token: token && stored(token) }));
  }

  /**
   * Return the user of the token. The subscription of a former user of this browser ends, because that user's messages
   * must not be shown to another.
   */
  async function currentUser() {
    const user = claimsOf(await tokenOf(await read("settings"))).sub;
    const registered = await read("registered");
    if (!registered || registered.user === user) return user;
    await (await self.registration.pushManager.getSubscription())?.unsubscribe();
    for (const name of ["registered", "unsent", "shown"]) await change(name, () => undefined);
    for (const each of await self.registration.getNotifications()) {
      if (each.data?.notification_id) each.close();
    }
    return user;
  }

  async function subscribe(settings) {
    await store(settings);
    await ensure(await currentUser());
    return state();
  }

  async function unsubscribe(settings) {
    await store(settings);
    const registered = await read("registered");
    await (await self.registration.pushManager.getSubscription())?.unsubscribe();
    await change("registered", () => undefined);
    if (registered) await removeContact(registered.contact);
    return state();
  }

  async function state() {
    const subscription = await self.registration.pushManager.getSubscription();
    const registered = await read("registered");
    return subscription && registered?.endpoint === subscription.endpoint ? "on" : "off";
  }

  /** At a visit of the site: send receipts; register again after a change of the key or of the subscription. */
  async function refresh(settings) {
    await store(settings);
    await renew();
    await sendReceipts();
    return state();
  }

  async function renew() {
    if (!(await read("registered"))) return;
    const user = await currentUser();
    if ((await read("registered")) && Notification.permission === "granted") await ensure(user);
  }

  // --- Events --------------------------------------------------------------------------------

  self.addEventListener("push", (event) => {
    const payload = payloadOf(event);
    if (payload) event.waitUntil(take(payload));
  });

  self.addEventListener("notificationclick", (event) => {
    const { data } = event.notification;
    if (!data?.notification_id) return;
    event.notification.close();
    const kind = event.action ? "clicked" : "opened";
    event.waitUntil(Promise.allSettled([follow(data, event.action), report(data.delivery_id, kind)]));
  });

  self.addEventListener("notificationclose", (event) => {
    const { data } = event.notification;
    if (data?.notification_id) event.waitUntil(report(data.delivery_id, "dismissed"));
  });

  self.addEventListener("pushsubscriptionchange", (event) => {
    event.waitUntil(renew());
  });

  self.addEventListener("sync", (event) => {
    if (event.tag === "notify-push") event.waitUntil(sendReceipts());
  });

  self.addEventListener("message", (event) => {
    const { notify, settings } = event.data ?? {};
    const [port] = event.ports;
    if (!port || !Object.hasOwn(CALLS, notify ?? "")) return;
    const work = CALLS[notify](settings ?? {}).then(
      (answer) => port.postMessage({ answer }),
      (error) => port.postMessage({ error: { code: error.code ?? error.name, message: error.message } }),
    );
    event.waitUntil(work);
  });
})();
