// Uses of the types of the inbox component, compiled by `npm run check` and never run.
import { NotifyInbox, NotifyInboxElement } from "../../../notifications/features/inbox/static/notifications/inbox/notify-inbox.js";
import type { InboxSnapshot } from "../../../notifications/features/inbox/static/notifications/inbox/notify-inbox.js";

const inbox = new NotifyInbox({ baseUrl: "https://notify.example.com", token: async () => ({ token: "t" }) });
const end: () => void = inbox.subscribe((now: InboxSnapshot) => now.items.map((item) => item.title));
inbox.addEventListener("item", (event) => event.detail.notification_id.length);
inbox.addEventListener("state", (event) => event.detail === "live");
inbox.addEventListener("refused", ({ detail }) => detail.error.status > 0);
await inbox.start().markRead(inbox.getSnapshot().items.map((item) => item.message_id));
await inbox.snooze("id", new Date());
await inbox.show({ category: "orders" });
end();

const element: NotifyInboxElement = document.createElement("notify-inbox");
element.token = async () => null;
element.categoryLabels = { orders: "My orders" };
element.addEventListener("notify-open", (event) => event.detail.item.title);
element.open = true;

// @ts-expect-error: a state that does not exist
inbox.getSnapshot().state === "gone";
// @ts-expect-error: a tab that does not exist
void inbox.show({ tab: "trash" });
