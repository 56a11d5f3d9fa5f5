/** The operations of the API, grouped by resource. */

import { List } from "./pages.ts";
import type { Page } from "./pages.ts";
import type { CallOptions, IfMatch, PostOptions, Settings } from "./options.ts";
import type * as api from "./schema.ts";
import { NOT_MODIFIED, Transport } from "./transport.ts";
import type { Call } from "./transport.ts";

type Id = string | number;
type WriteOptions = CallOptions & IfMatch;

/** A producer's access to the service with an API key. A client serves concurrent calls. */
export class Notify {
  readonly notifications: Notifications;
  readonly schedules: Schedules;
  readonly recipients: Recipients;
  readonly attributes: Attributes;
  readonly topics: Topics;
  readonly audiences: Audiences;
  readonly preferences: Preferences;
  readonly inbox: Inbox;
  readonly templates: Templates;
  readonly suppressions: Suppressions;
  readonly deadLetters: DeadLetters;
  readonly replayJobs: ReplayJobs;
  readonly alerts: Alerts;
  readonly bulkJobs: BulkJobs;
  readonly series: SeriesGroup;
  readonly events: Events;
  readonly cancelJobs: CancelJobs;
  readonly switches: Switches;
  readonly brand: Brand;
  readonly budgets: Budgets;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly #transport: Transport;

  /** @throws TypeError a setting is invalid. No request is sent before the first call. */
  constructor(settings: Settings) {
    const transport = new Transport(settings);
    this.#transport = transport;
    this.notifications = new Notifications(transport);
    this.schedules = new Schedules(transport);
    this.recipients = new Recipients(transport);
    this.attributes = new Attributes(transport);
    this.topics = new Topics(transport);
    this.audiences = new Audiences(transport);
    this.preferences = new Preferences(transport);
    this.inbox = new Inbox(transport);
    this.templates = new Templates(transport);
    this.suppressions = new Suppressions(transport);
    this.deadLetters = new DeadLetters(transport);
    this.replayJobs = new ReplayJobs(transport);
    this.alerts = new Alerts(transport);
    this.bulkJobs = new BulkJobs(transport);
    this.series = new SeriesGroup(transport);
    this.events = new Events(transport);
    this.cancelJobs = new CancelJobs(transport);
    this.switches = new Switches(transport);
    this.brand = new Brand(transport);
    this.budgets = new Budgets(transport);
    this.webhookEndpoints = new WebhookEndpoints(transport);
  }

  /** The key's producer, mode, scopes, expiry and limits. */
  async me(options?: CallOptions): Promise<api.MeAnswer> {
    return (await this.#transport.call({ operation: "GET /v1/me", options })) as api.MeAnswer;
  }

  /** Create a key with the same permissions; the old key stays valid for `overlap_hours`. */
  async rotateKey(body: api.RotateRequest = {}, options?: PostOptions): Promise<api.KeyRotated> {
    return (await this.#transport.call({ operation: "POST /v1/keys/rotate", body, options })) as api.KeyRotated;
  }

  /** A metric over time, by minute, hour or day, in groups. */
  async analytics(query: api.GetAnalyticsQuery, options?: CallOptions): Promise<api.AnalyticsAnswer> {
    return (await this.#transport.call({ operation: "GET /v1/analytics", query, options })) as api.AnalyticsAnswer;
  }

  /** The costs of a month by producer, country, channel, provider or bulk job, with a forecast. */
  async costs(query?: api.GetCostsQuery, options?: CallOptions): Promise<api.CostsAnswer> {
    return (await this.#transport.call({ operation: "GET /v1/costs", query, options })) as api.CostsAnswer;
  }

  /** Find deliveries of all producers by address, user or an id; a page, newest first. */
  async search(query: api.SearchQuery, options?: CallOptions): Promise<api.HitAnswer[]> {
    const page = await this.#transport.call({ operation: "GET /v1/search", query, options });
    return (page as Page<api.HitAnswer>).results;
  }
}

class Group {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  protected async call<Answer>(call: Call): Promise<Answer> {
    return (await this.#transport.call(call)) as Answer;
  }

  /** undefined: the object is unchanged. */
  protected async ifChanged<Answer>(call: Call): Promise<Answer | undefined> {
    const answer = await this.#transport.call(call);
    return answer === NOT_MODIFIED ? undefined : (answer as Answer);
  }

  protected iterate<Item>(call: Call): List<Item> {
    const first = { ...call.query };
    return new List((cursor) =>
      this.call<Page<Item>>({ ...call, answer: "page", query: cursor === undefined ? first : { ...first, cursor } }),
    );
  }
}

class Notifications extends Group {
  /**
   * Create a notification. After a 2xx the notification survives a crash of every process.
   *
   * Retries have the key of `options`, else the body's `idempotency_key`, else a random key.
   */
  create(body: api.NotificationRequest, options?: PostOptions): Promise<api.NotificationAccepted> {
    const hasOwnKey = typeof body.idempotency_key === "string";
    return this.call({ operation: "POST /v1/notifications", body, options, hasOwnKey });
  }

  /** Create up to 1,000 notifications; the service accepts or rejects each item separately. */
  createBatch(notifications: readonly api.NotificationRequest[], options?: PostOptions): Promise<api.BatchAccepted> {
    return this.call({ operation: "POST /v1/notifications/batch", body: { notifications }, options });
  }

  /** Upload a file for e-mails; the `id` is for `attachments`. The service stores a content once. */
  uploadAttachment(file: string | Uint8Array, mediaType: string, options?: CallOptions): Promise<api.AttachmentAnswer> {
    return this.call({ operation: "POST /v1/attachments", file, mediaType, repeat: "safe", options });
  }

  /** Read a notification with deliveries, attempts and timeline. */
  get(notificationId: string, options?: CallOptions): Promise<api.NotificationDetail> {
    return this.call({ operation: "GET /v1/notifications/{notification_id}", at: [notificationId], options });
  }

  /** Newest first. */
  list(query?: api.ListNotificationsQuery, options?: CallOptions): List<api.NotificationLine> {
    return this.iterate({ operation: "GET /v1/notifications", query, options });
  }

  /**
   * A page of status changes in the order in which the service stored them; each change once.
   *
   * Keep `next`, which every page has, and pass the value as `cursor` of the next call.
   */
  changes(query?: api.ListStatusChangesQuery, options?: CallOptions): Promise<api.StatusChanges> {
    return this.call({ operation: "GET /v1/notifications/changes", query, options });
  }

  /** Change the time of a notification which has not been sent. */
  reschedule(
    notificationId: string,
    body: api.PatchedRescheduleRequest,
    options?: CallOptions,
  ): Promise<api.NotificationDetail> {
    return this.call({ operation: "PATCH /v1/notifications/{notification_id}", at: [notificationId], body, options });
  }

  /** Cancel deliveries that have not been sent; the response lists the sent deliveries. */
  cancel(notificationId: string, options?: PostOptions): Promise<api.NotificationCancelled> {
    return this.call({ operation: "POST /v1/notifications/{notification_id}/cancel", at: [notificationId], options });
  }

  /** Cancel deliveries that have not been sent, and remove shown push messages from the devices. */
  withdraw(notificationId: string, options?: PostOptions): Promise<api.NotificationWithdrawn> {
    return this.call({ operation: "POST /v1/notifications/{notification_id}/withdraw", at: [notificationId], options });
  }

  /** Start a job that cancels all matching notifications. */
  cancelMany(body: api.CancelRequest, options?: PostOptions): Promise<api.CancelJobAnswer> {
    return this.call({ operation: "POST /v1/notifications/cancel", body, options });
  }
}

class Schedules extends Group {
  create(body: api.ScheduleRequest, options?: PostOptions): Promise<api.ScheduleAnswer> {
    return this.call({ operation: "POST /v1/schedules", body, options });
  }

  list(query?: api.ListSchedulesQuery, options?: CallOptions): List<api.ScheduleAnswer> {
    return this.iterate({ operation: "GET /v1/schedules", query, options });
  }

  get(id: Id, options?: CallOptions): Promise<api.ScheduleAnswer> {
    return this.call({ operation: "GET /v1/schedules/{schedule_id}", at: [id], options });
  }

  /** undefined: the object is unchanged. */
  getIfChanged(id: Id, known: object | string, options?: CallOptions): Promise<api.ScheduleAnswer | undefined> {
    return this.ifChanged({ operation: "GET /v1/schedules/{schedule_id}", at: [id], ifNoneMatch: known, options });
  }

  /** Omitted fields stay. */
  change(id: Id, body: api.PatchedScheduleChange, options?: WriteOptions): Promise<api.ScheduleAnswer> {
    return this.call({ operation: "PATCH /v1/schedules/{schedule_id}", at: [id], body, options });
  }

  delete(id: Id, options?: WriteOptions): Promise<void> {
    return this.call({ operation: "DELETE /v1/schedules/{schedule_id}", at: [id], options, answer: "nothing" });
  }
}

class Recipients extends Group {
  list(query?: api.ListRecipientsQuery, options?: CallOptions): List<api.RecipientLine> {
    return this.iterate({ operation: "GET /v1/recipients", query, options });
  }

  /** Import up to 2,000 recipients from CSV whose first line names the columns; safe to repeat. */
  importCsv(
    csv: string | Uint8Array,
    query: api.ImportRecipientsQuery = {},
    options?: CallOptions,
  ): Promise<api.RecipientsImported> {
    return this.call({ operation: "POST /v1/recipient-imports", file: csv, query, repeat: "safe", options });
  }

  get(userId: string, options?: CallOptions): Promise<api.RecipientAnswer> {
    return this.call({ operation: "GET /v1/recipients/{user_id}", at: [userId], options });
  }

  /** undefined: the recipient is unchanged. */
  getIfChanged(userId: string, known: object | string, options?: CallOptions): Promise<api.RecipientAnswer | undefined> {
    return this.ifChanged({ operation: "GET /v1/recipients/{user_id}", at: [userId], ifNoneMatch: known, options });
  }

  /** Create or replace a recipient; with `onlyCreate`, 412 for an existing recipient. Omitted contacts stay. */
  put(
    userId: string,
    body: api.RecipientRequest,
    options: WriteOptions & { onlyCreate?: boolean } = {},
  ): Promise<api.RecipientAnswer> {
    const unless = options.onlyCreate ? { ifNoneMatch: "*" } : {};
    return this.call({ operation: "PUT /v1/recipients/{user_id}", at: [userId], body, options, ...unless });
  }

  /** Omitted fields stay. */
  change(userId: string, body: api.PatchedRecipientChange, options?: WriteOptions): Promise<api.RecipientAnswer> {
    return this.call({ operation: "PATCH /v1/recipients/{user_id}", at: [userId], body, options });
  }

  /** Start a job which erases the recipient and the recipient's notifications. */
  erase(userId: string, options?: WriteOptions): Promise<api.ErasureJobAnswer> {
    return this.call({ operation: "DELETE /v1/recipients/{user_id}", at: [userId], options });
  }

  getErasureJob(id: Id, options?: CallOptions): Promise<api.ErasureJobAnswer> {
    return this.call({ operation: "GET /v1/erasure-jobs/{job_id}", at: [id], options });
  }

  addContact(userId: string, body: api.ContactRequest, options?: PostOptions): Promise<api.ContactAnswer> {
    return this.call({ operation: "POST /v1/recipients/{user_id}/contacts", at: [userId], body, options });
  }

  removeContact(userId: string, contactId: Id, options?: CallOptions): Promise<void> {
    const operation = "DELETE /v1/recipients/{user_id}/contacts/{contact_id}";
    return this.call({ operation, at: [userId, contactId], options, answer: "nothing" });
  }

  /** List the signing secrets of a webhook contact by fingerprint. */
  listSigningSecrets(userId: string, contactId: Id, options?: CallOptions): Promise<api.SigningSecrets> {
    const operation = "GET /v1/recipients/{user_id}/contacts/{contact_id}/signing-secrets";
    return this.call({ operation, at: [userId, contactId], options });
  }

  /** Create a signing secret for a webhook contact; the current secret also signs during the overlap. */
  rotateSigningSecret(
    userId: string,
    contactId: Id,
    body: api.SecretRotation = {},
    options?: PostOptions,
  ): Promise<api.SecretRotated> {
    const operation = "POST /v1/recipients/{user_id}/contacts/{contact_id}/signing-secrets/rotate";
    return this.call({ operation, at: [userId, contactId], body, options });
  }

  /** Issue a token with which the recipient's app or browser calls the service. */
  clientToken(userId: string, body: api.ClientTokenRequest = {}, options?: CallOptions): Promise<api.ClientTokenIssued> {
    return this.call({ operation: "POST /v1/recipients/{user_id}/client-tokens", at: [userId], body, options });
  }

  /** The VAPID public key of the service, with which browsers subscribe to web push. */
  webPushKey(options?: CallOptions): Promise<api.WebPushKey> {
    return this.call({ operation: "GET /v1/push/web/key", at: [], options });
  }

  /** Revoke all tokens of the recipient that were issued until now. */
  revokeClientTokens(userId: string, options?: CallOptions): Promise<void> {
    const operation = "DELETE /v1/recipients/{user_id}/client-tokens";
    return this.call({ operation, at: [userId], options, answer: "nothing" });
  }

  /** List changes of the recipient with author, newest first. */
  listChanges(
    userId: string,
    query?: api.ListRecipientChangesQuery,
    options?: CallOptions,
  ): List<api.ChangeLine> {
    return this.iterate({ operation: "GET /v1/recipients/{user_id}/changes", at: [userId], query, options });
  }

  /** The names of the topics to which a recipient is subscribed. */
  topics(userId: string, options?: CallOptions): Promise<api.RecipientTopics> {
    return this.call({ operation: "GET /v1/recipients/{user_id}/topics", at: [userId], options });
  }
}

class Attributes extends Group {
  /** Newest first. */
  list(query?: api.ListAttributesQuery, options?: CallOptions): List<api.AttributeAnswer> {
    return this.iterate({ operation: "GET /v1/attributes", query, options });
  }

  get(name: string, options?: CallOptions): Promise<api.AttributeAnswer> {
    return this.call({ operation: "GET /v1/attributes/{name}", at: [name], options });
  }

  /** Define an attribute, or change the description; the kind never changes. */
  define(name: string, body: api.AttributeRequest, options?: CallOptions): Promise<api.AttributeAnswer> {
    return this.call({ operation: "PUT /v1/attributes/{name}", at: [name], body, options });
  }
}

class Topics extends Group {
  /** Newest first. */
  list(query?: api.ListTopicsQuery, options?: CallOptions): List<api.TopicAnswer> {
    return this.iterate({ operation: "GET /v1/topics", query, options });
  }

  /** A topic with the number of subscribers. */
  get(topic: string, options?: CallOptions): Promise<api.TopicSizeAnswer> {
    return this.call({ operation: "GET /v1/topics/{topic}", at: [topic], options });
  }

  delete(topic: string, options?: CallOptions): Promise<void> {
    return this.call({ operation: "DELETE /v1/topics/{topic}", at: [topic], options, answer: "nothing" });
  }

  subscribers(topic: string, query?: api.ListSubscribersQuery, options?: CallOptions): List<api.SubscriberLine> {
    return this.iterate({ operation: "GET /v1/topics/{topic}/subscribers", at: [topic], query, options });
  }

  /** Subscribe a recipient; the first call creates the topic. */
  subscribe(topic: string, userId: string, options?: CallOptions): Promise<void> {
    const operation = "PUT /v1/topics/{topic}/subscribers/{user_id}";
    return this.call({ operation, at: [topic, userId], options, answer: "nothing" });
  }

  unsubscribe(topic: string, userId: string, options?: CallOptions): Promise<void> {
    const operation = "DELETE /v1/topics/{topic}/subscribers/{user_id}";
    return this.call({ operation, at: [topic, userId], options, answer: "nothing" });
  }

  /** Subscribe up to 5,000 recipients; the response has an error for each wrong user id. */
  subscribeMany(topic: string, userIds: readonly string[], options?: CallOptions): Promise<api.SubscribersChanged> {
    const body = { user_ids: userIds };
    return this.call({ operation: "PUT /v1/topics/{topic}/subscribers", at: [topic], body, options });
  }

  /** Unsubscribe up to 5,000 recipients. */
  unsubscribeMany(topic: string, userIds: readonly string[], options?: PostOptions): Promise<api.SubscribersChanged> {
    const body = { user_ids: userIds };
    return this.call({ operation: "POST /v1/topics/{topic}/subscribers/delete", at: [topic], body, options });
  }
}

class Audiences extends Group {
  /** Newest first. */
  list(query?: api.ListAudiencesQuery, options?: CallOptions): List<api.AudienceAnswer> {
    return this.iterate({ operation: "GET /v1/audiences", query, options });
  }

  create(body: api.AudienceRequest, options?: PostOptions): Promise<api.AudienceAnswer> {
    return this.call({ operation: "POST /v1/audiences", body, options });
  }

  get(id: Id, options?: CallOptions): Promise<api.AudienceAnswer> {
    return this.call({ operation: "GET /v1/audiences/{audience_id}", at: [id], options });
  }

  put(id: Id, body: api.AudienceRequest, options?: CallOptions): Promise<api.AudienceAnswer> {
    return this.call({ operation: "PUT /v1/audiences/{audience_id}", at: [id], body, options });
  }

  delete(id: Id, options?: CallOptions): Promise<void> {
    return this.call({ operation: "DELETE /v1/audiences/{audience_id}", at: [id], options, answer: "nothing" });
  }

  /** The size of an audience, exact or from a sample. */
  estimate(audience: Record<string, unknown>, options?: PostOptions): Promise<api.EstimateAnswer> {
    return this.call({ operation: "POST /v1/audiences/estimate", body: { audience }, options });
  }

  /** Newest first. */
  uploads(query?: api.ListAudienceUploadsQuery, options?: CallOptions): List<api.UploadAnswer> {
    return this.iterate({ operation: "GET /v1/audience-uploads", query, options });
  }

  /**
   * Upload user ids with variables, as CSV or NDJSON. A large file needs a longer `timeout`.
   *
   * An upload has no idempotency key: after a lost answer look into `uploads` before a repeat.
   */
  upload(
    csv: string | Uint8Array,
    settings: api.UploadAudienceQuery & { mediaType?: "text/csv" | "application/x-ndjson" } = {},
    options?: CallOptions,
  ): Promise<api.UploadAnswer> {
    const { mediaType, ...query } = settings;
    return this.call({ operation: "POST /v1/audience-uploads", file: csv, mediaType, query, repeat: "unsafe", options });
  }

  getUpload(id: Id, options?: CallOptions): Promise<api.UploadAnswer> {
    return this.call({ operation: "GET /v1/audience-uploads/{upload_id}", at: [id], options });
  }

  deleteUpload(id: Id, options?: CallOptions): Promise<void> {
    return this.call({ operation: "DELETE /v1/audience-uploads/{upload_id}", at: [id], options, answer: "nothing" });
  }

  /** Newest first. */
  snapshots(query?: api.ListAudienceSnapshotsQuery, options?: CallOptions): List<api.SnapshotAnswer> {
    return this.iterate({ operation: "GET /v1/audience-snapshots", query, options });
  }

  /** Store the recipients of an audience as a fixed set, in the background. */
  takeSnapshot(body: api.SnapshotRequest, options?: PostOptions): Promise<api.SnapshotAnswer> {
    return this.call({ operation: "POST /v1/audience-snapshots", body, options });
  }

  getSnapshot(id: Id, options?: CallOptions): Promise<api.SnapshotAnswer> {
    return this.call({ operation: "GET /v1/audience-snapshots/{snapshot_id}", at: [id], options });
  }

  deleteSnapshot(id: Id, options?: CallOptions): Promise<void> {
    const operation = "DELETE /v1/audience-snapshots/{snapshot_id}";
    return this.call({ operation, at: [id], options, answer: "nothing" });
  }
}

class Preferences extends Group {
  get(userId: string, options?: CallOptions, query?: api.GetPreferencesQuery): Promise<api.PreferencesAnswer> {
    return this.call({ operation: "GET /v1/recipients/{user_id}/preferences", at: [userId], query, options });
  }

  /** undefined: the preferences are unchanged. */
  getIfChanged(
    userId: string,
    known: object | string,
    options?: CallOptions,
  ): Promise<api.PreferencesAnswer | undefined> {
    const operation = "GET /v1/recipients/{user_id}/preferences";
    return this.ifChanged({ operation, at: [userId], ifNoneMatch: known, options });
  }

  /** Replace the preferences. */
  put(userId: string, body: api.PreferencesReplacement, options?: WriteOptions): Promise<api.PreferencesAnswer> {
    return this.call({ operation: "PUT /v1/recipients/{user_id}/preferences", at: [userId], body, options });
  }

  /** Omitted fields stay. */
  change(userId: string, body: api.PatchedPreferencesRequest, options?: WriteOptions): Promise<api.PreferencesAnswer> {
    return this.call({ operation: "PATCH /v1/recipients/{user_id}/preferences", at: [userId], body, options });
  }
}

class Inbox extends Group {
  list(userId: string, query?: api.GetInboxQuery, options?: CallOptions): List<api.InboxItem> {
    return this.iterate({ operation: "GET /v1/inbox/{user_id}", at: [userId], query, options });
  }

  /** A page with the counts and the version of the inbox. */
  page(userId: string, query?: api.GetInboxQuery, options?: CallOptions): Promise<api.InboxAnswer> {
    return this.call({ operation: "GET /v1/inbox/{user_id}", at: [userId], query, options });
  }

  /** undefined: the inbox is unchanged. */
  pageIfChanged(
    userId: string,
    known: object | string,
    query?: api.GetInboxQuery,
    options?: CallOptions,
  ): Promise<api.InboxAnswer | undefined> {
    return this.ifChanged({ operation: "GET /v1/inbox/{user_id}", at: [userId], query, ifNoneMatch: known, options });
  }

  unreadCount(userId: string, options?: CallOptions): Promise<api.InboxUnreadCount> {
    return this.call({ operation: "GET /v1/inbox/{user_id}/unread-count", at: [userId], options });
  }

  /** undefined: the inbox is unchanged. */
  unreadCountIfChanged(
    userId: string,
    known: object | string,
    options?: CallOptions,
  ): Promise<api.InboxUnreadCount | undefined> {
    const operation = "GET /v1/inbox/{user_id}/unread-count";
    return this.ifChanged({ operation, at: [userId], ifNoneMatch: known, options });
  }

  /** The changes since a version; with `reset` the first page is to be read again. */
  changes(userId: string, since: number, options?: CallOptions): Promise<api.InboxChanges> {
    return this.call({ operation: "GET /v1/inbox/{user_id}/changes", at: [userId], query: { since }, options });
  }

  /** The message was on a screen. */
  markSeen(userId: string, messageId: string, options?: CallOptions): Promise<api.InboxMarked> {
    return this.call({ operation: "POST /v1/inbox/{user_id}/{message_id}/seen", at: [userId, messageId], options });
  }

  /** A message that is read counts as seen too. */
  markRead(userId: string, messageId: string, options?: CallOptions): Promise<api.InboxMarked> {
    return this.call({ operation: "POST /v1/inbox/{user_id}/{message_id}/read", at: [userId, messageId], options });
  }

  markUnread(userId: string, messageId: string, options?: CallOptions): Promise<api.InboxMarked> {
    return this.call({ operation: "POST /v1/inbox/{user_id}/{message_id}/unread", at: [userId, messageId], options });
  }

  archive(userId: string, messageId: string, options?: CallOptions): Promise<api.InboxMarked> {
    return this.call({ operation: "POST /v1/inbox/{user_id}/{message_id}/archive", at: [userId, messageId], options });
  }

  unarchive(userId: string, messageId: string, options?: CallOptions): Promise<api.InboxMarked> {
    return this.call({ operation: "POST /v1/inbox/{user_id}/{message_id}/unarchive", at: [userId, messageId], options });
  }

  /** Bring a snoozed message back now. */
  unsnooze(userId: string, messageId: string, options?: CallOptions): Promise<api.InboxMarked> {
    return this.call({ operation: "POST /v1/inbox/{user_id}/{message_id}/unsnooze", at: [userId, messageId], options });
  }

  /** Report the press of a button without a URL, and mark the message as read. */
  recordAction(userId: string, messageId: string, actionId: string, options?: CallOptions): Promise<api.InboxMarked> {
    const operation = "POST /v1/inbox/{user_id}/{message_id}/actions/{action_id}";
    return this.call({ operation, at: [userId, messageId, actionId], options });
  }

  /** Hide a message until an instant, at most 30 days ahead. */
  snooze(userId: string, messageId: string, body: api.SnoozeRequest, options?: CallOptions): Promise<api.InboxMarked> {
    const operation = "POST /v1/inbox/{user_id}/{message_id}/snooze";
    return this.call({ operation, at: [userId, messageId], body, options });
  }

  /** Delete a message from the inbox for good. */
  delete(userId: string, messageId: string, options?: CallOptions): Promise<api.InboxMarked> {
    return this.call({ operation: "DELETE /v1/inbox/{user_id}/{message_id}", at: [userId, messageId], options });
  }

  /** Up to 200 messages; `unknown` of the answer has the ids that are not in the inbox. */
  markManySeen(userId: string, messageIds: string[], options?: CallOptions): Promise<api.InboxMessagesMarked> {
    const body = { message_ids: messageIds };
    return this.call({ operation: "POST /v1/inbox/{user_id}/seen", at: [userId], body, options });
  }

  /** Up to 200 messages; `unknown` of the answer has the ids that are not in the inbox. */
  markManyRead(userId: string, messageIds: string[], options?: CallOptions): Promise<api.InboxMessagesMarked> {
    const body = { message_ids: messageIds };
    return this.call({ operation: "POST /v1/inbox/{user_id}/read", at: [userId], body, options });
  }

  /** Up to 200 messages; `unknown` of the answer has the ids that are not in the inbox. */
  archiveMany(userId: string, messageIds: string[], options?: CallOptions): Promise<api.InboxMessagesMarked> {
    const body = { message_ids: messageIds };
    return this.call({ operation: "POST /v1/inbox/{user_id}/archive", at: [userId], body, options });
  }

  /** All messages of the tab `inbox`, of a category, up to a version. */
  markAllSeen(userId: string, body: api.InboxAllRequest = {}, options?: CallOptions): Promise<api.InboxMarked> {
    return this.call({ operation: "POST /v1/inbox/{user_id}/seen-all", at: [userId], body, options });
  }

  /** All messages of the tab `inbox`, of a category, up to a version. */
  markAllRead(userId: string, body: api.InboxAllRequest = {}, options?: CallOptions): Promise<api.InboxMarked> {
    return this.call({ operation: "POST /v1/inbox/{user_id}/read-all", at: [userId], body, options });
  }

  /** All messages of the tab `inbox`, of a category, up to a version. */
  archiveAll(userId: string, body: api.InboxAllRequest = {}, options?: CallOptions): Promise<api.InboxMarked> {
    return this.call({ operation: "POST /v1/inbox/{user_id}/archive-all", at: [userId], body, options });
  }
}

class Templates extends Group {
  list(query?: api.ListTemplatesQuery, options?: CallOptions): List<api.TemplateLine> {
    return this.iterate({ operation: "GET /v1/templates", query, options });
  }

  /** Create a template or a new version; notifications use the version after `publish`. */
  create(body: api.TemplateRequest, options?: PostOptions): Promise<api.VersionAnswer> {
    return this.call({ operation: "POST /v1/templates", body, options });
  }

  get(templateId: string, options?: CallOptions): Promise<api.TemplateAnswer> {
    return this.call({ operation: "GET /v1/templates/{template_id}", at: [templateId], options });
  }

  /** undefined: the object is unchanged. */
  getIfChanged(
    templateId: string,
    known: object | string,
    options?: CallOptions,
  ): Promise<api.TemplateAnswer | undefined> {
    return this.ifChanged({ operation: "GET /v1/templates/{template_id}", at: [templateId], ifNoneMatch: known, options });
  }

  getVersion(templateId: string, version: number, options?: CallOptions): Promise<api.VersionAnswer> {
    const operation = "GET /v1/templates/{template_id}/versions/{version}";
    return this.call({ operation, at: [templateId, version], options });
  }

  publish(templateId: string, body: api.VersionRequest, options?: PostOptions & IfMatch): Promise<api.VersionAnswer> {
    return this.call({ operation: "POST /v1/templates/{template_id}/publish", at: [templateId], body, options });
  }

  /** An earlier version's texts as a new version, published. */
  rollBack(templateId: string, body: api.VersionRequest, options?: PostOptions & IfMatch): Promise<api.VersionAnswer> {
    return this.call({ operation: "POST /v1/templates/{template_id}/rollback", at: [templateId], body, options });
  }

  /** Render a message without storing or sending the message. */
  preview(templateId: string, body: api.PreviewRequest, options?: CallOptions): Promise<api.PreviewAnswer> {
    return this.call({ operation: "POST /v1/templates/{template_id}/preview", at: [templateId], body, options });
  }

  diff(templateId: string, query: api.DiffTemplateQuery, options?: CallOptions): Promise<api.DiffAnswer> {
    return this.call({ operation: "GET /v1/templates/{template_id}/diff", at: [templateId], query, options });
  }

  /** A version as files: the given one, else the current version, else the newest draft. */
  files(templateId: string, query?: api.GetTemplateFilesQuery, options?: CallOptions): Promise<api.FilesAnswer> {
    return this.call({ operation: "GET /v1/templates/{template_id}/files", at: [templateId], query, options });
  }

  /** Store files as the newest draft, unless the newest version has this content already. */
  putFiles(templateId: string, body: api.FilesRequest, options?: CallOptions): Promise<api.FilesStored> {
    return this.call({ operation: "PUT /v1/templates/{template_id}/files", at: [templateId], body, options });
  }
}

class Suppressions extends Group {
  list(query?: api.ListSuppressionsQuery, options?: CallOptions): List<api.SuppressionAnswer> {
    return this.iterate({ operation: "GET /v1/suppressions", query, options });
  }

  /** Return the matching suppressions as a CSV file. A long list needs a longer `timeout`. */
  exportCsv(query?: Omit<api.ListSuppressionsQuery, "cursor" | "limit">, options?: CallOptions): Promise<string> {
    return this.call({ operation: "GET /v1/suppressions", query, options, answer: "csv" });
  }

  create(body: api.SuppressionRequest, options?: PostOptions): Promise<api.SuppressionAnswer> {
    return this.call({ operation: "POST /v1/suppressions", body, options });
  }

  /** Many at once, from a CSV file. */
  importCsv(csv: string | Uint8Array, options?: PostOptions): Promise<api.SuppressionsImported> {
    return this.call({ operation: "POST /v1/suppressions", file: csv, options });
  }

  get(id: Id, options?: CallOptions): Promise<api.SuppressionAnswer> {
    return this.call({ operation: "GET /v1/suppressions/{suppression_id}", at: [id], options });
  }

  /** Let the address be used again. */
  undo(id: Id, query?: api.UndoSuppressionQuery, options?: CallOptions): Promise<void> {
    const operation = "DELETE /v1/suppressions/{suppression_id}";
    return this.call({ operation, at: [id], query, options, answer: "nothing" });
  }
}

class DeadLetters extends Group {
  list(query?: api.ListDeadLettersQuery, options?: CallOptions): List<api.DeadLetterAnswer> {
    return this.iterate({ operation: "GET /v1/dead-letters", query, options });
  }

  get(id: Id, options?: CallOptions): Promise<api.DeadLetterAnswer> {
    return this.call({ operation: "GET /v1/dead-letters/{letter_id}", at: [id], options });
  }

  /** Start a job which sends the matching dead letters again. */
  replay(body: api.ReplayRequest, options?: PostOptions): Promise<api.ReplayJobAnswer> {
    return this.call({ operation: "POST /v1/dead-letters/replay", body, options });
  }

  discard(id: Id, options?: PostOptions): Promise<api.DeadLetterAnswer> {
    return this.call({ operation: "POST /v1/dead-letters/{letter_id}/discard", at: [id], options });
  }
}

class ReplayJobs extends Group {
  list(query?: api.ListReplayJobsQuery, options?: CallOptions): List<api.ReplayJobAnswer> {
    return this.iterate({ operation: "GET /v1/replay-jobs", query, options });
  }

  get(id: Id, options?: CallOptions): Promise<api.ReplayJobAnswer> {
    return this.call({ operation: "GET /v1/replay-jobs/{job_id}", at: [id], options });
  }
}

class Alerts extends Group {
  list(query?: api.ListAlertsQuery, options?: CallOptions): List<api.AlertAnswer> {
    return this.iterate({ operation: "GET /v1/alerts", query, options });
  }

  acknowledge(id: Id, body: api.AlertAcknowledgement, options?: PostOptions): Promise<api.AlertAnswer> {
    return this.call({ operation: "POST /v1/alerts/{alert_id}/acknowledge", at: [id], body, options });
  }

  resolve(id: Id, options?: PostOptions): Promise<api.AlertAnswer> {
    return this.call({ operation: "POST /v1/alerts/{alert_id}/resolve", at: [id], options });
  }
}

class BulkJobs extends Group {
  /** Send a message to an audience. The call returns at once; the service works in the background. */
  create(body: api.BulkJobRequest, options?: PostOptions): Promise<api.BulkJobAnswer> {
    return this.call({ operation: "POST /v1/bulk-jobs", body, options });
  }

  /** Counts, some texts and the cost of a job, without sending. */
  dryRun(body: api.DryRunRequest, options?: CallOptions): Promise<api.DryRunAnswer> {
    return this.call({ operation: "POST /v1/bulk-jobs/dry-run", body, options });
  }

  list(query?: api.ListBulkJobsQuery, options?: CallOptions): List<api.BulkJobLine> {
    return this.iterate({ operation: "GET /v1/bulk-jobs", query, options });
  }

  /** A bulk job with its progress. */
  get(id: string, options?: CallOptions): Promise<api.BulkJobAnswer> {
    return this.call({ operation: "GET /v1/bulk-jobs/{bulk_job_id}", at: [id], options });
  }

  /** Within two seconds no further message of the job is sent. */
  pause(id: string, body: api.BulkJobChange = {}, options?: PostOptions): Promise<api.BulkJobAnswer> {
    return this.call({ operation: "POST /v1/bulk-jobs/{bulk_job_id}/pause", at: [id], body, options });
  }

  resume(id: string, options?: PostOptions): Promise<api.BulkJobAnswer> {
    return this.call({ operation: "POST /v1/bulk-jobs/{bulk_job_id}/resume", at: [id], options });
  }

  /** Sent messages stay sent. */
  cancel(id: string, body: api.BulkJobChange = {}, options?: PostOptions): Promise<api.BulkJobAnswer> {
    return this.call({ operation: "POST /v1/bulk-jobs/{bulk_job_id}/cancel", at: [id], body, options });
  }
}

class SeriesGroup extends Group {
  create(body: api.SeriesRequest, options?: PostOptions): Promise<api.SeriesAnswer> {
    return this.call({ operation: "POST /v1/series", body, options });
  }

  list(query?: api.ListSeriesQuery, options?: CallOptions): List<api.SeriesAnswer> {
    return this.iterate({ operation: "GET /v1/series", query, options });
  }

  /** A series with its versions and the number of enrolments. */
  get(name: string, options?: CallOptions): Promise<api.SeriesAnswer> {
    return this.call({ operation: "GET /v1/series/{series_name}", at: [name], options });
  }

  /** Replace the draft. Enrolled recipients stay on their version. */
  change(name: string, body: api.SeriesDraft, options?: CallOptions): Promise<api.SeriesAnswer> {
    return this.call({ operation: "PUT /v1/series/{series_name}", at: [name], body, options });
  }

  /** Publish the draft as the version of new enrolments. */
  publish(name: string, options?: PostOptions): Promise<api.SeriesAnswer> {
    return this.call({ operation: "POST /v1/series/{series_name}/publish", at: [name], options });
  }

  /** No step runs until `resume`. */
  pause(name: string, options?: PostOptions): Promise<api.SeriesAnswer> {
    return this.call({ operation: "POST /v1/series/{series_name}/pause", at: [name], options });
  }

  resume(name: string, options?: PostOptions): Promise<api.SeriesAnswer> {
    return this.call({ operation: "POST /v1/series/{series_name}/resume", at: [name], options });
  }

  /** End a series and its enrolments. */
  archive(name: string, options?: PostOptions): Promise<api.SeriesAnswer> {
    return this.call({ operation: "POST /v1/series/{series_name}/archive", at: [name], options });
  }

  /** Enrol up to 1,000 recipients. Each has a result of its own. */
  enrol(name: string, body: api.EnrolmentRequest, options?: PostOptions): Promise<api.EnrolmentResults> {
    return this.call({ operation: "POST /v1/series/{series_name}/enrolments", at: [name], body, options });
  }

  enrolments(name: string, query?: api.ListEnrolmentsQuery, options?: CallOptions): List<api.EnrolmentLine> {
    return this.iterate({ operation: "GET /v1/series/{series_name}/enrolments", at: [name], query, options });
  }

  /** An enrolment with the results of its steps. */
  enrolment(name: string, id: Id, options?: CallOptions): Promise<api.EnrolmentAnswer> {
    return this.call({ operation: "GET /v1/series/{series_name}/enrolments/{enrolment_id}", at: [name, id], options });
  }

  /** End an enrolment. Sent messages stay sent. */
  exit(name: string, id: Id, options?: PostOptions): Promise<api.EnrolmentAnswer> {
    const operation = "POST /v1/series/{series_name}/enrolments/{enrolment_id}/exit";
    return this.call({ operation, at: [name, id], options });
  }
}

class Events extends Group {
  /** Post up to 1,000 events of recipients. Each has a result of its own. */
  create(body: api.EventsRequest, options?: PostOptions): Promise<api.EventResults> {
    return this.call({ operation: "POST /v1/events", body, options });
  }
}

class CancelJobs extends Group {
  list(query?: api.ListCancelJobsQuery, options?: CallOptions): List<api.CancelJobAnswer> {
    return this.iterate({ operation: "GET /v1/cancel-jobs", query, options });
  }

  get(id: number, options?: CallOptions): Promise<api.CancelJobAnswer> {
    return this.call({ operation: "GET /v1/cancel-jobs/{job_id}", at: [id], options });
  }

  /** Stop a job; cancelled notifications stay cancelled. */
  stop(id: number, options?: PostOptions): Promise<api.CancelJobAnswer> {
    return this.call({ operation: "POST /v1/cancel-jobs/{job_id}/stop", at: [id], options });
  }
}

class Brand extends Group {
  /** The brand of the producer, or that of the installation. */
  get(options?: CallOptions): Promise<api.BrandAnswer> {
    return this.call({ operation: "GET /v1/brand", options });
  }

  /** Omitted fields are empty or have their defaults. */
  put(body: api.BrandRequest, options?: CallOptions): Promise<api.BrandAnswer> {
    return this.call({ operation: "PUT /v1/brand", body, options });
  }

  /** The producer then has the brand of the installation. */
  delete(options?: CallOptions): Promise<void> {
    return this.call({ operation: "DELETE /v1/brand", options, answer: "nothing" });
  }
}

class Budgets extends Group {
  /** Budgets with the money of the day and the forecast of the month, newest first. */
  list(query?: api.ListBudgetsQuery, options?: CallOptions): List<api.BudgetAnswer> {
    return this.iterate({ operation: "GET /v1/budgets", query, options });
  }
}

class Switches extends Group {
  list(query?: api.ListSwitchesQuery, options?: CallOptions): List<api.SwitchAnswer> {
    return this.iterate({ operation: "GET /v1/switches", query, options });
  }

  /** Set a switch: matching deliveries wait. */
  set(body: api.SwitchRequest, options?: PostOptions): Promise<api.SwitchAnswer> {
    return this.call({ operation: "POST /v1/switches", body, options });
  }

  get(id: number, options?: CallOptions): Promise<api.SwitchAnswer> {
    return this.call({ operation: "GET /v1/switches/{switch_id}", at: [id], options });
  }

  /** End the pause; a second call changes nothing. */
  resume(id: number, options?: CallOptions): Promise<api.SwitchAnswer> {
    return this.call({ operation: "DELETE /v1/switches/{switch_id}", at: [id], options });
  }
}

class WebhookEndpoints extends Group {
  /** The answer has the signing secret, which no other answer shows. */
  create(body: api.WebhookEndpointRequest, options?: PostOptions): Promise<api.WebhookEndpointCreated> {
    return this.call({ operation: "POST /v1/webhook-endpoints", body, options });
  }

  list(query?: api.ListWebhookEndpointsQuery, options?: CallOptions): List<api.WebhookEndpointAnswer> {
    return this.iterate({ operation: "GET /v1/webhook-endpoints", query, options });
  }

  get(id: Id, options?: CallOptions): Promise<api.WebhookEndpointAnswer> {
    return this.call({ operation: "GET /v1/webhook-endpoints/{endpoint_id}", at: [id], options });
  }

  /** `state` pauses, resumes and disables. */
  change(
    id: Id,
    body: api.PatchedWebhookEndpointChange,
    options?: CallOptions,
  ): Promise<api.WebhookEndpointAnswer> {
    return this.call({ operation: "PATCH /v1/webhook-endpoints/{endpoint_id}", at: [id], body, options });
  }

  delete(id: Id, options?: CallOptions): Promise<void> {
    const operation = "DELETE /v1/webhook-endpoints/{endpoint_id}";
    return this.call({ operation, at: [id], options, answer: "nothing" });
  }

  /** The new secret is shown once; the former one signs too for `overlap_hours`. */
  rotateSecret(
    id: Id,
    body: api.WebhookSecretRotation = {},
    options?: PostOptions,
  ): Promise<api.WebhookSecretRotated> {
    return this.call({ operation: "POST /v1/webhook-endpoints/{endpoint_id}/secrets", at: [id], body, options });
  }

  /** Send the messages of all changes since an instant again, with the same ids. */
  replay(id: Id, body: api.WebhookReplay, options?: PostOptions): Promise<api.WebhookEndpointAnswer> {
    return this.call({ operation: "POST /v1/webhook-endpoints/{endpoint_id}/replay", at: [id], body, options });
  }

  sendTest(id: Id, options?: PostOptions): Promise<api.WebhookTestSent> {
    return this.call({ operation: "POST /v1/webhook-endpoints/{endpoint_id}/test", at: [id], options });
  }

  /** The calls of the last 7 days, newest first. */
  attempts(id: Id, query?: api.ListWebhookAttemptsQuery, options?: CallOptions): List<api.WebhookAttemptLine> {
    return this.iterate({
      operation: "GET /v1/webhook-endpoints/{endpoint_id}/attempts", at: [id], query, options,
    });
  }
}
