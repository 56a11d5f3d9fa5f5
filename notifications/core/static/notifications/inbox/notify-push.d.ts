/** `install`: iOS gives push only to a site on the home screen. */
export type NotifyPushState = "on" | "off" | "denied" | "unsupported" | "install";

export interface NotifyPushSettings {
  /** URL of the notification service. */
  baseUrl: string;
  /** A recipient token with the scopes `contacts:write` and `receipts:write`, or a function that returns one. */
  token?: string | (() => string | Promise<string>);
  /** URL of the site's back end that answers a GET with `{"token": "..."}`. The worker needs it between two visits. */
  tokenUrl?: string;
  /** The site's service worker, which loads notify-sw.js; default `/notify-sw.js`. With Trusted Types: a TrustedScriptURL. */
  workerUrl?: string | { toString(): string };
  /** Scope of the service worker; default: the folder of `workerUrl`. */
  scope?: string;
  /** Opened by a click on a message without a URL; default: the scope. */
  url?: string;
  icon?: string;
  badge?: string;
}

export class NotifyPushError extends Error {
  /** unsupported, install, gesture, denied, worker, token, api, unconfigured, or the name of a browser's error. */
  code: string;
}

export class NotifyPush {
  constructor(settings: NotifyPushSettings);
  state(): Promise<NotifyPushState>;
  subscribe(): Promise<NotifyPushState>;
  unsubscribe(): Promise<NotifyPushState>;
  refresh(): Promise<NotifyPushState>;
}
