// Types of notify-inbox.js and notify-inbox-client.js.

export interface InboxAction {
  id: string;
  label: string;
  /** null: the press is reported to the producer's service. */
  url: string | null;
}

export interface InboxItem {
  message_id: string;
  notification_id: string;
  type: string;
  category: string;
  title: string;
  body: string;
  url: string | null;
  image_url: string | null;
  actions: InboxAction[];
  data: Record<string, unknown>;
  /** The newest message of a group stands for all `size` messages. */
  group: { key: string; size: number } | null;
  created_at: string;
  expires_at: string | null;
  seen_at: string | null;
  read_at: string | null;
  archived_at: string | null;
  snoozed_until: string | null;
  /** Version of the inbox at the arrival or at the end of the last snooze; the list has the highest first. */
  added_version: number;
  version: number;
}

export interface InboxCounts {
  unread: number;
  unseen: number;
  total: number;
  categories: Record<string, { unread: number; unseen: number }>;
}

/** The look of the producer's brand; the colours can be read on a light and on a dark page. */
export interface InboxBrand {
  name: string;
  /** Empty: no logo. */
  logo_url: string;
  logo_alt: string;
  /** Font families of CSS. */
  font: string;
  color: string;
  color_on_dark: string;
}

export interface InboxView {
  tab: "inbox" | "archived" | "snoozed";
  category: string | null;
  unread: boolean;
}

/**
 * - `connecting`: page 1 is loaded for the first time
 * - `live`: changes arrive
 * - `reconnecting`: the service does not answer; the client tries again by itself
 * - `offline`: the device has no network; marks are kept and sent later
 * - `signed_out`: there is no valid token; call `retry` after the sign-in
 * - `error`: the service refuses the request; `error` has the reason
 */
export type InboxState = "connecting" | "live" | "reconnecting" | "offline" | "signed_out" | "error";

export interface InboxSnapshot {
  readonly state: InboxState;
  readonly transport: "stream" | "polling";
  readonly loaded: boolean;
  readonly loadingMore: boolean;
  readonly hasMore: boolean;
  readonly items: readonly InboxItem[];
  readonly counts: InboxCounts;
  /** Names of categories and types in `language`, as operators wrote them. */
  readonly categoryNames: Readonly<Record<string, string>>;
  /** null before page 1, and without a brand. */
  readonly brand: Readonly<InboxBrand> | null;
  readonly view: InboxView;
  /** Marks that the service has not confirmed yet. */
  readonly waiting: number;
  readonly error: InboxError | null;
}

export interface InboxError extends Error {
  /** HTTP status; 0: no response came. */
  readonly status: number;
  readonly code: string;
  readonly temporary: boolean;
}

export type TokenAnswer = string | { token: string; expires_at?: string } | null;

export interface InboxOptions {
  /** URL of the service, such as https://notify.example.com. Default: the origin of the page. */
  baseUrl?: string;
  /** Default: `me`, the recipient of the token. */
  userId?: string;
  /** A token, or a function that asks the app's back end for a token; null: nobody is signed in. */
  token?: string | (() => Promise<TokenAnswer> | TokenAnswer);
  /** URL of the app's back end that answers `{"token": "..."}`. */
  tokenUrl?: string;
  /** Messages in a page, 1 to 100. Default: 50. */
  pageSize?: number;
  /** One stream for all tabs of the browser. Default: true. */
  share?: boolean;
}

export interface InboxEvents {
  change: CustomEvent<InboxSnapshot>;
  /** A new message, once for each notification. */
  item: CustomEvent<InboxItem>;
  state: CustomEvent<InboxState>;
  /** The service refused a mark, and the mark was taken back. */
  refused: CustomEvent<{ error: InboxError; action: string }>;
}

type Ids = string | readonly string[];

/**
 * An inbox without a user interface. Marks are shown at once, sent in order, kept while the service
 * is away, and taken back if the service refuses them: then the promise fails.
 */
export declare class NotifyInbox extends EventTarget {
  constructor(options?: InboxOptions);
  start(): this;
  /** The language of `categoryNames`, such as de; en at first. A change loads page 1 again. */
  set language(language: string);
  stop(): void;
  retry(): this;
  /** Ask for changes now, for example when a push arrives. */
  refresh(): Promise<void>;
  /** The same object until the next change: fit for `useSyncExternalStore`. */
  getSnapshot: () => InboxSnapshot;
  subscribe: (listener: (snapshot: InboxSnapshot) => void) => () => void;
  show(view?: Partial<InboxView>): Promise<void>;
  loadMore(): Promise<void>;
  loadGroup(key: string): Promise<InboxItem[]>;
  markSeen(ids: Ids): Promise<unknown>;
  markRead(ids: Ids): Promise<unknown>;
  markUnread(ids: Ids): Promise<unknown>;
  archive(ids: Ids): Promise<unknown>;
  unarchive(ids: Ids): Promise<unknown>;
  snooze(ids: Ids, until: Date | string | number): Promise<unknown>;
  unsnooze(ids: Ids): Promise<unknown>;
  remove(ids: Ids): Promise<unknown>;
  seenAll(options?: { category?: string | null }): Promise<unknown>;
  readAll(options?: { category?: string | null }): Promise<unknown>;
  archiveAll(options?: { category?: string | null }): Promise<unknown>;
  runAction(messageId: string, actionId: string): Promise<unknown>;
  addEventListener<Name extends keyof InboxEvents>(
    name: Name,
    listener: (event: InboxEvents[Name]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(name: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
}

/** `<notify-inbox>`; only in notify-inbox.js. */
export declare class NotifyInboxElement extends HTMLElement {
  readonly inbox: NotifyInbox | null;
  set token(token: InboxOptions["token"]);
  set categoryLabels(labels: Record<string, string>);
  open: boolean;
}

declare global {
  interface HTMLElementTagNameMap {
    "notify-inbox": NotifyInboxElement;
  }
  interface HTMLElementEventMap {
    /** Cancel the event to open the message in the app's own way. */
    "notify-open": CustomEvent<{ item: InboxItem; url: string | null }>;
    "notify-action": CustomEvent<{ item: InboxItem; action: InboxAction }>;
    "notify-item": CustomEvent<{ item: InboxItem }>;
    "notify-counts": CustomEvent<InboxCounts>;
    "notify-state": CustomEvent<{ state: InboxState }>;
    "notify-toggle": CustomEvent<{ open: boolean }>;
  }
}
