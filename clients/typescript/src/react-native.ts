/**
 * The hook of the inbox for React Native. The package has the class `NotifyInbox`, because an app loads no script of the service.
 * It needs React Native 0.74 or later, whose `atob` reads tokens.
 */

import { useEffect, useRef } from "react";
import { NotifyInbox } from "./inbox-client.js";
import { useInboxOf, type InboxClass, type UsedInbox, type UseInboxOptions as Options } from "./use-inbox.ts";

export type { InboxAction, InboxCounts, InboxItem, InboxSnapshot, InboxState, InboxView } from "./inbox.ts";
export type { UsedInbox } from "./use-inbox.ts";
export { NotifyInbox };

/** Options of `useInbox`. `tokenUrl` is a whole URL, because an app has no origin. */
export interface UseInboxOptions extends Options {
  /** Calls a function when the app comes to the foreground; returns the function that ends the subscription. */
  onForeground?: (call: () => void) => () => void;
}

const classOf: InboxClass = async () => NotifyInbox;

/**
 * Returns the inbox of the signed-in person, which starts with the component and stops with it. The inbox asks for changes every
 * 15 seconds, when the app comes to the foreground, and at `inbox.refresh()`, for example when a push arrives.
 */
export function useInbox({ onForeground, ...options }: UseInboxOptions): UsedInbox {
  const used = useInboxOf(classOf, options);
  const { inbox } = used;
  const newest = useRef(onForeground);
  useEffect(() => {
    newest.current = onForeground;
  });
  // A new function in each render is no new subscription: one that calls at once would ask again after each answer.
  useEffect(() => newest.current?.(() => void inbox?.refresh().catch(() => {})), [inbox]);
  return used;
}
