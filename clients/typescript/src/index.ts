/** The notification delivery service, from TypeScript and JavaScript. */

export { Notify } from "./client.ts";
export {
  ConnectionError,
  NotifyError,
  ProblemError,
  TimeoutError,
  UnexpectedAnswerError,
} from "./errors.ts";
export type { CallOptions, IfMatch, PostOptions, Settings } from "./options.ts";
export { List } from "./pages.ts";
export type { Page } from "./pages.ts";
export { responseOf } from "./responses.ts";
export type { ResponseHead } from "./responses.ts";
export type * from "./schema.ts";
export { mintRecipientToken } from "./tokens.ts";
export type { TokenOptions } from "./tokens.ts";
export { verifyWebhook, WebhookError } from "./webhooks.ts";
export type { VerifyOptions, Webhook, WebhookPayload } from "./webhooks.ts";
