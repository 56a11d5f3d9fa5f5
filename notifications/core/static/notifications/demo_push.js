// The button "Enable push": registers this browser for web push, and says what is in the way.
import { NotifyPush } from "/embed/latest/notify-push.js";

const STATES = {
  on: "Push is on in this browser.",
  off: "Push is off in this browser.",
  denied: "This browser does not permit notifications of this page. The settings of the browser can change that.",
  install: "On iOS, add this page to the home screen first.",
  unsupported: "This browser has no web push, or this page is neither on localhost nor on https.",
};
const ASKING = "Asking the push service of this browser's vendor …";
const NO_VENDOR =
  "The push service of this browser's vendor does not answer: it needs the internet. Until it answers, this browser gets no push; the inbox needs no vendor.";
const PATIENCE_MS = 10_000; // without the internet some browsers wait for ever
const FAULTS = {
  ...STATES,
  unconfigured: "The service has no VAPID key: NOTIFY_WEB_PUSH_PRIVATE_KEY and NOTIFY_WEB_PUSH_SUBJECT are missing.",
  AbortError: NO_VENDOR,
  NotAllowedError: "This browser refused the subscription: a private window, or no permission.",
};
const button = document.getElementById("enable-push");
const output = document.getElementById("push-state");
const { baseUrl, tokenUrl, workerUrl } = button.dataset;

// A page with `require-trusted-types-for` registers a worker with a TrustedScriptURL only.
const policy = globalThis.trustedTypes?.createPolicy("demo-push", { createScriptURL: () => workerUrl });
const push = new NotifyPush({ baseUrl, tokenUrl, workerUrl: policy ? policy.createScriptURL("") : workerUrl });

function show(state) {
  output.textContent = STATES[state];
  button.textContent = state === "on" ? "Disable push" : "Enable push";
  button.disabled = state === "unsupported" || state === "install";
  button.dataset.state = state;
}

async function run(method) {
  button.disabled = true;
  if (method === "subscribe") output.textContent = ASKING;
  const timer = setTimeout(() => (output.textContent = NO_VENDOR), PATIENCE_MS);
  try {
    show(await push[method]());
  } catch (error) {
    button.disabled = false;
    button.dataset.state = error.code ?? "error";
    output.textContent = FAULTS[error.code] ?? error.message;
  } finally {
    clearTimeout(timer);
  }
}

button.addEventListener("click", () => run(button.dataset.state === "on" ? "unsubscribe" : "subscribe"));
run("refresh");
