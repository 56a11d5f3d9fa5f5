// Web push of one page: asks for the permission, and lets the service worker (notify-sw.js) subscribe and register.
//
//   const push = new NotifyPush({ baseUrl: "https://notify.example.com", tokenUrl: "/notifications/token" });
//   button.onclick = () => push.subscribe();
//   if (await push.state() === "on") push.refresh();

const START_MS = 10_000;

/** A failure with a `code`: unsupported, install, gesture, denied, worker, token, api, unconfigured, or the name of a browser's error. */
export class NotifyPushError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "NotifyPushError";
    this.code = code;
  }
}

export class NotifyPush {
  #settings;

  constructor({ baseUrl, token, tokenUrl, workerUrl = "/notify-sw.js", scope, url, icon, badge }) {
    const absolute = (written) => written && new URL(written, document.baseURI).href;
    this.#settings = {
      baseUrl: absolute(baseUrl).replace(/\/+$/, ""),
      token,
      tokenUrl: absolute(tokenUrl),
      workerUrl,
      scope,
      texts: { url: absolute(url), icon: absolute(icon), badge: absolute(badge) },
    };
  }

  /** "on", "off", "denied", "unsupported", or "install": iOS gives push only to a site on the home screen. */
  async state() {
    const missing = unavailable();
    if (missing) return missing;
    if (Notification.permission === "denied") return "denied";
    const registration = await this.#registration();
    if (!registration?.active || Notification.permission !== "granted") return "off";
    return ask(registration.active, "state");
  }

  /** Ask for the permission and register this browser. Call it from a click: browsers refuse a question without one. */
  async subscribe() {
    const missing = unavailable();
    if (missing === "install") throw new NotifyPushError(missing, "add the site to the home screen first");
    if (missing) throw new NotifyPushError(missing, "this browser has no web push, or the page has no https");
    await permit();
    return this.#call("subscribe", await this.#start());
  }

  /** Stop push in this browser and remove the contact; call it before the user signs out. */
  async unsubscribe() {
    const registration = unavailable() ? undefined : await this.#registration();
    return registration?.active ? this.#call("unsubscribe", registration.active) : "off";
  }

  /** At each visit: send waiting receipts, and register again after a change of the user, the key or the subscription. */
  async refresh() {
    const registration = unavailable() ? undefined : await this.#registration();
    return registration?.active ? this.#call("refresh", registration.active) : this.state();
  }

  #registration() {
    const { scope, workerUrl } = this.#settings;
    const place = scope ?? new URL(".", new URL(workerUrl, document.baseURI)).href;
    return navigator.serviceWorker.getRegistration(place);
  }

  async #start() {
    const { scope, workerUrl } = this.#settings;
    try {
      return await activated(await navigator.serviceWorker.register(workerUrl, { scope }));
    } catch (error) {
      throw new NotifyPushError("worker", `the service worker ${workerUrl} did not start: ${error.message}`);
    }
  }

  async #call(name, worker) {
    const { baseUrl, token, tokenUrl, texts } = this.#settings;
    const current = typeof token === "function" ? await token() : token;
    return ask(worker, name, { baseUrl, tokenUrl, token: current, ...texts });
  }
}

function unavailable() {
  const isSupported = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  if (isSupported) return null;
  // Safari on iOS has `standalone`, and web push only where its value is true.
  return navigator.standalone === false ? "install" : "unsupported";
}

async function permit() {
  if (Notification.permission === "default" && navigator.userActivation && !navigator.userActivation.isActive) {
    throw new NotifyPushError("gesture", "call subscribe() from a click");
  }
  const answer = await Notification.requestPermission();
  if (answer !== "granted") throw new NotifyPushError("denied", "the user did not permit notifications");
}

function activated(registration) {
  const { active, installing, waiting } = registration;
  const worker = active ?? waiting ?? installing;
  if (worker.state === "activated") return worker;
  return new Promise((resolve, reject) => {
    worker.addEventListener("statechange", () => {
      if (worker.state === "activated") resolve(worker);
      if (worker.state === "redundant") reject(new Error("the installation failed"));
    });
    // A worker that waits for the end of an older one still answers messages.
    setTimeout(() => resolve(worker), START_MS);
  });
}

function ask(worker, notify, settings) {
  return new Promise((resolve, reject) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data: { answer, error } }) => {
      port1.close();
      if (error) reject(new NotifyPushError(error.code, error.message));
      else resolve(answer);
    };
    worker.postMessage({ notify, settings }, [port2]);
  });
}
