// Uses of the React module, compiled by `npm run check` and never run.
import { createElement } from "react";
import { Inbox, Preferences, useInbox } from "../src/react.ts";

export function Bell() {
  const { inbox, counts, items, state } = useInbox({ baseUrl: "https://notify.example.com", tokenUrl: "/token", person: "u_1" });
  const read = () => inbox?.markRead(items.map((item) => item.message_id));
  return createElement("button", { onClick: read, disabled: state === "signed_out" }, counts.unread);
}

createElement(Inbox, { baseUrl: "/", theme: "dark", onOpen: (event) => event.detail.item.title.length });
createElement(Preferences, { baseUrl: "/", token: async () => ({ token: "t" }) });

// @ts-expect-error: the URL of the service is missing
createElement(Inbox, { tokenUrl: "/token" });
// @ts-expect-error: a theme that does not exist
createElement(Inbox, { baseUrl: "/", theme: "blue" });
