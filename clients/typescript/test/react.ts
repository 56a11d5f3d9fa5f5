// Uses of the React module, compiled by `npm run check` and never run.
import { createElement } from "react";
import { Inbox, Preferences, useInbox } from "../src/react.ts";
import { NotifyInbox, useInbox as useInboxInApp } from "../src/react-native.ts";

export function Bell() {
  const { inbox, counts, items, state } = useInbox({ baseUrl: "https://notify.example.com", tokenUrl: "/token", person: "u_1" });
  const read = () => inbox?.markRead(items.map((item) => item.message_id));
  return createElement("button", { onClick: read, disabled: state === "signed_out" }, counts.unread);
}

export function Badge({ onForeground }: { onForeground: (call: () => void) => () => void }) {
  const { inbox, counts } = useInboxInApp({ baseUrl: "https://notify.example.com", token: "t", onForeground });
  return createElement("text", { onClick: () => inbox instanceof NotifyInbox && inbox.refresh() }, counts.unread);
}

createElement(Inbox, { baseUrl: "/", theme: "dark", onOpen: (event) => event.detail.item.title.length });
createElement(Preferences, { baseUrl: "/", token: async () => ({ token: "t" }) });

// @ts-expect-error: the URL of the service is missing
createElement(Inbox, { tokenUrl: "/token" });
// @ts-expect-error: a theme that does not exist
createElement(Inbox, { baseUrl: "/", theme: "blue" });
