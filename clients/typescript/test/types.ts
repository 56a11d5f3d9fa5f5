// Compiled, never run: what a user of the types may and may not write.
import { Notify, ProblemError, responseOf, verifyWebhook } from "../src/index.ts";
import type { NotificationRequest } from "../src/index.ts";

export async function use(signal: AbortSignal | undefined, request: Request): Promise<void> {
  const notify = new Notify({ url: "https://notify.example.com", key: "nk_test_..." });
  const body: NotificationRequest = { user_id: "u_1", type: "X", template_id: "x", variables: { a: 1 } };
  const accepted = await notify.notifications.create(body, { signal, idempotencyKey: "x", timeout: 5_000 });
  const id: string = accepted.notification_id;
  for await (const each of notify.notifications.list({ status: ["sent"], type: ["X"] })) {
    const type: string = each.type;
    void [id, type, responseOf(each)?.etag];
  }
  const recipient = await notify.recipients.get("u_1");
  await notify.recipients.change("u_1", { locale: "de" }, { ifMatch: recipient });
  const { payload } = await verifyWebhook(await request.text(), request.headers, "whsec_...");
  const data: unknown = payload.data["user_id"];

  // @ts-expect-error a type is required
  await notify.notifications.create({ user_id: "u_1" });
  // @ts-expect-error no such channel
  await notify.notifications.create({ user_id: "u_1", type: "X", channels: ["pigeon"] });
  // @ts-expect-error a misspelled field
  await notify.notifications.create({ user_id: "u_1", type: "X", variabels: {} });
  // @ts-expect-error a GET takes no idempotency key
  await notify.recipients.get("u_1", { idempotencyKey: "x" });
  // @ts-expect-error a condition that may be missing
  await notify.recipients.change("u_1", {}, { ifMatch: responseOf(recipient)?.etag });
  // @ts-expect-error no such status
  notify.notifications.list({ status: ["gone"] });
  void data;
}

export function told(error: unknown): readonly string[] {
  return error instanceof ProblemError ? error.errors.map((each) => each.pointer) : [];
}
