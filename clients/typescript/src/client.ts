/** The operations of the API, by what they are about. */

import { List } from "./pages.ts";
import type { Page } from "./pages.ts";
import type { CallOptions, IfMatch, PostOptions, Settings } from "./options.ts";
import type * as api from "./schema.ts";
import { NOT_MODIFIED, Transport } from "./transport.ts";
import type { Asked } from "./transport.ts";

type Id = string | number;
type WriteOptions = CallOptions & IfMatch;

/** A producer's way to the service. One client serves any number of calls at a time. */
export class Notify {
  readonly notifications: Notifications;
  readonly schedules: Schedules;
  readonly recipients: Recipients;
  readonly preferences: Preferences;
  readonly templates: Templates;
  readonly suppressions: Suppressions;
  readonly deadLetters: DeadLetters;
  readonly replayJobs: ReplayJobs;
  readonly alerts: Alerts;
  readonly #transport: Transport;

  /** @throws TypeError a setting is wrong. Nothing is sent before the first call. */
  constructor(settings: Settings) {
    const transport = new Transport(settings);
    this.#transport = transport;
    this.notifications = new Notifications(transport);
    this.schedules = new Schedules(transport);
    this.recipients = new Recipients(transport);
    this.preferences = new Preferences(transport);
    this.templates = new Templates(transport);
    this.suppressions = new Suppressions(transport);
    this.deadLetters = new DeadLetters(transport);
    this.replayJobs = new ReplayJobs(transport);
    this.alerts = new Alerts(transport);
  }

  /** The key's producer, mode, scopes, expiry and limits. */
  async me(options?: CallOptions): Promise<api.MeAnswer> {
    return (await this.#transport.call({ operation: "GET /v1/me", options })) as api.MeAnswer;
  }

  /** Make a key that may do the same; the old one works on for `overlap_hours`. */
  async rotateKey(body: api.RotateRequest = {}, options?: PostOptions): Promise<api.KeyRotated> {
    return (await this.#transport.call({ operation: "POST /v1/keys/rotate", body, options })) as api.KeyRotated;
  }

  /** Deliveries of every producer by exactly one of address, user and ids; newest first, one page. */
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

  protected async call<Answer>(asked: Asked): Promise<Answer> {
    return (await this.#transport.call(asked)) as Answer;
  }

  /** undefined: the object is still what it was. */
  protected async ifChanged<Answer>(asked: Asked): Promise<Answer | undefined> {
    const answer = await this.#transport.call(asked);
    return answer === NOT_MODIFIED ? undefined : (answer as Answer);
  }

  protected iterate<Item>(asked: Asked): List<Item> {
    const first = { ...asked.query };
    return new List((cursor) =>
      this.call<Page<Item>>({ ...asked, query: cursor === undefined ? first : { ...first, cursor } }),
    );
  }
}

class Notifications extends Group {
  /**
   * Send one. A 2xx means that it survives a crash of every process.
   *
   * Its repeats have the key of `options`, else the body's `idempotency_key`, else a random one.
   */
  create(body: api.NotificationRequest, options?: PostOptions): Promise<api.NotificationAccepted> {
    const hasOwnKey = typeof body.idempotency_key === "string";
    return this.call({ operation: "POST /v1/notifications", body, options, hasOwnKey });
  }

  /** Send up to 1,000; each is accepted or rejected by itself, in the order of `notifications`. */
  createBatch(notifications: readonly api.NotificationRequest[], options?: PostOptions): Promise<api.BatchAccepted> {
    return this.call({ operation: "POST /v1/notifications/batch", body: { notifications }, options });
  }

  /** One with its deliveries, attempts and timeline. */
  get(notificationId: string, options?: CallOptions): Promise<api.NotificationDetail> {
    return this.call({ operation: "GET /v1/notifications/{notification_id}", at: [notificationId], options });
  }

  /** Newest first. */
  list(query?: api.ListNotificationsQuery, options?: CallOptions): List<api.NotificationLine> {
    return this.iterate({ operation: "GET /v1/notifications", query, options });
  }

  /** Another time for one that has not left. */
  reschedule(
    notificationId: string,
    body: api.PatchedRescheduleRequest,
    options?: CallOptions,
  ): Promise<api.NotificationDetail> {
    return this.call({ operation: "PATCH /v1/notifications/{notification_id}", at: [notificationId], body, options });
  }

  /** Stop what has not left; the answer says what had. */
  cancel(notificationId: string, options?: PostOptions): Promise<api.NotificationCancelled> {
    return this.call({ operation: "POST /v1/notifications/{notification_id}/cancel", at: [notificationId], options });
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

  /** undefined: it is still what was read. */
  getIfChanged(id: Id, known: object | string, options?: CallOptions): Promise<api.ScheduleAnswer | undefined> {
    return this.ifChanged({ operation: "GET /v1/schedules/{schedule_id}", at: [id], ifNoneMatch: known, options });
  }

  /** What is left out stays. */
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

  get(userId: string, options?: CallOptions): Promise<api.RecipientAnswer> {
    return this.call({ operation: "GET /v1/recipients/{user_id}", at: [userId], options });
  }

  /** undefined: the recipient is still what was read. */
  getIfChanged(userId: string, known: object | string, options?: CallOptions): Promise<api.RecipientAnswer | undefined> {
    return this.ifChanged({ operation: "GET /v1/recipients/{user_id}", at: [userId], ifNoneMatch: known, options });
  }

  /** Register or replace; with `onlyCreate`, 412 where the recipient exists. Contacts that are left out stay. */
  put(
    userId: string,
    body: api.RecipientRequest,
    options: WriteOptions & { onlyCreate?: boolean } = {},
  ): Promise<api.RecipientAnswer> {
    const unless = options.onlyCreate ? { ifNoneMatch: "*" } : {};
    return this.call({ operation: "PUT /v1/recipients/{user_id}", at: [userId], body, options, ...unless });
  }

  /** What is left out stays. */
  change(userId: string, body: api.PatchedRecipientChange, options?: WriteOptions): Promise<api.RecipientAnswer> {
    return this.call({ operation: "PATCH /v1/recipients/{user_id}", at: [userId], body, options });
  }

  /** Erase the recipient and what was sent to them, as a job. */
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

  /** The secrets that sign the webhooks of a contact, by their fingerprints. */
  listSigningSecrets(userId: string, contactId: Id, options?: CallOptions): Promise<api.SigningSecrets> {
    const operation = "GET /v1/recipients/{user_id}/contacts/{contact_id}/signing-secrets";
    return this.call({ operation, at: [userId, contactId], options });
  }

  /** A new secret for the webhooks of a contact; the current one signs beside it for a while. */
  rotateSigningSecret(
    userId: string,
    contactId: Id,
    body: api.SecretRotation = {},
    options?: PostOptions,
  ): Promise<api.SecretRotated> {
    const operation = "POST /v1/recipients/{user_id}/contacts/{contact_id}/signing-secrets/rotate";
    return this.call({ operation, at: [userId, contactId], body, options });
  }

  /** Who changed what, newest first. */
  listChanges(
    userId: string,
    query?: api.ListRecipientChangesQuery,
    options?: CallOptions,
  ): List<api.ChangeLine> {
    return this.iterate({ operation: "GET /v1/recipients/{user_id}/changes", at: [userId], query, options });
  }
}

class Preferences extends Group {
  get(userId: string, options?: CallOptions): Promise<api.PreferencesAnswer> {
    return this.call({ operation: "GET /v1/recipients/{user_id}/preferences", at: [userId], options });
  }

  /** undefined: they are still what was read. */
  getIfChanged(
    userId: string,
    known: object | string,
    options?: CallOptions,
  ): Promise<api.PreferencesAnswer | undefined> {
    const operation = "GET /v1/recipients/{user_id}/preferences";
    return this.ifChanged({ operation, at: [userId], ifNoneMatch: known, options });
  }

  /** Replace all of them. */
  put(userId: string, body: api.PreferencesReplacement, options?: WriteOptions): Promise<api.PreferencesAnswer> {
    return this.call({ operation: "PUT /v1/recipients/{user_id}/preferences", at: [userId], body, options });
  }

  /** What is left out stays. */
  change(userId: string, body: api.PatchedPreferencesRequest, options?: WriteOptions): Promise<api.PreferencesAnswer> {
    return this.call({ operation: "PATCH /v1/recipients/{user_id}/preferences", at: [userId], body, options });
  }
}

class Templates extends Group {
  list(query?: api.ListTemplatesQuery, options?: CallOptions): List<api.TemplateLine> {
    return this.iterate({ operation: "GET /v1/templates", query, options });
  }

  /** A new template, or a new version of one; nothing is sent with it before `publish`. */
  create(body: api.TemplateRequest, options?: PostOptions): Promise<api.VersionAnswer> {
    return this.call({ operation: "POST /v1/templates", body, options });
  }

  get(templateId: string, options?: CallOptions): Promise<api.TemplateAnswer> {
    return this.call({ operation: "GET /v1/templates/{template_id}", at: [templateId], options });
  }

  /** undefined: it is still what was read. */
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

  /** What a message would look like; stores and sends nothing. */
  preview(templateId: string, body: api.PreviewRequest, options?: CallOptions): Promise<api.PreviewAnswer> {
    return this.call({ operation: "POST /v1/templates/{template_id}/preview", at: [templateId], body, options });
  }

  diff(templateId: string, query: api.DiffTemplateQuery, options?: CallOptions): Promise<api.DiffAnswer> {
    return this.call({ operation: "GET /v1/templates/{template_id}/diff", at: [templateId], query, options });
  }
}

class Suppressions extends Group {
  list(query?: api.ListSuppressionsQuery, options?: CallOptions): List<api.SuppressionAnswer> {
    return this.iterate({ operation: "GET /v1/suppressions", query, options });
  }

  /** All that match, as a CSV file. A long list needs a longer `timeout`. */
  exportCsv(query?: Omit<api.ListSuppressionsQuery, "cursor" | "limit">, options?: CallOptions): Promise<string> {
    return this.call({ operation: "GET /v1/suppressions", query, options, answer: "csv" });
  }

  create(body: api.SuppressionRequest, options?: PostOptions): Promise<api.SuppressionAnswer> {
    return this.call({ operation: "POST /v1/suppressions", body, options });
  }

  /** Many at once, from a CSV file. */
  importCsv(csv: string | Uint8Array, options?: PostOptions): Promise<api.SuppressionsImported> {
    return this.call({ operation: "POST /v1/suppressions", csv, options });
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

  /** Send those that match again, as a job. */
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

  resolve(id: Id, options?: PostOptions): Promise<api.AlertAnswer> {
    return this.call({ operation: "POST /v1/alerts/{alert_id}/resolve", at: [id], options });
  }
}
