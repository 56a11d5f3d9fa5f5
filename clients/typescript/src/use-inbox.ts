/** The hook of the inbox, without the way in which an app gets the class `NotifyInbox`. */

import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { InboxError, InboxOptions, InboxSnapshot, NotifyInbox } from "./inbox.ts";

/** Options of `useInbox`. */
export interface UseInboxOptions extends InboxOptions {
  /** URL of the service, such as https://notify.example.com. */
  baseUrl: string;
  /** Id of the signed-in person in your app; another id makes another inbox. */
  person?: string;
}

/** The snapshot of the inbox, and the inbox itself; null until its script is loaded. */
export interface UsedInbox extends InboxSnapshot {
  readonly inbox: NotifyInbox | null;
}

const EMPTY: InboxSnapshot = {
  state: "connecting",
  transport: "stream",
  loaded: false,
  loadingMore: false,
  hasMore: false,
  items: [],
  counts: { unread: 0, unseen: 0, total: 0, categories: {} },
  categoryNames: {},
  brand: null,
  view: { tab: "inbox", category: null, unread: false },
  waiting: 0,
  error: null,
};

const noSubscription = () => () => {};
const empty = () => EMPTY;

/** A token, or a function that returns the newest token: a new function in each render is no new token. */
export function useToken(token: InboxOptions["token"]): InboxOptions["token"] {
  const newest = useRef(token);
  useEffect(() => {
    newest.current = token;
  });
  const [ask] = useState(() => () => {
    const now = newest.current;
    return typeof now === "function" ? now() : (now ?? null);
  });
  return typeof token === "function" ? ask : token;
}

/** Returns the class `NotifyInbox`; the message of an error is shown to the person. */
export type InboxClass = (baseUrl: string) => Promise<new (options: InboxOptions) => NotifyInbox>;

/**
 * Returns the inbox of the signed-in person, which starts with the component and stops with it. The state is `connecting` until
 * the class is there, and `error` if it cannot be loaded.
 *
 * @param classOf the same function at each call.
 */
export function useInboxOf(classOf: InboxClass, options: UseInboxOptions): UsedInbox {
  const { baseUrl, userId, tokenUrl, pageSize, share, person } = options;
  const token = useToken(options.token);
  const of = JSON.stringify([baseUrl, userId, tokenUrl, pageSize, share, person, typeof token === "string" && token]);
  const [held, setHeld] = useState<{ inbox: NotifyInbox; of: string } | null>(null);
  const inbox = held?.of === of ? held.inbox : null; // never the inbox of the former person
  const [error, setError] = useState<InboxError | null>(null);
  useEffect(() => {
    let started: NotifyInbox | null = null;
    let isLeft = false;
    const given = { baseUrl, userId, tokenUrl, pageSize, share, token };
    const present = Object.entries(given).filter(([, value]) => value !== undefined);
    classOf(baseUrl).then(
      (Class) => {
        if (isLeft) return;
        started = new Class(Object.fromEntries(present)).start();
        setError(null);
        setHeld({ inbox: started, of });
      },
      (reason: unknown) => {
        if (isLeft) return;
        const failed = new Error(`The script of the inbox cannot be loaded from ${baseUrl}.`, { cause: reason });
        setError(Object.assign(failed, { status: 0, code: "script_not_loaded", temporary: true }));
      },
    );
    return () => {
      isLeft = true;
      started?.stop();
      setHeld(null);
    };
  }, [classOf, of, token]);
  const snapshot = useSyncExternalStore(inbox?.subscribe ?? noSubscription, inbox?.getSnapshot ?? empty, empty);
  return error && !inbox ? { ...snapshot, state: "error", error, inbox } : { ...snapshot, inbox };
}

