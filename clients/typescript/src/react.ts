"use client";

/**
 * Components and a hook for React 18 and 19: `<Inbox>` is `<notify-inbox>`, `<Preferences>` is `<notify-preferences>`, and
 * `useInbox` is the inbox for an own user interface. A page loads the scripts of the service from `baseUrl` at the first use,
 * but for an element that a script of the page has defined before, such as one with `integrity`.
 */

import { createElement, useEffect, useRef, type CSSProperties, type ReactElement, type ReactNode } from "react";
import type { InboxOptions, NotifyInbox, NotifyInboxElement } from "./inbox.ts";
import { useInboxOf, useToken, type InboxClass, type UsedInbox, type UseInboxOptions } from "./use-inbox.ts";

export type { InboxAction, InboxCounts, InboxItem, InboxSnapshot, InboxState, InboxView } from "./inbox.ts";
export type { UsedInbox, UseInboxOptions } from "./use-inbox.ts";

function load(baseUrl: string, script: string): Promise<unknown> {
  const url = `${baseUrl.replace(/\/+$/, "")}/embed/latest/${script}`;
  return import(/* webpackIgnore: true */ /* @vite-ignore */ url);
}

const classOf: InboxClass = async (baseUrl) => {
  const module = (await load(baseUrl, "notify-inbox-client.js")) as { NotifyInbox: new (options: InboxOptions) => NotifyInbox };
  return module.NotifyInbox;
};

/**
 * Returns the inbox of the signed-in person, which starts with the component and stops with it. The state is `connecting` until
 * the script is loaded, and `error` if the script cannot be loaded.
 */
export function useInbox(options: UseInboxOptions): UsedInbox {
  return useInboxOf(classOf, options);
}

/** Properties of both components. */
export interface ElementProps {
  /** URL of the service, such as https://notify.example.com. */
  baseUrl: string;
  /** URL of your back end that returns a token. */
  tokenUrl?: string;
  /** A token, or a function that returns a token, or null while nobody is signed in. */
  token?: InboxOptions["token"] | null;
  /** Default: `me`, the recipient of the token. */
  userId?: string;
  /** Language of the component, such as de. Default: the language of the page. */
  locale?: string;
  className?: string;
  style?: CSSProperties;
  /** Content of the slots. */
  children?: ReactNode;
}

type Handler<Name extends keyof HTMLElementEventMap> = (event: HTMLElementEventMap[Name]) => void;

/** Properties of `<Inbox>`; each handler gets the event of `<notify-inbox>`. */
export interface InboxProps extends ElementProps {
  theme?: "light" | "dark";
  categoryLabels?: Record<string, string>;
  linkTarget?: string;
  /** URL schemes of links beside https and the page's own origin, such as "myapp tel". */
  urlSchemes?: string;
  /** "none": the component does not take the look of the producer's brand. */
  brand?: "none";
  open?: boolean;
  /** Cancel the event to open the message in the app's own way. */
  onOpen?: Handler<"notify-open">;
  onAction?: Handler<"notify-action">;
  onItem?: Handler<"notify-item">;
  onCounts?: Handler<"notify-counts">;
  onState?: Handler<"notify-state">;
  onToggle?: Handler<"notify-toggle">;
}

/** Properties of `<Preferences>`. */
export interface PreferencesProps extends ElementProps {
  /** A change is saved; `detail` has the preferences. */
  onPreferences?: (event: CustomEvent<unknown>) => void;
}

type Handlers = Record<string, ((event: never) => void) | undefined>;

/** The attributes, the token and the handlers of a custom element; React 18 sets attributes alone. */
function useElement(tag: string, props: ElementProps, attributes: Record<string, string | undefined>, handlers: Handlers) {
  const { baseUrl, className, style, children } = props;
  const place = useRef<HTMLElement>(null);
  const newest = useRef(handlers);
  const token = useToken(props.token ?? undefined);
  const isSignedOut = props.token === null;
  const hadToken = useRef(false);
  useEffect(() => {
    newest.current = handlers;
  });
  useEffect(() => {
    // A failure is an error of the page: the console names the script.
    if (!customElements.get(tag)) void load(baseUrl, `${tag}.js`);
  }, [tag, baseUrl]);
  useEffect(() => {
    if (!place.current || (token === undefined && !isSignedOut && !hadToken.current)) return; // `tokenUrl` alone
    hadToken.current = token !== undefined;
    Object.assign(place.current, { token: token ?? null }); // null ends the former person's inbox
  }, [token, isSignedOut]);
  useEffect(() => {
    const element = place.current;
    const hear = (event: Event) => newest.current[event.type]?.(event as never);
    const names = Object.keys(newest.current);
    for (const name of names) element?.addEventListener(name, hear);
    return () => {
      for (const name of names) element?.removeEventListener(name, hear);
    };
  }, []);
  const named = { "base-url": baseUrl, "token-url": props.tokenUrl, "user-id": props.userId, locale: props.locale };
  const made = createElement(tag, { ref: place, class: className, style, ...named, ...attributes }, children);
  return { place, made };
}

/** The bell and the panel of `<notify-inbox>`. */
export function Inbox(props: InboxProps): ReactElement {
  const { theme, brand, categoryLabels, linkTarget, urlSchemes, open } = props;
  const labels = categoryLabels && JSON.stringify(categoryLabels);
  const attributes = { theme, brand, "category-labels": labels, "link-target": linkTarget, "url-schemes": urlSchemes };
  const { place, made } = useElement("notify-inbox", props, attributes, {
    "notify-open": props.onOpen,
    "notify-action": props.onAction,
    "notify-item": props.onItem,
    "notify-counts": props.onCounts,
    "notify-state": props.onState,
    "notify-toggle": props.onToggle,
  });
  useEffect(() => {
    if (open === undefined) return;
    void customElements.whenDefined("notify-inbox").then(() => {
      if (place.current) (place.current as NotifyInboxElement).open = open;
    });
  }, [place, open]);
  return made;
}

/** The choices of a recipient, as `<notify-preferences>` shows them. */
export function Preferences(props: PreferencesProps): ReactElement {
  return useElement("notify-preferences", props, {}, { "notify-preferences": props.onPreferences }).made;
}
