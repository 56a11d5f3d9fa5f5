// Written by `npm run generate` from the service's OpenAPI document. Not edited by hand.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Something an operator must look at. */
        AlertAnswer: {
            id: number;
            kind: string;
            subject: string;
            detail: string;
            /** Format: date-time */
            raised_at: string;
            /** Format: date-time */
            seen_at: string;
            resolved_at: string | null;
        };
        AlertAnswerPage: {
            results: components["schemas"]["AlertAnswer"][];
            next: string | null;
        };
        /** @description One provider call. */
        AttemptDetail: {
            number: number;
            provider: string;
            outcome: string;
            code: string;
            detail: string;
            /** Format: date-time */
            started_at: string;
            latency_ms: number;
            /** @description Of an SMS: how many it takes by our count. The provider bills by its own. */
            segments: number | null;
            /** @description Of the provider's answer; null where no HTTP answer came. */
            http_status: number | null;
            /** @description Seconds that the provider asked to wait; null where it did not. */
            retry_after_s: number | null;
            /** @description Web Push: the public VAPID key of the call; empty elsewhere. */
            signed_with: string;
        };
        /** @description One result for each item, in order; look at `summary.rejected`. */
        BatchAccepted: {
            results: components["schemas"]["BatchResult"][];
            summary: components["schemas"]["BatchSummary"];
        };
        /** @description Up to a thousand notifications; each is accepted or rejected by itself. */
        BatchRequest: {
            notifications: components["schemas"]["NotificationRequest"][];
        };
        /** @description What became of one item of a batch. */
        BatchResult: {
            /** @enum {string} */
            result: "accepted" | "duplicate" | "rejected";
            /** @description Accepted: its answer. Duplicate: the answer that the first one had. */
            notification?: components["schemas"]["NotificationAccepted"] | null;
            /** @description Rejected: why. */
            problem?: components["schemas"]["ProblemDetails"] | null;
        };
        /** @description How many items had each result. */
        BatchSummary: {
            accepted: number;
            duplicate: number;
            rejected: number;
        };
        /**
         * @description Why an address is suppressed. Undoing one cause leaves the others.
         * @enum {string}
         */
        Cause: "bounce" | "complaint" | "stop_keyword" | "unsubscribe_all" | "manual" | "import";
        /** @description One change of a recipient, a contact or the preferences. */
        ChangeLine: {
            /** Format: date-time */
            at: string;
            operation: string;
            /** @description An operator, or a producer and the prefix of its key. */
            by: string;
            object_type: string;
            object_id: string;
            /** @description The fields that differ, as they were; addresses are masked. */
            before: {
                [key: string]: unknown;
            };
            after: {
                [key: string]: unknown;
            };
            request_id: string;
        };
        ChangeLinePage: {
            results: components["schemas"]["ChangeLine"][];
            next: string | null;
        };
        /** @description A contact as it is known. */
        ContactAnswer: {
            id: number;
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            kind: string;
            address: string;
            primary: boolean;
            valid: boolean;
            /** Format: date-time */
            created_at: string;
            /** @description An operator, or a producer and the prefix of its key. */
            created_by: string;
            changed_at: string | null;
            changed_by: string;
            invalid_reason: string;
            /**
             * @description Why its address is on the suppression list, by which nothing is sent to it; empty: it is not
             *     there. See `/v1/suppressions`.
             */
            suppressed_for: components["schemas"]["Cause"][];
            /** @description An open dead letter was to reach this address: check whether the address still works. */
            needs_check: boolean;
        };
        /** @description One address on one channel. */
        ContactRequest: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /**
             * @description At most 2,600 bytes in UTF-8. Phone number (stored as E.164), mailbox (stored with its
             *     domain in ASCII), https URL, device token, chat target.
             */
            address: string;
            /** @description Where a channel has several sorts of address: `fcm_token`, `apns_token` ... */
            kind?: string;
            /** @description The one that is used where only one is: not for push, which goes to every device. Default: `false`. */
            primary?: boolean;
        };
        /** @description Raw text instead of a template, for producers with that permission. */
        Content: {
            title?: string;
            body: string;
            html?: string;
        };
        /** @description A delivery that gave up. */
        DeadLetterAnswer: {
            id: number;
            /** Format: uuid */
            delivery_id: string;
            /** Format: uuid */
            notification_id: string;
            producer_id: number;
            /** @enum {string} */
            mode: "live" | "test";
            /** @enum {string} */
            priority: "P0" | "P1" | "P2" | "P3";
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            provider: string;
            reason: string;
            detail: string;
            /** @description Keyed hash of the address, as logs show it; empty when the contact was erased. */
            address_hash: string;
            /** Format: date-time */
            created_at: string;
            resolved_at: string | null;
            resolution: string;
        };
        DeadLetterAnswerPage: {
            results: components["schemas"]["DeadLetterAnswer"][];
            next: string | null;
        };
        /** @description A delivery in one line. */
        DeliveryBrief: {
            /** Format: uuid */
            delivery_id: string;
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @enum {string} */
            status: "scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown";
        };
        /** @description A delivery with its provider calls. */
        DeliveryDetail: {
            /** Format: uuid */
            delivery_id: string;
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @enum {string} */
            status: "scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown";
            reason: string;
            provider: string;
            provider_message_id: string;
            due_at: string | null;
            sent_at: string | null;
            delivered_at: string | null;
            attempts: components["schemas"]["AttemptDetail"][];
        };
        /** @description What changed. */
        DiffAnswer: {
            template_id: string;
            old_version: number;
            new_version: number;
            /** @description A unified diff of the versions' files; empty when they say the same. */
            diff: string;
        };
        /** @description How far an erasure is. */
        ErasureJobAnswer: {
            id: number;
            /** Format: date-time */
            created_at: string;
            requested_by: string;
            /** @description Notifications removed so far. */
            notifications: number;
            /** @description null: the job is not done. */
            finished_at: string | null;
        };
        /** @description One line of the timeline. */
        EventLine: {
            seq: number;
            /** Format: date-time */
            at: string;
            delivery_id: string | null;
            status: ("scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown") | null;
            reason: string;
            detail: string;
        };
        /** @description One place of the request and what is wrong there. */
        FieldProblem: {
            /** @description The part of the request. */
            source: components["schemas"]["Source"];
            /** @description RFC 6901 JSON pointer into that part; empty for the whole of it. */
            pointer: string;
            detail: string;
        };
        /** @description Who has the addresses of `to`. */
        FoundRecipient: {
            user_id: string;
            /** @description True: registered by this request. */
            registered: boolean;
        };
        /** @description One delivery that was found. */
        HitAnswer: {
            /** Format: uuid */
            notification_id: string;
            /** Format: uuid */
            delivery_id: string;
            /** Format: date-time */
            created_at: string;
            /** @enum {string} */
            mode: "live" | "test";
            producer_id: number;
            user_id: string;
            type: string;
            /** @enum {string} */
            priority: "P0" | "P1" | "P2" | "P3";
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @enum {string} */
            status: "scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown";
            reason: string;
            provider: string;
            provider_message_id: string;
        };
        HitAnswerPage: {
            results: components["schemas"]["HitAnswer"][];
            next: string | null;
        };
        /** @description The new key. It is shown once, and again to a repeat with the same Idempotency-Key. */
        KeyRotated: {
            key: string;
            prefix: string;
            scopes: string[];
            expires_at: string | null;
            old_key_expires_at: string | null;
        };
        /** @description The key that the request came with. */
        MeAnswer: {
            producer: string;
            /** @enum {string} */
            mode: "live" | "test";
            /** @description The visible part of the key. */
            key_prefix: string;
            scopes: string[];
            /** @description null: the key does not expire. */
            expires_at: string | null;
            /** @description Those that the producer may use. */
            priorities: ("P0" | "P1" | "P2" | "P3")[];
            /** @description Whether the producer may send raw text instead of a template. */
            may_send_content: boolean;
            rate: components["schemas"]["RateAnswer"];
            schedules: components["schemas"]["SchedulesLimit"];
        };
        /** @description It is stored, and survives a crash of every process. */
        NotificationAccepted: {
            /** Format: uuid */
            notification_id: string;
            /** @enum {string} */
            status: "scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown";
            /** @enum {string} */
            priority: "P0" | "P1" | "P2" | "P3";
            deliveries: components["schemas"]["DeliveryBrief"][];
            /** Format: date-time */
            created_at: string;
            /** @description When it will leave; absent where no time was asked for. */
            scheduled_at?: string | null;
            /** @description By which `send_at_local` was read; absent where it was not asked for. */
            timezone?: string | null;
            /** @description False: nobody knows the recipient's, and it was read as UTC. */
            timezone_known?: boolean | null;
            /** @description With `delivery: first`, the other channels that were asked for or tried; absent: none. */
            skipped?: components["schemas"]["SkippedChannel"][] | null;
            /** @description What to look at; absent: nothing. */
            warnings?: components["schemas"]["RequestWarning"][] | null;
            /** @description Of a request with `to`; absent otherwise. */
            recipient?: components["schemas"]["FoundRecipient"] | null;
        };
        /** @description What was stopped, and where everything stands now: what is not stopped had left. */
        NotificationCancelled: {
            /** Format: uuid */
            notification_id: string;
            /** @enum {string} */
            status: "scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown";
            stopped: string[];
            deliveries: components["schemas"]["DeliveryBrief"][];
        };
        /** @description A notification and all that became of it. */
        NotificationDetail: {
            /** Format: uuid */
            notification_id: string;
            user_id: string;
            type: string;
            category: string;
            /** @enum {string} */
            priority: "P0" | "P1" | "P2" | "P3";
            /** @enum {string} */
            mode: "live" | "test";
            /** @enum {string} */
            status: "scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown";
            template_id: string | null;
            template_version: number | null;
            /** @description Sensitive ones are masked. */
            variables: {
                [key: string]: unknown;
            };
            content: {
                [key: string]: unknown;
            } | null;
            channels: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            delivery: string;
            collapse_key: string;
            ordering_key: string;
            idempotency_key: string;
            metadata: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            scheduled_at: string | null;
            /** @description By which `send_at_local` was read; null where it was not asked for. */
            timezone: string | null;
            /** @description False: nobody knew the recipient's, and it was read as UTC. */
            timezone_known: boolean | null;
            /** Format: date-time */
            expires_at: string;
            cancelled_at: string | null;
            deliveries: components["schemas"]["DeliveryDetail"][];
            timeline: components["schemas"]["EventLine"][];
        };
        /** @description A notification in a list. */
        NotificationLine: {
            /** Format: uuid */
            notification_id: string;
            user_id: string;
            type: string;
            /** @enum {string} */
            priority: "P0" | "P1" | "P2" | "P3";
            /** @enum {string} */
            status: "scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown";
            /** Format: date-time */
            created_at: string;
            scheduled_at: string | null;
            deliveries: components["schemas"]["DeliveryBrief"][];
        };
        NotificationLinePage: {
            results: components["schemas"]["NotificationLine"][];
            next: string | null;
        };
        /** @description One notification as a producer asks for it. */
        NotificationRequest: {
            /** @description The producers' name of a registered recipient; or give `to`. */
            user_id?: string | null;
            /** @description A recipient by address, who is registered in the same call if nobody has it yet. */
            to?: components["schemas"]["To"] | null;
            type: string;
            priority?: ("P0" | "P1" | "P2" | "P3") | null;
            template_id?: string | null;
            /** @description All of them count as sensitive until the template version says which of them are. */
            variables?: {
                [key: string]: unknown;
            };
            content?: components["schemas"]["Content"] | null;
            channels?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            /** @description Default: `"first"`. */
            delivery?: components["schemas"]["Spread"];
            scheduled_at?: string | null;
            send_at_local?: string | null;
            ttl_seconds?: number | null;
            collapse_key?: string | null;
            ordering_key?: string | null;
            metadata?: {
                [key: string]: unknown;
            };
            idempotency_key?: string | null;
        };
        /** @description What a person allows. What is left out stays as it is. */
        PatchedPreferencesRequest: {
            channels_off?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[] | null;
            channel_order?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[] | null;
            categories_off?: string[] | null;
            /** @description All of them from now on. Nothing but a P0 is sent meanwhile: it waits. */
            quiet_hours?: components["schemas"]["Window"][] | null;
            /** @description The same until an instant; null ends it. */
            do_not_disturb_until?: string | null;
            /**
             * @description How much at most, by channel: `{"sms": "1/day", "push": "5/hour"}`. All of their caps from
             *     now on; other channels have the usual ones.
             */
            caps?: {
                [key: string]: string;
            } | null;
        };
        /** @description What changes of a person; what is left out stays as it is. */
        PatchedRecipientChange: {
            locale?: string | null;
            timezone?: string | null;
            /** @description Contacts that are added, or changed where the address is known; the others stay. */
            contacts?: components["schemas"]["ContactRequest"][] | null;
        };
        /** @description Another time: exactly one of the two. */
        PatchedRescheduleRequest: {
            scheduled_at?: string | null;
            send_at_local?: string | null;
        };
        /** @description What changes; what is left out stays. Its future is made anew. */
        PatchedScheduleChange: {
            name?: string | null;
            rrule?: string | null;
            /** @description null: the recipient's. */
            timezone?: string | null;
            starts_at?: string | null;
            /** @description null: it goes on for ever. */
            ends_at?: string | null;
            paused?: boolean | null;
            notification?: components["schemas"]["NotificationRequest"] | null;
        };
        /** @description What a person allows. */
        PreferencesAnswer: {
            channels_off: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            channel_order: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            categories_off: string[];
            /** @description Those of `categories_off` that the person switched off: no key switches them on again. */
            categories_left: string[];
            quiet_hours: components["schemas"]["Window"][];
            do_not_disturb_until: string | null;
            caps: {
                [key: string]: string;
            };
        };
        /** @description What a person allows, as a whole: what is left out is as if they had said nothing. */
        PreferencesReplacement: {
            channels_off?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[] | null;
            channel_order?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[] | null;
            categories_off?: string[] | null;
            /** @description All of them from now on. Nothing but a P0 is sent meanwhile: it waits. */
            quiet_hours?: components["schemas"]["Window"][] | null;
            /** @description The same until an instant; null ends it. */
            do_not_disturb_until?: string | null;
            /**
             * @description How much at most, by channel: `{"sms": "1/day", "push": "5/hour"}`. All of their caps from
             *     now on; other channels have the usual ones.
             */
            caps?: {
                [key: string]: string;
            } | null;
        };
        /** @description A message as it would be sent. */
        PreviewAnswer: {
            version: number;
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @description Of the text that was chosen. */
            locale: string;
            /** @description Null, like the other parts, when it cannot be rendered; `problems` says why. */
            title: string | null;
            body: string | null;
            html: string | null;
            /** @description Bytes of UTF-8 of each part that there is. */
            sizes: {
                [key: string]: number;
            };
            /** @description Of an SMS; null on other channels. */
            segments: number | null;
            /** @description Variables that the text mentions and the request lacks; it may do without some of them. */
            missing: string[];
            problems: string[];
        };
        /** @description What to show to whom. */
        PreviewRequest: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @description The nearest locale that there is a text in is shown. Default: `"en"`. */
            locale?: string;
            variables?: {
                [key: string]: unknown;
            };
            /** @description The current one when left out, or the newest draft where none is published. */
            version?: number | null;
        };
        /** @description RFC 9457 problem details. */
        ProblemDetails: {
            /** @description `urn:notify:problem:` and the code: the same in every installation. */
            type: string;
            /**
             * @description What a client switches on. Later versions of the service may know further codes.
             * @enum {string}
             */
            code: "malformed" | "unauthenticated" | "forbidden" | "not-found" | "method-not-allowed" | "not-acceptable" | "in-progress" | "conflict" | "precondition-failed" | "too-large" | "unsupported-media-type" | "invalid" | "unknown-recipient" | "idempotency-key-reused" | "rate-limited" | "unavailable" | "internal-error";
            title: string;
            status: number;
            /** @description For people; the words can change. */
            detail: string;
            /** @description The URL of a page that says what to do. */
            help?: string | null;
            /** @description The id of the request in the service's logs: `X-Request-Id`. */
            instance?: string | null;
            /** @description At most a hundred. */
            errors?: components["schemas"]["FieldProblem"][];
        };
        /** @description The producer's rate limit, over all its keys of this mode. */
        RateAnswer: {
            /** @description Writes a second; a notification is one. */
            per_second: number;
            /** @description Writes at once after a pause. */
            burst: number;
            /** @description How many are left now. */
            remaining: number;
            /** @description Seconds until the burst is whole again. */
            full_in_s: number;
        };
        /** @description What the callback held. */
        ReceiptsTaken: {
            receipts: number;
            /** @description How many moved a delivery. */
            matched: number;
        };
        /** @description A person as they are known. */
        RecipientAnswer: {
            user_id: string;
            locale: string;
            timezone: string;
            contacts: components["schemas"]["ContactAnswer"][];
        };
        /** @description A person in a list. */
        RecipientLine: {
            user_id: string;
            locale: string;
            timezone: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        RecipientLinePage: {
            results: components["schemas"]["RecipientLine"][];
            next: string | null;
        };
        /** @description A person: a locale or timezone that is left out is empty from now on. */
        RecipientRequest: {
            /** @description Default: `"en"`. */
            locale?: string;
            timezone?: string;
            /** @description All of their contacts from now on, others are no longer used. Left out: they stay. */
            contacts?: components["schemas"]["ContactRequest"][] | null;
        };
        /** @description A line of a file that was not taken. */
        RefusedLine: {
            line: number;
            detail: string;
        };
        /** @description How far a replay is. */
        ReplayJobAnswer: {
            id: number;
            /** Format: date-time */
            created_at: string;
            requested_by: string;
            forced: boolean;
            renews_ttl: boolean;
            total: number;
            replayed: number;
            skipped: number;
            finished_at: string | null;
        };
        ReplayJobAnswerPage: {
            results: components["schemas"]["ReplayJobAnswer"][];
            next: string | null;
        };
        /** @description Which letters to replay: those named, or all open ones that match every filter given. */
        ReplayRequest: {
            ids?: number[] | null;
            reason?: string | null;
            channel?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat") | null;
            provider?: string | null;
            since?: string | null;
            until?: string | null;
            /** @description Also what reached the person meanwhile by another way. Default: `false`. */
            force?: boolean;
            /** @description Start the time to live anew; never for P0. Default: `false`. */
            renew_ttl?: boolean;
        };
        /** @description What was accepted and does perhaps not mean what it says. */
        RequestWarning: {
            /** @description RFC 6901 JSON pointer into the request's body. */
            pointer: string;
            detail: string;
        };
        /** @description How long both keys work. */
        RotateRequest: {
            /** @description Hours that the old key works on. Default: `24`. */
            overlap_hours?: number;
        };
        /** @description A schedule as it stands. */
        ScheduleAnswer: {
            id: number;
            name: string;
            rrule: string;
            /** @description null: the recipient's. */
            timezone: string | null;
            /** Format: date-time */
            starts_at: string;
            ends_at: string | null;
            paused: boolean;
            /** @description null: it is paused, or over. */
            next_at: string | null;
            notification: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        ScheduleAnswerPage: {
            results: components["schemas"]["ScheduleAnswer"][];
            next: string | null;
        };
        /** @description A notification that recurs. */
        ScheduleRequest: {
            /** @description Once for each producer. */
            name: string;
            /** @description RFC 5545, like `FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0`; at most each minute. */
            rrule: string;
            /** @description On whose clock the rule runs; left out: the recipient's. */
            timezone?: string | null;
            /** @description Left out: now. It gives the time of day where the rule does not. */
            starts_at?: string | null;
            ends_at?: string | null;
            /** @description Default: `false`. */
            paused?: boolean;
            /** @description Without idempotency_key, scheduled_at and send_at_local. */
            notification: components["schemas"]["NotificationRequest"];
        };
        /** @description How many schedules the producer may have in this mode. */
        SchedulesLimit: {
            limit: number;
            used: number;
        };
        /** @description The new secret. It is shown once, and again to a repeat with the same Idempotency-Key. */
        SecretRotated: {
            /** @description `whsec_` and base64, as Standard Webhooks writes secrets. */
            secret: string;
            fingerprint: string;
            /** Format: date-time */
            old_secret_signs_until: string;
        };
        /** @description What may end. */
        SecretRotation: {
            /** @description Rotate although the secret before the current one still signs, and end that one at once. Default: `false`. */
            end_overlap?: boolean;
        };
        /** @description A secret that signs now. */
        SigningSecret: {
            /** @description The first 16 hexadecimal digits of the SHA-256 of the secret's bytes. */
            fingerprint: string;
            /** @description It was made last. */
            current: boolean;
            /** @description null: until the next rotation, or until its encryption key is removed. */
            signs_until: string | null;
        };
        /** @description All secrets that sign the webhooks of a contact. */
        SigningSecrets: {
            /** @description The newest first. Each webhook has a signature of each. */
            secrets: components["schemas"]["SigningSecret"][];
            /** @description Until when the secret of all receivers signs too; null: it does not. */
            shared_secret_until: string | null;
        };
        /** @description A channel that `delivery: first` does not use. */
        SkippedChannel: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @description `not_needed`: an earlier channel is used. Otherwise the reason for which it cannot be. */
            reason: string;
        };
        /**
         * @description The part of a request that an error is in.
         * @enum {string}
         */
        Source: "body" | "query" | "header";
        /**
         * @description The API's `delivery` field.
         * @enum {string}
         */
        Spread: "first" | "all";
        /** @description An entry of the list. */
        SuppressionAnswer: {
            id: number;
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            address: string;
            reason: components["schemas"]["Cause"];
            provider: string;
            note: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            undone_at: string | null;
            undone_by: string;
            undo_note: string;
        };
        SuppressionAnswerPage: {
            results: components["schemas"]["SuppressionAnswer"][];
            next: string | null;
        };
        /** @description An address that shall not be used. */
        SuppressionRequest: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            address: string;
            note?: string;
        };
        /** @description What became of a file. */
        SuppressionsImported: {
            added: number;
            /** @description On the list already, or twice in the file. */
            known: number;
            refused: number;
            /** @description The first hundred of those refused. */
            faults: components["schemas"]["RefusedLine"][];
        };
        /** @description A template, and its latest versions and steps, newest first. */
        TemplateAnswer: {
            template_id: string;
            current_version: number | null;
            versions: components["schemas"]["VersionLine"][];
            history: components["schemas"]["TemplateStep"][];
        };
        /** @description A template in a list. */
        TemplateLine: {
            template_id: string;
            /** @description What producers get; null while nothing is published. */
            current_version: number | null;
            /** @description Higher than the current one where there is a draft. */
            newest_version: number;
            /** Format: date-time */
            updated_at: string;
        };
        TemplateLinePage: {
            results: components["schemas"]["TemplateLine"][];
            next: string | null;
        };
        /** @description A draft: the first version of a template, or the next one. */
        TemplateRequest: {
            template_id: string;
            texts: components["schemas"]["TextRequest"][];
            /** @description Variables that are encrypted at rest, masked everywhere and wiped when final. */
            sensitive_variables?: string[];
            /**
             * @description Variables that the current version keeps sensitive and this one does not.
             *
             *     A version that drops one without naming it here cannot be published.
             */
            no_longer_sensitive?: string[];
            /** @description What producers must send; empty: whatever the texts cannot do without. */
            variables?: components["schemas"]["VariableRequest"][];
            /** @description For readers of a language that has no text. Default: `"en"`. */
            default_locale?: string;
            note?: string;
        };
        /** @description One line of what was done to a template. */
        TemplateStep: {
            /** Format: date-time */
            at: string;
            version: number;
            verb: string;
            /** @description An operator's name, an API key's prefix, or `files`. */
            by: string;
            detail: string;
        };
        /** @description The words for one channel in one locale. */
        TextAnswer: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            locale: string;
            title: string;
            body: string;
            html: string;
            transliterate: boolean;
            max_segments: number | null;
            shorten_links: boolean;
        };
        /** @description The words for one channel in one locale, in the template language. */
        TextRequest: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @description Default: `"en"`. */
            locale?: string;
            /** @description Title or subject; an SMS has none. */
            title?: string;
            /**
             * @description Left empty in an e-mail, it is read from the HTML.
             *
             *     An e-mail may name `unsubscribe_url`, which no producer sends: where its reader leaves this kind
             *     of message. It is empty in P0, P1 and test mode: `{% if unsubscribe_url %}`.
             */
            body?: string;
            /** @description HTML part of an e-mail; variables are escaped in it. */
            html?: string;
            /** @description SMS: say it in GSM-7 where that is possible. Default: `false`. */
            transliterate?: boolean;
            /** @description SMS: more with the examples, and it is not published. */
            max_segments?: number | null;
            /** @description SMS: links become short ones that count their clicks. Default: `false`. */
            shorten_links?: boolean;
        };
        /** @description A recipient by address. One that has these addresses is found, else registered with them. */
        To: {
            /** @description A mailbox; its domain is stored in ASCII. */
            email?: string | null;
            /** @description A phone number with its country code, for SMS; stored as E.164. */
            phone?: string | null;
            /** @description Of a recipient who is registered now; one who is known keeps theirs. */
            locale?: string | null;
            /** @description The same for the timezone. */
            timezone?: string | null;
        };
        /**
         * @description JSON type of a variable.
         * @enum {string}
         */
        Type: "string" | "integer" | "number" | "boolean" | "datetime" | "date" | "money" | "list" | "object";
        /** @description What a template wants of its producers under one name. */
        VariableRequest: {
            name: string;
            type: components["schemas"]["Type"];
            /** @description An optional one may be absent or null. Default: `true`. */
            required?: boolean;
            /** @description What previews show, and what the texts must fit with; a required variable has one. */
            example?: unknown;
        };
        /** @description A version. */
        VersionAnswer: {
            template_id: string;
            version: number;
            /** @enum {string} */
            state: "draft" | "published";
            note: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            published_at: string | null;
            published_by: string;
            sensitive_variables: string[];
            no_longer_sensitive: string[];
            /** @description As they were declared: name, type, required, example. */
            variables: {
                [key: string]: unknown;
            }[];
            default_locale: string;
            texts: components["schemas"]["TextAnswer"][];
        };
        /** @description A version without its texts. */
        VersionLine: {
            template_id: string;
            version: number;
            /** @enum {string} */
            state: "draft" | "published";
            note: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            published_at: string | null;
            published_by: string;
        };
        /** @description Which version. */
        VersionRequest: {
            version: number;
        };
        /** @description One quiet time, on each of its days and channels. */
        Window: {
            /** @description The days on which it begins; none named: every day. */
            days?: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[];
            /** @description The channels that it quietens; none named: all. */
            channels?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            /**
             * @description In the person's local time.
             * @example 22:00
             */
            start: string;
            /**
             * @description The same; not after `start`: on the next day. Equal to it: a day later.
             * @example 22:00
             */
            end: string;
        };
        /** @description The query of `list_alerts`. */
        ListAlertsQuery: {
            /** @description `next` of the page before. */
            cursor?: number;
            /** @description Most results of one page. Default: `50`. */
            limit?: number;
            /** @description `true`: the resolved alerts. Default: `false`. */
            resolved?: boolean;
        };
        /** @description The query of `list_dead_letters`. */
        ListDeadLettersQuery: {
            /** @description Dead letters of any of these channels. */
            channel?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            /** @description `next` of the page before. */
            cursor?: number;
            /** @description Most results of one page. Default: `50`. */
            limit?: number;
            /** @description Dead letters of any of these providers. */
            provider?: string[];
            /** @description Dead letters with any of these reasons. */
            reason?: string[];
            /** @description `true`: those that were replayed or discarded. Default: `false`. */
            resolved?: boolean;
            /**
             * Format: date-time
             * @description Dead letters of this instant or later.
             */
            since?: string;
            /**
             * Format: date-time
             * @description Dead letters from before this instant.
             */
            until?: string;
        };
        /** @description The query of `list_notifications`. */
        ListNotificationsQuery: {
            /**
             * Format: uuid
             * @description `next` of the page before.
             */
            cursor?: string;
            /** @description Most results of one page. Default: `50`. */
            limit?: number;
            /**
             * @description `order_id:ORD-1`: notifications whose metadata has this text under this name. Of several
             *     pairs the metadata has each.
             */
            metadata?: string[];
            /**
             * Format: date-time
             * @description Notifications that were accepted at this instant or later.
             */
            since?: string;
            /** @description Notifications with a delivery in any of these states. */
            status?: ("scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown")[];
            /** @description Notifications of any of these types. */
            type?: string[];
            /** @description Notifications to this recipient. */
            user_id?: string;
        };
        /** @description The query of `list_recipients`. */
        ListRecipientsQuery: {
            /** @description `next` of the page before. */
            cursor?: number;
            /** @description Most results of one page. Default: `50`. */
            limit?: number;
            /** @description The recipients with any of these names. */
            user_id?: string[];
        };
        /** @description The query of `list_recipient_changes`. */
        ListRecipientChangesQuery: {
            /** @description `next` of the page before. */
            cursor?: number;
            /** @description Most results of one page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `list_replay_jobs`. */
        ListReplayJobsQuery: {
            /** @description `next` of the page before. */
            cursor?: number;
            /** @description Most results of one page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `list_schedules`. */
        ListSchedulesQuery: {
            /** @description `next` of the page before. */
            cursor?: number;
            /** @description Most results of one page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `search`. */
        SearchQuery: {
            /** @description Deliveries to this address. */
            address?: string;
            /**
             * Format: uuid
             * @description Id of a notification or of a delivery.
             */
            id?: string;
            /** @description Most results of one page. Default: `50`. */
            limit?: number;
            /** @description The delivery that a provider knows by this id. */
            provider_message_id?: string;
            /** @description Deliveries to this recipient. */
            user_id?: string;
        };
        /** @description The query of `list_suppressions`. */
        ListSuppressionsQuery: {
            /** @description Entries of this address, in any spelling; needs one `channel`. */
            address?: string;
            /** @description Entries of any of these channels. */
            channel?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            /** @description `next` of the page before. */
            cursor?: number;
            /** @description Most results of one page. Default: `50`. */
            limit?: number;
            /** @description Entries with any of these reasons. */
            reason?: ("bounce" | "complaint" | "stop_keyword" | "unsubscribe_all" | "manual" | "import")[];
            /** @description `true`: the entries that were taken back. Default: `false`. */
            undone?: boolean;
        };
        /** @description The query of `undo_suppression`. */
        UndoSuppressionQuery: {
            /** @description Why; operators see it beside the entry. */
            note?: string;
        };
        /** @description The query of `list_templates`. */
        ListTemplatesQuery: {
            /** @description `next` of the page before. */
            cursor?: string;
            /** @description Most results of one page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `diff_template`. */
        DiffTemplateQuery: {
            /** @description The earlier version; left out: the current one. */
            from?: number;
            /** @description The later version; left out: the newest one. */
            to?: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type AlertAnswer = components['schemas']['AlertAnswer'];
export type AlertAnswerPage = components['schemas']['AlertAnswerPage'];
export type AttemptDetail = components['schemas']['AttemptDetail'];
export type BatchAccepted = components['schemas']['BatchAccepted'];
export type BatchRequest = components['schemas']['BatchRequest'];
export type BatchResult = components['schemas']['BatchResult'];
export type BatchSummary = components['schemas']['BatchSummary'];
export type Cause = components['schemas']['Cause'];
export type ChangeLine = components['schemas']['ChangeLine'];
export type ChangeLinePage = components['schemas']['ChangeLinePage'];
export type ContactAnswer = components['schemas']['ContactAnswer'];
export type ContactRequest = components['schemas']['ContactRequest'];
export type Content = components['schemas']['Content'];
export type DeadLetterAnswer = components['schemas']['DeadLetterAnswer'];
export type DeadLetterAnswerPage = components['schemas']['DeadLetterAnswerPage'];
export type DeliveryBrief = components['schemas']['DeliveryBrief'];
export type DeliveryDetail = components['schemas']['DeliveryDetail'];
export type DiffAnswer = components['schemas']['DiffAnswer'];
export type ErasureJobAnswer = components['schemas']['ErasureJobAnswer'];
export type EventLine = components['schemas']['EventLine'];
export type FieldProblem = components['schemas']['FieldProblem'];
export type FoundRecipient = components['schemas']['FoundRecipient'];
export type HitAnswer = components['schemas']['HitAnswer'];
export type HitAnswerPage = components['schemas']['HitAnswerPage'];
export type KeyRotated = components['schemas']['KeyRotated'];
export type MeAnswer = components['schemas']['MeAnswer'];
export type NotificationAccepted = components['schemas']['NotificationAccepted'];
export type NotificationCancelled = components['schemas']['NotificationCancelled'];
export type NotificationDetail = components['schemas']['NotificationDetail'];
export type NotificationLine = components['schemas']['NotificationLine'];
export type NotificationLinePage = components['schemas']['NotificationLinePage'];
export type NotificationRequest = components['schemas']['NotificationRequest'];
export type PatchedPreferencesRequest = components['schemas']['PatchedPreferencesRequest'];
export type PatchedRecipientChange = components['schemas']['PatchedRecipientChange'];
export type PatchedRescheduleRequest = components['schemas']['PatchedRescheduleRequest'];
export type PatchedScheduleChange = components['schemas']['PatchedScheduleChange'];
export type PreferencesAnswer = components['schemas']['PreferencesAnswer'];
export type PreferencesReplacement = components['schemas']['PreferencesReplacement'];
export type PreviewAnswer = components['schemas']['PreviewAnswer'];
export type PreviewRequest = components['schemas']['PreviewRequest'];
export type ProblemDetails = components['schemas']['ProblemDetails'];
export type RateAnswer = components['schemas']['RateAnswer'];
export type ReceiptsTaken = components['schemas']['ReceiptsTaken'];
export type RecipientAnswer = components['schemas']['RecipientAnswer'];
export type RecipientLine = components['schemas']['RecipientLine'];
export type RecipientLinePage = components['schemas']['RecipientLinePage'];
export type RecipientRequest = components['schemas']['RecipientRequest'];
export type RefusedLine = components['schemas']['RefusedLine'];
export type ReplayJobAnswer = components['schemas']['ReplayJobAnswer'];
export type ReplayJobAnswerPage = components['schemas']['ReplayJobAnswerPage'];
export type ReplayRequest = components['schemas']['ReplayRequest'];
export type RequestWarning = components['schemas']['RequestWarning'];
export type RotateRequest = components['schemas']['RotateRequest'];
export type ScheduleAnswer = components['schemas']['ScheduleAnswer'];
export type ScheduleAnswerPage = components['schemas']['ScheduleAnswerPage'];
export type ScheduleRequest = components['schemas']['ScheduleRequest'];
export type SchedulesLimit = components['schemas']['SchedulesLimit'];
export type SecretRotated = components['schemas']['SecretRotated'];
export type SecretRotation = components['schemas']['SecretRotation'];
export type SigningSecret = components['schemas']['SigningSecret'];
export type SigningSecrets = components['schemas']['SigningSecrets'];
export type SkippedChannel = components['schemas']['SkippedChannel'];
export type Source = components['schemas']['Source'];
export type Spread = components['schemas']['Spread'];
export type SuppressionAnswer = components['schemas']['SuppressionAnswer'];
export type SuppressionAnswerPage = components['schemas']['SuppressionAnswerPage'];
export type SuppressionRequest = components['schemas']['SuppressionRequest'];
export type SuppressionsImported = components['schemas']['SuppressionsImported'];
export type TemplateAnswer = components['schemas']['TemplateAnswer'];
export type TemplateLine = components['schemas']['TemplateLine'];
export type TemplateLinePage = components['schemas']['TemplateLinePage'];
export type TemplateRequest = components['schemas']['TemplateRequest'];
export type TemplateStep = components['schemas']['TemplateStep'];
export type TextAnswer = components['schemas']['TextAnswer'];
export type TextRequest = components['schemas']['TextRequest'];
export type To = components['schemas']['To'];
export type Type = components['schemas']['Type'];
export type VariableRequest = components['schemas']['VariableRequest'];
export type VersionAnswer = components['schemas']['VersionAnswer'];
export type VersionLine = components['schemas']['VersionLine'];
export type VersionRequest = components['schemas']['VersionRequest'];
export type Window = components['schemas']['Window'];
export type ListAlertsQuery = components['schemas']['ListAlertsQuery'];
export type ListDeadLettersQuery = components['schemas']['ListDeadLettersQuery'];
export type ListNotificationsQuery = components['schemas']['ListNotificationsQuery'];
export type ListRecipientsQuery = components['schemas']['ListRecipientsQuery'];
export type ListRecipientChangesQuery = components['schemas']['ListRecipientChangesQuery'];
export type ListReplayJobsQuery = components['schemas']['ListReplayJobsQuery'];
export type ListSchedulesQuery = components['schemas']['ListSchedulesQuery'];
export type SearchQuery = components['schemas']['SearchQuery'];
export type ListSuppressionsQuery = components['schemas']['ListSuppressionsQuery'];
export type UndoSuppressionQuery = components['schemas']['UndoSuppressionQuery'];
export type ListTemplatesQuery = components['schemas']['ListTemplatesQuery'];
export type DiffTemplateQuery = components['schemas']['DiffTemplateQuery'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
