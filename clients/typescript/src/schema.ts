// Written by `npm run generate` from the service's OpenAPI document. Not edited by hand.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Shares of the sent messages. The service aborts the job when a share is passed. */
        AbortLimits: {
            failed?: number | null;
            bounced?: number | null;
            /** @description Recipients who reported the message as spam. */
            complained?: number | null;
            /** @description Number of sent messages from which the limits count. Default: `100`. */
            minimum?: number;
        };
        /** @description A button of an in-app message, in the template language. */
        ActionSource: {
            /** @description Name of the action in the webhook `inbox.action`; unique in the text. */
            id: string;
            label: string;
            /** @description Null: the button tells the producer (webhook `inbox.action`). */
            url?: string | null;
        };
        /** @description Time, owner and note of an acknowledgement. */
        AlertAcknowledgement: {
            /** @description Minutes without a reminder. Default: `240`. */
            minutes?: number;
            /** @description Person or team that works on the alert; omitted: the owner stays, or the name of the key. */
            owner?: string;
            /** @description A note for other operators; omitted: the note stays. */
            note?: string;
        };
        /** @description A condition which needs an operator. */
        AlertAnswer: {
            id: number;
            kind: string;
            title: string;
            /** @description `page`: an operator is needed now. `ticket`: during working hours. */
            severity: string;
            subject: string;
            detail: string;
            /** Format: date-time */
            raised_at: string;
            /** Format: date-time */
            seen_at: string;
            resolved_at: string | null;
            /** @description The open alert from which this alert follows. */
            cause_id: number | null;
            owner: string;
            acknowledged_at: string | null;
            acknowledged_by: string;
            /** @description Until then no reminder leaves. */
            acknowledged_until: string | null;
            note: string;
            /** @description The alert's page in the admin. */
            url: string;
            /** @description The page that shows what is ill; empty without such a page. */
            cause_url: string;
            runbook_url: string;
        };
        AlertAnswerPage: {
            results: components["schemas"]["AlertAnswer"][];
            next: string | null;
        };
        /** @description Figures of an interval. */
        AnalyticsAnswer: {
            metric: string;
            /** @enum {string} */
            unit: "deliveries" | "calls" | "USD" | "ratio" | "ms";
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
            /** @enum {string} */
            step: "minute" | "hour" | "day" | "total";
            /** @description Start of each bucket in UTC; empty for `total`. */
            buckets: string[];
            /** @description The groups, the highest total first. */
            groups: components["schemas"]["AnalyticsGroup"][];
        };
        /** @description The values of a group. */
        AnalyticsGroup: {
            /** @description The value of each dimension of `by`; empty without `by`. */
            group: {
                [key: string]: string | number;
            };
            /** @description The value for the whole interval. */
            total: number | null;
            /** @description A value for each of `buckets`; null where a rate or percentile has no data. */
            values: (number | null)[];
        };
        /** @description An attachment of a notification or of a template. */
        AttachedFile: {
            /** Format: uuid */
            id: string;
            name: string;
            type: string;
            /** @description Bytes of the content. */
            size: number;
            sha256: string;
            inline_id: string | null;
        };
        /** @description An uploaded file. */
        AttachmentAnswer: {
            /**
             * Format: uuid
             * @description For `attachments` of `POST /v1/notifications`.
             */
            id: string;
            /** @description Media type. */
            type: string;
            /** @description Bytes of the content. */
            size: number;
            /** @description Digest of the content, in hexadecimal digits. */
            sha256: string;
            /**
             * Format: date-time
             * @description The file is deleted after this time, unless a notification with the file is accepted
             *     before.
             */
            kept_until: string;
        };
        /** @description A provider call. */
        AttemptDetail: {
            number: number;
            provider: string;
            outcome: string;
            code: string;
            detail: string;
            /** Format: date-time */
            started_at: string;
            latency_ms: number;
            /**
             * @description Segments of an SMS by the provider's count, or by the service's count if the provider told
             *     none.
             */
            segments: number | null;
            /**
             * @description Cost of an accepted call in US dollars; null for another outcome without a price by the
             *     provider, and on a free channel.
             */
            cost_usd: number | null;
            /** @description `estimated`: by the price list; `settled`: by the provider's receipt. Null without a cost. */
            cost_basis: ("estimated" | "settled") | null;
            /** @description HTTP status of the provider's response; null without an HTTP response. */
            http_status: number | null;
            /** @description Wait requested by the provider, in seconds; null without a request. */
            retry_after_s: number | null;
            /** @description Web Push: the public VAPID key of the call; empty on other channels. */
            signed_with: string;
            /**
             * @description Country of the phone number of an SMS (ISO 3166-1 alpha-2); on other channels a guess by the
             *     recipient's timezone, else by the locale. Null: unknown.
             */
            country: string | null;
        };
        /** @description A defined attribute. */
        AttributeAnswer: {
            name: string;
            kind: components["schemas"]["AttributeKind"];
            description: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
        };
        AttributeAnswerPage: {
            results: components["schemas"]["AttributeAnswer"][];
            next: string | null;
        };
        /**
         * @description The type of the values of an attribute.
         * @enum {string}
         */
        AttributeKind: "text" | "number" | "boolean" | "date" | "list";
        /** @description The definition of an attribute. */
        AttributeRequest: {
            /** @description The type of the values; a definition keeps the kind. */
            kind: components["schemas"]["AttributeKind"];
            description?: string;
        };
        /** @description A saved audience. */
        AudienceAnswer: {
            id: number;
            name: string;
            description: string;
            audience: {
                [key: string]: unknown;
            };
            /** @description The expression in words. */
            words: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** Format: date-time */
            changed_at: string;
            changed_by: string;
        };
        AudienceAnswerPage: {
            results: components["schemas"]["AudienceAnswer"][];
            next: string | null;
        };
        /** @description A saved audience. */
        AudienceRequest: {
            /** @description Unique in the mode; other audiences refer to the name. */
            name: string;
            description?: string;
            /** @description Audience expression, such as `{"attribute": "plan", "is": "pro"}`: `docs/audiences.md`. */
            audience: {
                [key: string]: unknown;
            };
        };
        /** @description A result for every item, in order; check `summary.rejected`. */
        BatchAccepted: {
            results: components["schemas"]["BatchResult"][];
            summary: components["schemas"]["BatchSummary"];
        };
        /** @description Up to 1000 notifications. Every item is accepted or rejected separately. */
        BatchRequest: {
            notifications: components["schemas"]["NotificationRequest"][];
        };
        /** @description The result of an item of a batch. */
        BatchResult: {
            /** @enum {string} */
            result: "accepted" | "duplicate" | "rejected";
            /** @description Accepted: the response for the item. Duplicate: the response of the first call. */
            notification?: components["schemas"]["NotificationAccepted"] | null;
            /** @description Rejected: the problem. */
            problem?: components["schemas"]["ProblemDetails"] | null;
        };
        /** @description The number of items by result. */
        BatchSummary: {
            accepted: number;
            duplicate: number;
            rejected: number;
        };
        /** @description The brand of a producer's messages. */
        BrandAnswer: {
            /** @description False: the producer has no brand, and these are the values of the installation's brand. */
            is_own: boolean;
            name: string;
            logo_url: string;
            logo_alt: string;
            color: string;
            /** @description Colour of text on `color`: black or white, whichever is easier to read. */
            color_text: string;
            /** @description Nearest tint of `color` that can be read on a dark page, such as the dark inbox component. */
            color_on_dark: string;
            /** @enum {string} */
            font: "system" | "arial" | "courier" | "georgia" | "tahoma" | "times" | "trebuchet" | "verdana";
            footer: string;
            postal_address: string;
            website_url: string;
            links: components["schemas"]["BrandLinkRequest"][];
            sender_name: string;
            /** @description Empty as well for an address that NOTIFY_MAIL_SENDERS does not permit any more. */
            sender_address: string;
            reply_to: string;
        };
        /** @description A link below each e-mail. */
        BrandLinkRequest: {
            label: string;
            /** @description An https URL. */
            url: string;
        };
        /** @description A brand. An omitted field is empty or has its default. */
        BrandRequest: {
            /** @description The name that recipients know. */
            name: string;
            /** @description An https URL of an image, shown 40 pixels high; empty: the name is shown. */
            logo_url?: string;
            /** @description Text in place of the logo; empty: the name. */
            logo_alt?: string;
            /** @description Colour of buttons and links, `#rrggbb`, with a contrast of at least 4.5 to 1 on white. Default: `"#1d4ed8"`. */
            color?: string;
            /**
             * @description Font of e-mails, which needs no download. Default: `"system"`.
             * @enum {string}
             */
            font?: "system" | "arial" | "courier" | "georgia" | "tahoma" | "times" | "trebuchet" | "verdana";
            /** @description Text below each e-mail. */
            footer?: string;
            /** @description Postal address below each e-mail; lines are kept. */
            postal_address?: string;
            /** @description An https URL, below each e-mail. */
            website_url?: string;
            /** @description Links below each e-mail. */
            links?: components["schemas"]["BrandLinkRequest"][];
            /** @description Name in the From header; empty: that of the e-mail provider's setting. */
            sender_name?: string;
            /**
             * @description Address in the From header, permitted by the setting NOTIFY_MAIL_SENDERS; empty: that of the
             *     e-mail provider's setting.
             */
            sender_address?: string;
            /** @description Address in the Reply-To header; empty: answers go to the sender. */
            reply_to?: string;
        };
        /** @description A budget of a day. Amounts are US dollars. */
        BudgetAnswer: {
            id: number;
            /** @description Name of the producer; null: all producers together. */
            producer: string | null;
            /** @description The channel; null: all channels together. */
            channel: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat") | null;
            /** @description The most that the messages of a day may cost. */
            amount: number;
            /** @description Above a hard budget, P2 and P3 wait. Another budget raises alerts alone. */
            is_hard: boolean;
            /** @description Share of the amount at which the first alert of a day is raised. */
            alert_percent: number;
            /**
             * Format: date
             * @description The current day in the timezone of the budget.
             */
            day: string;
            timezone: string;
            /** @description Cost of the day's calls with an outcome. */
            spent: number;
            /** @description Estimated cost of calls that are under way. */
            reserved: number;
            /** @description The money of the day that is neither spent nor reserved. */
            left: number;
            /** @description Cost of the UTC month so far. */
            month: number;
            /**
             * @description Forecast of the cost of the whole month: the month so far, plus for each further day the mean
             *     of the same weekdays of the last 28 days, or of the last 7 days with less history.
             */
            forecast: number;
        };
        BudgetAnswerPage: {
            results: components["schemas"]["BudgetAnswer"][];
            next: string | null;
        };
        /** @description A bulk job. */
        BulkJobAnswer: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {string} */
            state: "aborted" | "cancelled" | "finished" | "paused" | "running" | "scheduled";
            /** @description Reason of the state, for people. */
            state_reason: string;
            state_changed_at: string | null;
            state_changed_by: string;
            type: string;
            /** @enum {string} */
            priority: "P0" | "P1" | "P2" | "P3";
            template_id: string;
            channels: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            delivery: string;
            unique_by: components["schemas"]["UniqueBy"];
            /**
             * Format: date-time
             * @description Start time.
             */
            scheduled_at: string;
            send_at_local: string | null;
            rate_per_second: number | null;
            spread_seconds: number | null;
            weight: number;
            ttl_seconds: number | null;
            metadata: {
                [key: string]: unknown;
            };
            holdout_percent: number;
            /** @description Variant that the recipients outside the sample get; null: not chosen yet. */
            winner: string | null;
            progress: components["schemas"]["BulkJobProgress"];
            /** @description Deliveries of the whole job, 5 to 10 seconds late. */
            funnel: components["schemas"]["Funnel"];
            /**
             * @description Status -> deliveries that have the status now. A delivery counts in the status before while
             *     a worker is sending it.
             */
            statuses: {
                [key: string]: number;
            };
            /** @description Cost of the accepted calls in US dollars. */
            cost_usd: number;
            variants: components["schemas"]["VariantAnswer"][];
            /** Format: date-time */
            created_at: string;
            /** @description Prefix of the API key, or the operator. */
            created_by: string;
            started_at: string | null;
            finished_at: string | null;
            audience: {
                [key: string]: unknown;
            };
            /** @description metric, sample_percent and after_seconds. */
            winner_rule: {
                [key: string]: unknown;
            } | null;
            test_group_size: number;
            test_group_seconds: number;
            abort_limits: {
                [key: string]: number;
            };
        };
        /** @description A reason for people, shown with the job. */
        BulkJobChange: {
            reason?: string;
        };
        /** @description A bulk job was created, started, paused, resumed, finished, cancelled or aborted. */
        BulkJobEvent: {
            /** @enum {string} */
            type: "bulk_job.created" | "bulk_job.started" | "bulk_job.paused" | "bulk_job.resumed" | "bulk_job.finished" | "bulk_job.cancelled" | "bulk_job.aborted";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["BulkJobEventData"];
        };
        /** @description A bulk job that changed. */
        BulkJobEventData: {
            /** Format: uuid */
            bulk_job_id: string;
            name: string;
            /** @description Reason of the change, for people; often empty. */
            reason: string;
            metadata: {
                [key: string]: unknown;
            };
            progress: components["schemas"]["BulkJobEventProgress"];
            /** Format: date-time */
            occurred_at: string;
        };
        /** @description The progress of a bulk job at the time of the call. */
        BulkJobEventProgress: {
            /** @description Recipients who got a notification or were left out. */
            examined: number;
            /** @description Notifications. */
            accepted: number;
            /** @description Reason -> recipients without a notification. */
            left_out: {
                [key: string]: number;
            };
        };
        /** @description A bulk job in a list. */
        BulkJobLine: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {string} */
            state: "aborted" | "cancelled" | "finished" | "paused" | "running" | "scheduled";
            /** @description Reason of the state, for people. */
            state_reason: string;
            state_changed_at: string | null;
            state_changed_by: string;
            type: string;
            /** @enum {string} */
            priority: "P0" | "P1" | "P2" | "P3";
            template_id: string;
            channels: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            delivery: string;
            unique_by: components["schemas"]["UniqueBy"];
            /**
             * Format: date-time
             * @description Start time.
             */
            scheduled_at: string;
            send_at_local: string | null;
            rate_per_second: number | null;
            spread_seconds: number | null;
            weight: number;
            ttl_seconds: number | null;
            metadata: {
                [key: string]: unknown;
            };
            holdout_percent: number;
            /** @description Variant that the recipients outside the sample get; null: not chosen yet. */
            winner: string | null;
            progress: components["schemas"]["BulkJobProgress"];
            /** @description Deliveries of the whole job, 5 to 10 seconds late. */
            funnel: components["schemas"]["Funnel"];
            /**
             * @description Status -> deliveries that have the status now. A delivery counts in the status before while
             *     a worker is sending it.
             */
            statuses: {
                [key: string]: number;
            };
            /** @description Cost of the accepted calls in US dollars. */
            cost_usd: number;
            variants: components["schemas"]["VariantAnswer"][];
            /** Format: date-time */
            created_at: string;
            /** @description Prefix of the API key, or the operator. */
            created_by: string;
            started_at: string | null;
            finished_at: string | null;
        };
        BulkJobLinePage: {
            results: components["schemas"]["BulkJobLine"][];
            next: string | null;
        };
        /** @description The progress of the expansion. The expansion makes one notification per recipient. */
        BulkJobProgress: {
            /** @description Examined part of the audience; 100 only for a finished job. */
            percent: number;
            /** @description Estimated size of the audience in recipients. */
            estimate: number | null;
            /** @description Recipients who got a notification or were left out. */
            examined: number;
            /** @description Notifications. */
            accepted: number;
            /** @description Reason -> recipients without a notification. */
            left_out: {
                [key: string]: number;
            };
            /** @description Notifications per second in the last minute. */
            rate_per_second: number;
            /**
             * @description Limit of the rate; null: no limit. A job without a rate, or with a larger one, has the rate
             *     of `rate_ceiling`.
             */
            rate_wanted: number | null;
            /** @description Notifications per second that no job of this installation exceeds; null: no ceiling. */
            rate_ceiling: number | null;
            /** @description Expected end of the expansion; null: unknown. */
            ends_at: string | null;
        };
        /** @description A request to send a message to each recipient of an audience. */
        BulkJobRequest: {
            /** @description Name for people, as in lists; not unique. */
            name: string;
            /** @description Audience expression: the recipients, such as `{"everyone": true}`. */
            audience: {
                [key: string]: unknown;
            };
            type: string;
            /** @description P2 or P3. Omitted: the priority of the type. */
            priority?: ("P0" | "P1" | "P2" | "P3") | null;
            /** @description The version published at creation is used for the whole job. */
            template_id: string;
            /** @description Variables of each message. A column of an upload with the same name replaces a value. */
            variables?: {
                [key: string]: unknown;
            };
            /** @description Channels in order; empty: the order of each recipient. */
            channels?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            /** @description Default: `"first"`. */
            delivery?: components["schemas"]["Spread"];
            /**
             * @description `address`: of several recipients with the same mailbox, number, device or chat, the first one
             *     gets the message, and the others count as `same_address`. `recipient`: each recipient gets the
             *     message. Default: `"address"`.
             */
            unique_by?: components["schemas"]["UniqueBy"];
            /** @description Life of each message from its planned time. Omitted: the default of the priority. */
            ttl_seconds?: number | null;
            /** @description An object of at most 4 KiB in every notification of the job. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Start time; omitted: now. */
            scheduled_at?: string | null;
            /**
             * @description Time on the wall clock of each recipient: `09:00` is the next such time, `2026-11-27T09:00`
             *     is one on a date.
             */
            send_at_local?: string | null;
            /**
             * @description Messages per second at most; omitted: as fast as the lanes deliver. The ceiling of the
             *     installation (500,000 an hour by default) limits both.
             */
            rate_per_second?: number | null;
            /** @description The messages are spread evenly over this time; instead of `rate_per_second`. */
            spread_seconds?: number | null;
            /** @description Share of a lane among the jobs which run in the lane. Default: `1`. */
            weight?: number;
            /** @description A/B test: at least two variants; empty: each recipient gets the same message. */
            variants?: components["schemas"]["VariantRequest"][];
            /**
             * @description Share of the recipients who get no message, for comparison. The shares of the variants
             *     divide the other recipients. Default: `0`.
             */
            holdout_percent?: number;
            winner?: components["schemas"]["WinnerRequest"] | null;
            test_group?: components["schemas"]["TestGroupRequest"] | null;
            abort_limits?: components["schemas"]["AbortLimits"] | null;
        };
        /** @description The progress of a cancel job. */
        CancelJobAnswer: {
            id: number;
            /** Format: date-time */
            created_at: string;
            requested_by: string;
            /** @description Progress by the time of the examined notifications. */
            percent: number;
            /** @description Cancelled notifications. */
            cancelled: number;
            /** @description Deliveries that had not left and do not leave. */
            stopped: number;
            /** @description True if the job was stopped before its end. */
            is_stopped: boolean;
            finished_at: string | null;
        };
        CancelJobAnswerPage: {
            results: components["schemas"]["CancelJobAnswer"][];
            next: string | null;
        };
        /** @description The notifications to cancel: at least one field; every given field must match. */
        CancelRequest: {
            /** @description Ids of notifications. */
            ids?: string[] | null;
            type?: string | null;
            /** @description Name of the template; all versions match. */
            template_id?: string | null;
            priority?: ("P0" | "P1" | "P2" | "P3") | null;
            /** @description Names and values that the metadata of the notification must have, such as a campaign. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Notifications accepted at or after this instant. */
            since?: string | null;
            /** @description Notifications accepted before this instant. Absent: before this call. */
            until?: string | null;
        };
        /**
         * @description The cause of a suppression. Undoing one cause leaves the others.
         * @enum {string}
         */
        Cause: "bounce" | "complaint" | "stop_keyword" | "unsubscribe_all" | "manual" | "import";
        /** @description A topic on a channel. */
        CellChoice: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @description A message of this topic is sent on the channel. */
            on: boolean;
            /**
             * @description The reason for which the cell cannot be changed: `mandatory`, `channel_off`, or
             *     `category_off`; empty: it can be changed.
             */
            locked: components["schemas"]["Lock"];
        };
        /** @description A change of a recipient, a contact or preferences. */
        ChangeLine: {
            /** Format: date-time */
            at: string;
            operation: string;
            /** @description An operator, or a producer with the prefix of the key. */
            by: string;
            object_type: string;
            object_id: string;
            /** @description The previous values of changed fields; addresses are masked. */
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
        /** @description A channel of the recipient. */
        ChannelChoice: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @description In the language of the answer. */
            name: string;
            /** @description false: nothing is sent on the channel, not even a P0. */
            on: boolean;
        };
        /** @description A topic, a channel, or a topic on a channel, to switch on or off. */
        ChoiceRequest: {
            /** @description A category or a notification type. Omitted: the whole channel. */
            topic?: string | null;
            /** @description Omitted: the topic on each channel. */
            channel?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat") | null;
            on: boolean;
        };
        /**
         * @description The event that the app reports.
         * @enum {string}
         */
        ClientReceiptKind: "received" | "dismissed" | "opened" | "clicked";
        /** @description A report of an app: exactly one of `delivery_id` and `notification_id`. */
        ClientReceiptReport: {
            /** @description The id in the payload of the message; best where a recipient has several devices. */
            delivery_id?: string | null;
            /**
             * @description Stands for the notification's push or in-app delivery to the recipient, or for its only
             *     delivery. Of several devices the first that was reached counts.
             */
            notification_id?: string | null;
            kind: components["schemas"]["ClientReceiptKind"];
            /** @description Time of the event by the device's clock. */
            occurred_at?: string | null;
        };
        /** @description Reports of one app. */
        ClientReceiptsRequest: {
            receipts: components["schemas"]["ClientReceiptReport"][];
        };
        /** @description A token for the app of one recipient. */
        ClientTokenIssued: {
            /**
             * @description For `Authorization: Bearer` in the recipient's app or browser. A JWT; ends by time, by
             *     revocation of the recipient's tokens, and with the API key.
             */
            token: string;
            scopes: components["schemas"]["TokenScope"][];
            /** Format: date-time */
            expires_at: string;
        };
        /** @description Options of a recipient token. */
        ClientTokenRequest: {
            /** @description Default: `3600`. */
            expires_in_seconds?: number;
            /**
             * @description Rights of the token. The key needs the same right for all recipients: `preferences:read`
             *     needs the key's scope `recipients:read`, and `receipts:write` needs no further scope.
             */
            scopes?: components["schemas"]["TokenScope"][];
        };
        /** @description A stored contact. */
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
            /** @description An operator, or a producer with the prefix of the key. */
            created_by: string;
            changed_at: string | null;
            changed_by: string;
            invalid_reason: string;
            /**
             * @description Reasons for which the address is on the suppression list; empty: not on the list. Nothing is
             *     sent to a suppressed address. See `/v1/suppressions`.
             */
            suppressed_for: components["schemas"]["Cause"][];
            /** @description A delivery to this address is an open dead letter: check the address. */
            needs_check: boolean;
        };
        /** @description A contact became invalid. */
        ContactEvent: {
            /** @constant */
            type: "contact.invalidated";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["ContactEventData"];
        };
        /** @description A contact whose address a provider reported as dead. */
        ContactEventData: {
            contact_id: number;
            user_id: string;
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            reason: string;
            message: string;
            /** Format: date-time */
            occurred_at: string;
        };
        /** @description An address on a channel. */
        ContactRequest: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /**
             * @description At most 2,600 bytes in UTF-8. Phone number (stored as E.164), e-mail address (stored with the
             *     domain in lower-case ASCII), https URL, device token or chat target. Surrounding space and
             *     invisible characters are removed. An address that differs in the spelling alone, as in the case
             *     of a mailbox, updates the contact.
             */
            address: string;
            /** @description The kind of address on a channel with several kinds, such as `fcm_token` or `apns_token`. */
            kind?: string;
            /** @description Use this contact when a channel sends to a single contact. Push sends to every device. Default: `false`. */
            primary?: boolean;
        };
        /** @description Raw text instead of a template, for producers with that permission. */
        Content: {
            /** @description The title of a push or in-app message, the subject of an e-mail; an SMS has none. */
            title?: string;
            /** @description The text of the message; of an e-mail the plain text. */
            body: string;
            /** @description The HTML of an e-mail; other channels ignore it. */
            html?: string;
            /**
             * @description In-app and push: the link of the message: an https URL, a path, or a URL of an allowed app
             *     scheme. A push carries the link as `data.url`.
             */
            url?: string;
            /** @description In-app and push: an https URL or a path. A push carries it as `data.image_url`. */
            image_url?: string;
            /** @description In-app: the buttons of the message. */
            actions?: components["schemas"]["ContentAction"][];
        };
        /** @description A button of an in-app message. */
        ContentAction: {
            /** @description Name of the action in the webhook `inbox.action`; unique in the message. */
            id: string;
            /** @description The text of the button. */
            label: string;
            /**
             * @description Opened by the button: an https URL, a path, or a URL of an allowed app scheme. Null: the
             *     button tells the producer (webhook `inbox.action`).
             */
            url?: string | null;
        };
        /** @description The estimated cost of the messages on a channel. */
        CostAnswer: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @description SMS: country of the numbers, such as `DE`; null: unknown. */
            country: string | null;
            messages: number;
            /** @description SMS segments; messages on other channels. */
            units: number;
            cost_usd: number;
        };
        /** @description The cost of a group. */
        CostLineAnswer: {
            /**
             * @description Producer, country, channel, provider or name of the bulk job; null: unknown. The country
             *     of an e-mail is a guess by the recipient's timezone or locale.
             */
            name: string | null;
            /** @description Id of the bulk job; null for other groups. */
            bulk_job_id: string | null;
            cost_usd: number;
        };
        /** @description The costs of live messages in a month, in US dollars. */
        CostsAnswer: {
            month: string;
            /** @enum {string} */
            by: "producer" | "country" | "channel" | "provider" | "bulk_job";
            /** @description Cost of all messages of the month so far. */
            cost_usd: number;
            /**
             * @description Forecast of the whole month: the cost so far, plus for each further day the mean of the same
             *     weekdays of the last 28 days, or of the last 7 days with less history.
             *     Null: the month is over.
             */
            forecast_usd: number | null;
            /** @description The groups, the highest cost first, at most 1,000. */
            lines: components["schemas"]["CostLineAnswer"][];
        };
        /** @description An event of a recipient. */
        CustomEventRequest: {
            /** @description Name of the event, such as `order_paid`. */
            name: string;
            user_id: string;
            /** @description An object of at most 4 KiB. A series uses the values as variables and in conditions. */
            properties?: {
                [key: string]: unknown;
            };
            /**
             * @description Omitted: now. At most 7 days ago and 5 minutes ahead. Series act by the time at which the
             *     service stores the event.
             */
            occurred_at?: string | null;
            /** @description A second event with the key of a stored event is a duplicate, as long as events are kept. */
            idempotency_key?: string | null;
        };
        /** @description A delivery which failed for good. */
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
            /** @description Keyed hash of the address, as in logs; empty after erasure of the contact. */
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
        /** @description A delivery in short form. */
        DeliveryBrief: {
            /** Format: uuid */
            delivery_id: string;
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @enum {string} */
            status: "scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown";
        };
        /** @description A delivery with all provider calls. */
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
            /** @description The stages that the delivery has reached, in order. */
            stages: components["schemas"]["StageLine"][];
            attempts: components["schemas"]["AttemptDetail"][];
        };
        /** @description A delivery and the state of its withdrawal. */
        DeliveryWithdrawn: {
            /** Format: uuid */
            delivery_id: string;
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @enum {string} */
            status: "scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown";
            /**
             * @description `withdrawing`: the device is told to remove the message. `withdrawn`: the provider accepted
             *     the removal before. `not_sent`: the message does not leave. `replaced`: a later message with the
             *     same collapse key has replaced the message. `unsupported`: the channel or the provider cannot
             *     remove a message, such as an SMS or an e-mail.
             */
            withdrawal: components["schemas"]["WithdrawalState"];
            /** @description The state as a sentence. */
            detail: string;
        };
        /** @description The differences between two versions. */
        DiffAnswer: {
            template_id: string;
            old_version: number;
            new_version: number;
            /** @description A unified diff of the versions' files; empty for equal versions. */
            diff: string;
        };
        /**
         * @description The recipient's choice for a topic.
         * @enum {string}
         */
        DigestChoice: "at_once" | "daily" | "weekly";
        /** @description The result of a dry run. */
        DryRunAnswer: {
            /** @description True: each recipient was examined. False: a sample, in the time for a dry run. */
            is_complete: boolean;
            /** @description Examined recipients. */
            examined: number;
            /** @description Examined recipients who get a message. */
            accepted: number;
            /** @description Reason -> examined recipients without a message. */
            left_out: {
                [key: string]: number;
            };
            estimate: components["schemas"]["DryRunEstimate"];
            samples: components["schemas"]["DryRunSample"][];
            /** @description Mails without a visible unsubscribe link, by template; empty: none. */
            warnings: components["schemas"]["RequestWarning"][];
        };
        /** @description Estimated numbers of the whole audience; exact if `is_complete`. */
        DryRunEstimate: {
            recipients: number;
            /** @description Recipients who get a message. */
            notifications: number;
            /**
             * @description Recipients among them whose text cannot be rendered, from up to 200 rendered messages: such a
             *     message fails.
             */
            unrenderable: number;
            /** @description Channel -> messages. */
            messages: {
                [key: string]: number;
            };
            /** @description Bytes of all e-mails with their attachments, from up to 200 rendered messages. */
            mail_bytes: number;
            cost_usd: number;
            costs: components["schemas"]["CostAnswer"][];
        };
        /** @description The body of a bulk job, and the recipients whose messages are rendered. */
        DryRunRequest: {
            /** @description Name for people, as in lists; not unique. */
            name: string;
            /** @description Audience expression: the recipients, such as `{"everyone": true}`. */
            audience: {
                [key: string]: unknown;
            };
            type: string;
            /** @description P2 or P3. Omitted: the priority of the type. */
            priority?: ("P0" | "P1" | "P2" | "P3") | null;
            /** @description The version published at creation is used for the whole job. */
            template_id: string;
            /** @description Variables of each message. A column of an upload with the same name replaces a value. */
            variables?: {
                [key: string]: unknown;
            };
            /** @description Channels in order; empty: the order of each recipient. */
            channels?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            /** @description Default: `"first"`. */
            delivery?: components["schemas"]["Spread"];
            /**
             * @description `address`: of several recipients with the same mailbox, number, device or chat, the first one
             *     gets the message, and the others count as `same_address`. `recipient`: each recipient gets the
             *     message. Default: `"address"`.
             */
            unique_by?: components["schemas"]["UniqueBy"];
            /** @description Life of each message from its planned time. Omitted: the default of the priority. */
            ttl_seconds?: number | null;
            /** @description An object of at most 4 KiB in every notification of the job. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Start time; omitted: now. */
            scheduled_at?: string | null;
            /**
             * @description Time on the wall clock of each recipient: `09:00` is the next such time, `2026-11-27T09:00`
             *     is one on a date.
             */
            send_at_local?: string | null;
            /**
             * @description Messages per second at most; omitted: as fast as the lanes deliver. The ceiling of the
             *     installation (500,000 an hour by default) limits both.
             */
            rate_per_second?: number | null;
            /** @description The messages are spread evenly over this time; instead of `rate_per_second`. */
            spread_seconds?: number | null;
            /** @description Share of a lane among the jobs which run in the lane. Default: `1`. */
            weight?: number;
            /** @description A/B test: at least two variants; empty: each recipient gets the same message. */
            variants?: components["schemas"]["VariantRequest"][];
            /**
             * @description Share of the recipients who get no message, for comparison. The shares of the variants
             *     divide the other recipients. Default: `0`.
             */
            holdout_percent?: number;
            winner?: components["schemas"]["WinnerRequest"] | null;
            test_group?: components["schemas"]["TestGroupRequest"] | null;
            abort_limits?: components["schemas"]["AbortLimits"] | null;
            /** @description Random recipients whose messages are rendered. Default: `3`. */
            samples?: number;
            /** @description Recipients whose messages are rendered, instead of random ones. */
            sample_user_ids?: string[];
        };
        /** @description The messages of a recipient. */
        DryRunSample: {
            user_id: string;
            /** @description Reason for no message: one of `left_out`, `unknown_recipient` or `not_in_audience`. */
            left_out: string | null;
            messages: components["schemas"]["RenderedMessage"][];
        };
        /** @description An enrolment with the results of the steps. */
        EnrolmentAnswer: {
            id: number;
            user_id: string;
            version: number;
            state: components["schemas"]["EnrolmentState"];
            exit_reason: string;
            /** @description JSON pointer of the present step; empty after the last step. */
            position: string;
            /** @description End of the present wait; null: the enrolment has ended. */
            due_at: string | null;
            /** @description Reason of a delay; empty without a delay. */
            problem: string;
            /** Format: date-time */
            enrolled_at: string;
            ended_at: string | null;
            variables: {
                [key: string]: unknown;
            };
            history: components["schemas"]["StepLine"][];
        };
        /** @description A recipient to enrol. */
        EnrolmentItem: {
            user_id: string;
            /** @description Variables of the messages, at most 16 KiB. */
            variables?: {
                [key: string]: unknown;
            };
        };
        /** @description An enrolment in a list. */
        EnrolmentLine: {
            id: number;
            user_id: string;
            version: number;
            state: components["schemas"]["EnrolmentState"];
            exit_reason: string;
            /** @description JSON pointer of the present step; empty after the last step. */
            position: string;
            /** @description End of the present wait; null: the enrolment has ended. */
            due_at: string | null;
            /** @description Reason of a delay; empty without a delay. */
            problem: string;
            /** Format: date-time */
            enrolled_at: string;
            ended_at: string | null;
        };
        EnrolmentLinePage: {
            results: components["schemas"]["EnrolmentLine"][];
            next: string | null;
        };
        /** @description Up to 1000 recipients. */
        EnrolmentRequest: {
            enrolments: components["schemas"]["EnrolmentItem"][];
        };
        /** @description The result for a recipient. */
        EnrolmentResult: {
            /**
             * @description `unchanged`: the recipient is in the series, or was before and `reentry` is `never`.
             * @enum {string}
             */
            result: "enrolled" | "unchanged" | "rejected";
            /** @description Id of a new enrolment. */
            enrolment_id?: number | null;
            problem?: components["schemas"]["ProblemDetails"] | null;
        };
        /** @description A result for every recipient, in order. */
        EnrolmentResults: {
            results: components["schemas"]["EnrolmentResult"][];
        };
        /**
         * @description The state of an enrolment.
         * @enum {string}
         */
        EnrolmentState: "running" | "finished" | "exited";
        /** @description Counts of the erased data by place. */
        ErasedCounts: {
            contacts: number;
            notifications: number;
            dead_letters: number;
            /** @description In-app messages in the inbox. Default: `0`. */
            inbox_items?: number;
            /**
             * @description Deleted keys of the recipient's data in the archive; without the key the data is
             *     unreadable.
             */
            archive_keys: number;
        };
        /** @description The progress of an erasure job. */
        ErasureJobAnswer: {
            id: number;
            /** Format: date-time */
            created_at: string;
            requested_by: string;
            /** @description Notifications removed so far. */
            notifications: number;
            /** @description null: the job is still running. */
            finished_at: string | null;
            /** @description null: the job is still running. */
            receipt: components["schemas"]["ErasureReceipt"] | null;
            /** @description HMAC-SHA256 of the receipt under a key of the service, hexadecimal; empty while it runs. */
            receipt_signature: string;
        };
        /** @description The evidence of a finished erasure. */
        ErasureReceipt: {
            job_id: number;
            mode: string;
            /** @description Number of the removed recipient; the receipt has no user id. */
            recipient_id: number;
            requested_by: string;
            /** Format: date-time */
            requested_at: string;
            /** Format: date-time */
            erased_at: string;
            erased: components["schemas"]["ErasedCounts"];
            /** @description Data that an erasure leaves, with the reason. */
            kept: string[];
        };
        /** @description The size of an audience. */
        EstimateAnswer: {
            count: number;
            is_exact: boolean;
            /** @description Half of the interval that holds the true size in 95 of 100 cases, in recipients; 0: exact. */
            error: number;
            /** @description The expression in words. */
            words: string;
        };
        /** @description An audience to estimate. */
        EstimateRequest: {
            /** @description Audience expression; see `docs/audiences.md`. */
            audience: {
                [key: string]: unknown;
            };
        };
        /** @description An event of the timeline. */
        EventLine: {
            /** @description Gives the order. An event with the status `sending` has the number of the event beside it. */
            seq: number;
            /** Format: date-time */
            at: string;
            delivery_id: string | null;
            status: ("scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown") | null;
            reason: string;
            detail: string;
            /**
             * @description Receipts: the time given by the provider or the app, unchecked. `at` is the time at which the
             *     service stored the receipt.
             */
            occurred_at: string | null;
        };
        /** @description The result of an event. */
        EventResult: {
            /** @enum {string} */
            result: "accepted" | "duplicate" | "rejected";
            /** @description Rejected: the problem. */
            problem?: components["schemas"]["ProblemDetails"] | null;
        };
        /** @description A result for every event, in order. */
        EventResults: {
            results: components["schemas"]["EventResult"][];
        };
        /** @description Up to 1000 events. Every event is accepted or rejected separately. */
        EventsRequest: {
            events: components["schemas"]["CustomEventRequest"][];
        };
        /**
         * @description The reason for which a line has no recipient.
         * @enum {string}
         */
        FaultKind: "format" | "user_id" | "variables" | "unknown";
        /** @description An invalid place of the request. */
        FieldProblem: {
            /** @description The part of the request. */
            source: components["schemas"]["Source"];
            /** @description RFC 6901 JSON pointer into the part; empty for the whole part. */
            pointer: string;
            detail: string;
        };
        /** @description The files of a version. */
        FilesAnswer: {
            template_id: string;
            version: number;
            /** @enum {string} */
            state: "draft" | "published";
            /** @description File name, such as `email.en.html`, and text. */
            files: {
                [key: string]: string;
            };
        };
        /** @description The whole content of a version: a file that is not listed is not part of the version. */
        FilesRequest: {
            files: {
                [key: string]: string;
            };
            /** @description Default: `"From files"`. */
            note?: string;
        };
        /** @description The newest version of the template, whose content equals the files. */
        FilesStored: {
            template_id: string;
            version: number;
            /**
             * @description `unchanged`: the newest version has had this content already.
             * @enum {string}
             */
            effect: "unchanged" | "drafted";
            /**
             * @description The page of the admin that compares a draft with the published version and publishes it;
             *     null without a draft, or without the app of the page.
             */
            review_url: string | null;
        };
        /** @description The recipient found or registered by the addresses in `to`. */
        FoundRecipient: {
            user_id: string;
            /** @description True: registered by this request. */
            registered: boolean;
        };
        /** @description Deliveries that got at least this far. */
        Funnel: {
            accepted: number;
            /** @description A provider accepted the message. */
            sent: number;
            /** @description A receipt reported the arrival. */
            delivered: number;
            /** @description The recipient opened the message. */
            read: number;
            clicked: number;
            failed: number;
            bounced: number;
            /** @description The recipient reported the message as spam. */
            complained: number;
        };
        /** @description A delivery in the search results. */
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
        /** @description A button of an in-app message. */
        InAppAction: {
            id: string;
            label: string;
            /** @description Null: the button tells the producer. */
            url: string | null;
        };
        /** @description The limits of a mark on all messages. An empty object means all messages of the inbox. */
        InboxAllRequest: {
            /** @description Messages of this category only. */
            category?: string | null;
            /**
             * @description The `version` of the page that the person sees: a message that arrived later stays as it
             *     is. Absent: every message.
             */
            version?: number | null;
        };
        /** @description A page of an inbox, newest first. */
        InboxAnswer: {
            results: components["schemas"]["InboxItem"][];
            next: string | null;
            counts: components["schemas"]["InboxCounts"];
            /** @description The version of the inbox that the page shows; see `since` of the changes. */
            version: number;
            /**
             * @description The names of categories and types for recipients, in the first language of the header
             *     `Accept-Language`, or else in English. Empty without the header; a category without a text of an
             *     operator has no name here.
             */
            category_names: {
                [key: string]: string;
            };
            /** @description Null: neither the producer nor the installation has a brand. */
            brand: components["schemas"]["InboxBrand"] | null;
            /** @description The server-sent events of this inbox; null: this installation has no live process. */
            stream_url: string | null;
        };
        /** @description The look of the inbox: of the brand of the key's or the token's producer. */
        InboxBrand: {
            name: string;
            logo_url: string;
            /** @description Text in place of the logo. */
            logo_alt: string;
            /** @description Font families of CSS. */
            font: string;
            /** @description Nearest shade of the brand's colour that can be read on a light inbox. */
            color: string;
            /** @description Nearest tint of the brand's colour that can be read on a dark inbox. */
            color_on_dark: string;
        };
        /** @description The counts of a category. */
        InboxCategoryCounts: {
            unread: number;
            unseen: number;
        };
        /** @description The difference between two versions of an inbox. */
        InboxChanges: {
            /** @description Ask for the next changes with this version. */
            version: number;
            /**
             * @description New and changed messages in their present state. A message with `archived_at` or
             *     `snoozed_until` has left the tab `inbox`.
             */
            results: components["schemas"]["InboxItem"][];
            /**
             * @description Messages that left every tab: deleted, expired, withdrawn, or replaced by a newer message of
             *     the group.
             */
            removed: string[];
            counts: components["schemas"]["InboxCounts"];
            /** @description `true`: the changes are too many or too old. Load the first page again. */
            reset: boolean;
        };
        /** @description The counts of an inbox, without archived, snoozed and expired messages. */
        InboxCounts: {
            unread: number;
            unseen: number;
            total: number;
            categories: {
                [key: string]: components["schemas"]["InboxCategoryCounts"];
            };
        };
        /** @description A message in an inbox. */
        InboxItem: {
            /**
             * Format: uuid
             * @description The id of the message, and of the delivery on the channel `in_app`.
             */
            message_id: string;
            /**
             * Format: uuid
             * @description Deliveries on other channels, such as a push, have the same notification id.
             */
            notification_id: string;
            type: string;
            category: string;
            title: string;
            body: string;
            /** @description The page that a click on the message opens. */
            url: string | null;
            image_url: string | null;
            actions: components["schemas"]["InboxItemAction"][];
            /** @description Values of the producer for the app. */
            data: {
                [key: string]: unknown;
            };
            group: components["schemas"]["InboxItemGroup"] | null;
            /**
             * Format: date-time
             * @description Time of arrival in the inbox.
             */
            created_at: string;
            expires_at: string | null;
            /** @description Time at which the message was first on a screen. */
            seen_at: string | null;
            read_at: string | null;
            archived_at: string | null;
            snoozed_until: string | null;
            /**
             * @description The version of the inbox at the arrival of the message, or at the end of its last snooze.
             *     Show the messages by this number, then by `message_id`, the highest first.
             */
            added_version: number;
            /** @description The version of the inbox that the last change of the message made. */
            version: number;
        };
        /** @description A button of a message. */
        InboxItemAction: {
            id: string;
            label: string;
            /**
             * @description The page that the button opens; null: the app reports the press to
             *     `POST /v1/inbox/{user_id}/{message_id}/actions/{action_id}`.
             */
            url: string | null;
        };
        /** @description The messages with one `collapse_key`, which the newest message stands for. */
        InboxItemGroup: {
            key: string;
            /** @description Number of messages, the newest included. */
            size: number;
        };
        /** @description The inbox after a mark. */
        InboxMarked: {
            counts: components["schemas"]["InboxCounts"];
            version: number;
        };
        /** @description The inbox after a mark on several messages. */
        InboxMessagesMarked: {
            counts: components["schemas"]["InboxCounts"];
            version: number;
            /** @description The given ids that are not in this inbox. The other messages are marked. */
            unknown: string[];
        };
        /** @description The messages to mark. */
        InboxMessagesRequest: {
            message_ids: string[];
        };
        /** @description The counts of an inbox, and their version. */
        InboxUnreadCount: {
            unread: number;
            unseen: number;
            total: number;
            categories: {
                [key: string]: components["schemas"]["InboxCategoryCounts"];
            };
            /** @description Grows by one with each change of the inbox; 0: no message ever came. */
            version: number;
        };
        /** @description A meeting, of which the service writes a calendar file. */
        InvitationRequest: {
            /**
             * @description REQUEST invites, or changes an invitation; CANCEL cancels; PUBLISH needs no answer. Default: `"REQUEST"`.
             * @enum {string}
             */
            method?: "REQUEST" | "CANCEL" | "PUBLISH";
            /** @description The same for all changes of a meeting, and for no other meeting. */
            uid: string;
            /** @description Number of the change: each change and the cancellation have a higher number. Default: `0`. */
            sequence?: number;
            /**
             * Format: date-time
             * @description Begin, with an offset from UTC.
             */
            start: string;
            /**
             * Format: date-time
             * @description End, with an offset from UTC.
             */
            end: string;
            /** @description Title in the calendar. */
            summary: string;
            /** @description Place. */
            location?: string | null;
            /** @description Text. */
            description?: string | null;
            /** @description Mailbox that gets the answers, such as `Shop <events@shop.example>`. */
            organizer: string;
            /** @description Mailbox of the recipient; REQUEST and CANCEL need it. */
            attendee?: string | null;
        };
        /**
         * @description The new key.
         *
         *     The response shows the key once; a repeat with the same Idempotency-Key shows the key again.
         */
        KeyRotated: {
            key: string;
            prefix: string;
            scopes: string[];
            expires_at: string | null;
            old_key_expires_at: string | null;
        };
        /**
         * @description State of a recipient list.
         * @enum {string}
         */
        ListState: "loading" | "ready" | "failed";
        /**
         * @description The reason for which a cell cannot be changed; empty: it can.
         * @enum {string}
         */
        Lock: "" | "mandatory" | "channel_off" | "category_off";
        /**
         * @description The reason for which a topic cannot be switched off; empty: it can.
         * @enum {string}
         */
        Mandatory: "" | "security" | "required";
        /** @description The key of the request. */
        MeAnswer: {
            producer: string;
            /** @enum {string} */
            mode: "live" | "test";
            /** @description The visible part of the key. */
            key_prefix: string;
            scopes: string[];
            /** @description null: the key does not expire. */
            expires_at: string | null;
            /** @description Priorities which the producer may use. */
            priorities: ("P0" | "P1" | "P2" | "P3")[];
            /** @description True if the producer may send raw content instead of a template. */
            may_send_content: boolean;
            /** @description Countries to which the producer may send SMS, such as DE. Empty: every country. */
            sms_countries: string[];
            rate: components["schemas"]["RateAnswer"];
            schedules: components["schemas"]["SchedulesLimit"];
        };
        /**
         * @description Count by which variants are compared, divided by the sent messages of the variant.
         * @enum {string}
         */
        Metric: "delivered" | "read" | "clicked";
        /** @description The notification is stored durably. */
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
            /** @description Planned time of sending; absent without a requested time. */
            scheduled_at?: string | null;
            /** @description Timezone used for `send_at_local`; absent without `send_at_local`. */
            timezone?: string | null;
            /** @description False: the recipient has no timezone, so UTC was used. */
            timezone_known?: boolean | null;
            /** @description With `delivery: first`, the requested or tried channels which are not used; absent: none. */
            skipped?: components["schemas"]["SkippedChannel"][] | null;
            /** @description Probable mistakes in the request; absent: none. */
            warnings?: components["schemas"]["RequestWarning"][] | null;
            /** @description Present only for a request with `to`. */
            recipient?: components["schemas"]["FoundRecipient"] | null;
        };
        /**
         * @description The stopped deliveries, and the current status of all deliveries.
         *
         *     A delivery missing from `stopped` and `in_flight` had already been sent or finished.
         */
        NotificationCancelled: {
            /** Format: uuid */
            notification_id: string;
            /** @enum {string} */
            status: "scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown";
            stopped: string[];
            /**
             * @description Deliveries in the hands of a worker, whose provider call may have begun: the message may
             *     still arrive, and a webhook has the result.
             */
            in_flight: string[];
            deliveries: components["schemas"]["DeliveryBrief"][];
        };
        /** @description A notification with deliveries, attempts and timeline. */
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
            /** @description Variant of the template's texts, of a bulk job; null: the base texts. */
            template_variant: string | null;
            /** @description Values of sensitive variables are masked. */
            variables: {
                [key: string]: unknown;
            };
            content: {
                [key: string]: unknown;
            } | null;
            /** @description Of the e-mail: those of the request, then those of the template. */
            attachments: components["schemas"]["AttachedFile"][];
            channels: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            delivery: string;
            fallback_chain: boolean;
            collapse_key: string;
            ordering_key: string;
            idempotency_key: string;
            metadata: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            scheduled_at: string | null;
            /** @description Timezone used for `send_at_local`; null without `send_at_local`. */
            timezone: string | null;
            /** @description False: the recipient had no timezone, so UTC was used. */
            timezone_known: boolean | null;
            /** Format: date-time */
            expires_at: string;
            cancelled_at: string | null;
            deliveries: components["schemas"]["DeliveryDetail"][];
            timeline: components["schemas"]["EventLine"][];
        };
        /** @description A status change, or the press of a button of an in-app message. */
        NotificationEvent: {
            /** @enum {string} */
            type: "notification.accepted" | "notification.sent" | "notification.delivered" | "notification.read" | "notification.failed" | "notification.expired" | "notification.suppressed" | "notification.cancelled" | "inbox.action";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["NotificationEventData"];
        };
        /** @description A status change of a notification or a delivery. */
        NotificationEventData: {
            /** @description The name of the producer that sent the notification. */
            producer: string;
            /** Format: uuid */
            notification_id: string;
            delivery_id: string | null;
            /** @description `inbox.action`: the `id` of the pressed button. */
            action_id?: string;
            user_id: string;
            channel: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat") | null;
            provider: string | null;
            status: string;
            reason: string;
            /** @description The reason as a sentence. */
            message: string;
            metadata: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            occurred_at: string;
            request_id: string | null;
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
        /** @description A notification as requested by a producer. */
        NotificationRequest: {
            /** @description The producers' name of a registered recipient; or give `to`. */
            user_id?: string | null;
            /** @description A recipient by address, who is registered in the same call if nobody has it yet. */
            to?: components["schemas"]["To"] | null;
            /**
             * @description The kind of the notification, such as `ORDER_READY`. A configured type has a priority and a
             *     category; another name needs `priority`.
             */
            type: string;
            /** @description `P0` for one-time passwords to `P3` for marketing; omitted: the priority of the type. */
            priority?: ("P0" | "P1" | "P2" | "P3") | null;
            /** @description The name of a published template; or give `content`. */
            template_id?: string | null;
            /** @description All of them count as sensitive until the template version says which of them are. */
            variables?: {
                [key: string]: unknown;
            };
            /** @description The text itself, from a producer with that permission; or give `template_id`. */
            content?: components["schemas"]["Content"] | null;
            /** @description Uploaded files for the e-mail; other channels leave without them. */
            attachments?: components["schemas"]["RequestedAttachment"][];
            /** @description The channels to try, in order; omitted: the order of the recipient. */
            channels?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            /**
             * @description `first`: the first channel that the recipient allows and can be reached on. `all`: each of
             *     the channels. Default: `"first"`.
             */
            delivery?: components["schemas"]["Spread"];
            /** @description True: the next channel follows when one fails for good, or is not confirmed in its window. Default: `false`. */
            fallback_chain?: boolean;
            /** @description The instant at which the notification leaves, with its offset; a past instant is now. */
            scheduled_at?: string | null;
            /**
             * @description The time of the recipient's day at which the notification leaves, such as `09:00`; instead of
             *     `scheduled_at`.
             */
            send_at_local?: string | null;
            /**
             * @description The time to live: what has not left when it ends, counted from `scheduled_at` or the
             *     acceptance, is `expired`; omitted: the time of the priority.
             */
            ttl_seconds?: number | null;
            /**
             * @description Messages with the same key are a group: a device shows the newest push, and the inbox the
             *     newest message.
             */
            collapse_key?: string | null;
            /**
             * @description Seconds for which the inbox shows the in-app message, from its delivery; omitted: for the
             *     retention time of inboxes. `ttl_seconds` ends the delivery and does not shorten this time.
             */
            inbox_expires_in_seconds?: number | null;
            /**
             * @description An object for the recipient's app, at most 4 KiB: the `data` of the in-app message. The app
             *     never gets `metadata`.
             */
            inbox_data?: {
                [key: string]: unknown;
            };
            /** @description Deliveries with the same key leave one at a time, in the order of their acceptance. */
            ordering_key?: string | null;
            /** @description An https URL that learns of the status changes of this notification. */
            webhook_url?: string | null;
            /**
             * @description An object of the producer, at most 4 KiB, such as an order number: answers and webhooks have
             *     it, and lists filter by it.
             */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description A notification with the key of an earlier one is not sent: the answer has the earlier one. */
            idempotency_key?: string | null;
        };
        /** @description The notification is cancelled; the state of the withdrawal of each delivery. */
        NotificationWithdrawn: {
            /** Format: uuid */
            notification_id: string;
            /** @enum {string} */
            status: "scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown";
            deliveries: components["schemas"]["DeliveryWithdrawn"][];
        };
        /** @description Preferences of a recipient. Omitted fields keep the current value. */
        PatchedPreferencesRequest: {
            channels_off?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[] | null;
            channel_order?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[] | null;
            /** @description Categories and notification types that are off on each channel. */
            categories_off?: string[] | null;
            /**
             * @description Categories and notification types that are off on one channel: `{"email": ["orders"]}`.
             *     Replaces all of these.
             */
            topics_off?: {
                [key: string]: string[];
            } | null;
            /** @description Topics and channels to switch on or off, after the fields above. Everything else stays. */
            choices?: components["schemas"]["ChoiceRequest"][];
            /**
             * @description E-mails of a category or type: `at_once`, or together `daily` or `weekly`, as
             *     `{"social": "weekly"}`. The choice for a type wins over that for its category. Other topics
             *     keep their choice.
             */
            digests?: {
                [key: string]: components["schemas"]["DigestChoice"];
            };
            /** @description Replaces all quiet hours. During quiet hours only P0 is sent; other priorities wait. */
            quiet_hours?: components["schemas"]["Window"][] | null;
            /** @description Quiet until this instant; null ends the quiet time. */
            do_not_disturb_until?: string | null;
            /**
             * @description Frequency caps by channel: `{"sms": "1/day", "push": "5/hour"}`. Replaces all caps of the
             *     recipient; channels without a cap use the default cap.
             */
            caps?: {
                [key: string]: string;
            } | null;
            /** @description The recipient's language, for every message. */
            locale?: string | null;
            /** @description The recipient's IANA timezone, for quiet hours; empty: unknown. */
            timezone?: string | null;
        };
        /** @description Changes of a recipient. Omitted fields keep the current value. */
        PatchedRecipientChange: {
            locale?: string | null;
            timezone?: string | null;
            /** @description Attributes to set; null removes an attribute. Other attributes stay. */
            attributes?: {
                [key: string]: unknown;
            } | null;
            /** @description Contacts to add, or to change if the address is known. Other contacts stay. */
            contacts?: components["schemas"]["ContactRequest"][] | null;
        };
        /** @description The new time: exactly one of `scheduled_at` and `send_at_local`. */
        PatchedRescheduleRequest: {
            scheduled_at?: string | null;
            send_at_local?: string | null;
        };
        /** @description Changes of a schedule; omitted fields stay. Future occurrences are planned again. */
        PatchedScheduleChange: {
            name?: string | null;
            rrule?: string | null;
            /** @description null: the recipient's timezone. */
            timezone?: string | null;
            starts_at?: string | null;
            /** @description null: the schedule has no end. */
            ends_at?: string | null;
            paused?: boolean | null;
            notification?: components["schemas"]["NotificationRequest"] | null;
        };
        /** @description Changes of an endpoint; omitted fields stay. */
        PatchedWebhookEndpointChange: {
            url?: string | null;
            events?: ("notification.accepted" | "notification.sent" | "notification.delivered" | "notification.read" | "notification.failed" | "notification.expired" | "notification.suppressed" | "notification.cancelled" | "contact.invalidated" | "inbox.action" | "bulk_job.created" | "bulk_job.started" | "bulk_job.paused" | "bulk_job.resumed" | "bulk_job.finished" | "bulk_job.cancelled" | "bulk_job.aborted")[] | null;
            preset?: components["schemas"]["RetryPreset"] | null;
            /**
             * @description `active`: waiting messages leave. `paused`: messages wait, for 7 days at most. `disabled`:
             *     no messages are made, and waiting messages are given up.
             */
            state?: ("active" | "paused" | "disabled") | null;
        };
        /** @description The preferences of a recipient, and the choices for display. */
        PreferencesAnswer: {
            channels_off: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            /**
             * @description Channels from `channels_off` which the person switched off; no key can switch these on
             *     again.
             */
            channels_left: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            channel_order: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            categories_off: string[];
            /**
             * @description Categories from `categories_off` which the person switched off; no key can switch these on
             *     again.
             */
            categories_left: string[];
            /** @description Categories and types that are off on one channel. */
            topics_off: {
                [key: string]: string[];
            };
            /** @description Those of `topics_off` which the person switched off; no key can switch these on again. */
            topics_left: {
                [key: string]: string[];
            };
            /** @description The choices of the recipient: `at_once`, `daily` or `weekly` by category or type. */
            digests: {
                [key: string]: string;
            };
            quiet_hours: components["schemas"]["Window"][];
            do_not_disturb_until: string | null;
            caps: {
                [key: string]: string;
            };
            locale: string;
            timezone: string;
            /** @description The language of the names: the parameter `language`, else of the locale, else `en`. */
            language: string;
            /** @description Channels with a valid contact, and in-app. */
            channels: components["schemas"]["ChannelChoice"][];
            topics: components["schemas"]["TopicChoice"][];
        };
        /**
         * @description All preferences of a recipient. Omitted fields are reset to the default.
         *
         *     An omitted `locale` or `timezone` stays.
         */
        PreferencesReplacement: {
            channels_off?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[] | null;
            channel_order?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[] | null;
            /** @description Categories and notification types that are off on each channel. */
            categories_off?: string[] | null;
            /**
             * @description Categories and notification types that are off on one channel: `{"email": ["orders"]}`.
             *     Replaces all of these.
             */
            topics_off?: {
                [key: string]: string[];
            } | null;
            /** @description Topics and channels to switch on or off, after the fields above. Everything else stays. */
            choices?: components["schemas"]["ChoiceRequest"][];
            /**
             * @description E-mails of a category or type: `at_once`, or together `daily` or `weekly`, as
             *     `{"social": "weekly"}`. The choice for a type wins over that for its category. Other topics
             *     keep their choice.
             */
            digests?: {
                [key: string]: components["schemas"]["DigestChoice"];
            };
            /** @description Replaces all quiet hours. During quiet hours only P0 is sent; other priorities wait. */
            quiet_hours?: components["schemas"]["Window"][] | null;
            /** @description Quiet until this instant; null ends the quiet time. */
            do_not_disturb_until?: string | null;
            /**
             * @description Frequency caps by channel: `{"sms": "1/day", "push": "5/hour"}`. Replaces all caps of the
             *     recipient; channels without a cap use the default cap.
             */
            caps?: {
                [key: string]: string;
            } | null;
            /** @description The recipient's language, for every message. */
            locale?: string | null;
            /** @description The recipient's IANA timezone, for quiet hours; empty: unknown. */
            timezone?: string | null;
        };
        /** @description The rendered message. */
        PreviewAnswer: {
            url: string | null;
            image_url: string | null;
            actions: components["schemas"]["InAppAction"][];
            version: number;
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @description Locale of the chosen text. */
            locale: string;
            /** @description Variant of the chosen text; empty for a base text. */
            variant: string;
            /** @description Null, like the other parts, if rendering fails; `problems` has the reason. */
            title: string | null;
            body: string | null;
            html: string | null;
            /** @description Bytes of UTF-8 by part. */
            sizes: {
                [key: string]: number;
            };
            /** @description Segments of an SMS; null on other channels. */
            segments: number | null;
            /** @description Variables used in the text and missing from the request; some may be optional. */
            missing: string[];
            problems: string[];
            /** @description Files of the e-mail; none on other channels. */
            attachments: components["schemas"]["AttachedFile"][];
        };
        /** @description The text and variables to render. */
        PreviewRequest: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @description The preview uses the nearest locale with a text. Default: `"en"`. */
            locale?: string;
            /**
             * @description Variant of the texts; empty: the base texts. The preview of a locale without the variant is
             *     that of the base text, as recipients get it.
             */
            variant?: string;
            variables?: {
                [key: string]: unknown;
            };
            /** @description Omitted: the current version, or the newest draft if nothing is published. */
            version?: number | null;
        };
        /** @description RFC 9457 problem details. */
        ProblemDetails: {
            /** @description `urn:notify:problem:` followed by the code; the same in every installation. */
            type: string;
            /**
             * @description The code for programs. Later versions of the service may add codes.
             * @enum {string}
             */
            code: "malformed" | "unauthenticated" | "forbidden" | "not-found" | "method-not-allowed" | "not-acceptable" | "in-progress" | "conflict" | "precondition-failed" | "too-large" | "unsupported-media-type" | "invalid" | "unknown-recipient" | "idempotency-key-reused" | "misdirected" | "rate-limited" | "lane-behind" | "sms-pumping-address" | "sms-pumping-prefix" | "sms-pumping-country" | "country-not-allowed" | "unavailable" | "internal-error";
            title: string;
            status: number;
            /** @description Text for people; the wording can change. */
            detail: string;
            /** @description The URL of a page with a remedy. */
            help?: string | null;
            /** @description The id of the request in the service's logs: `X-Request-Id`. */
            instance?: string | null;
            /** @description Seconds to wait before a repeat, as in the header `Retry-After`. */
            retry_after?: number | null;
            /** @description At most 100. */
            errors?: components["schemas"]["FieldProblem"][];
        };
        /** @description The producer's rate limit, shared by all keys of the mode. */
        RateAnswer: {
            /** @description Writes per second. A notification is a write. */
            per_second: number;
            /** @description Maximum writes at once after a pause. */
            burst: number;
            /** @description Writes left now. */
            remaining: number;
            /** @description Seconds until the full burst is available again. */
            full_in_s: number;
        };
        /** @description The number of receipts in the callback. */
        ReceiptsTaken: {
            receipts: number;
            /** @description Receipts which changed a delivery. */
            matched: number;
        };
        /** @description A stored recipient. */
        RecipientAnswer: {
            user_id: string;
            locale: string;
            timezone: string;
            /** @description Values of defined attributes. */
            attributes: {
                [key: string]: unknown;
            };
            contacts: components["schemas"]["ContactAnswer"][];
        };
        /** @description A line, or a part of a line, that was not imported. */
        RecipientImportFault: {
            /** @description The line, and the column if the fault is in one. */
            place: string;
            detail: string;
        };
        /** @description A recipient in a list. */
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
        /** @description A recipient. An omitted locale or timezone is reset to the default. */
        RecipientRequest: {
            /** @description Default: `"en"`. */
            locale?: string;
            timezone?: string;
            /**
             * @description Replaces all attributes, for audiences: names and values by `/v1/attributes`. Omitted:
             *     attributes stay.
             */
            attributes?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Replaces all contacts; contacts missing from the list are no longer used. Omitted: contacts
             *     stay.
             */
            contacts?: components["schemas"]["ContactRequest"][] | null;
        };
        /** @description The topics of a recipient. */
        RecipientTopics: {
            topics: string[];
        };
        /** @description The result of an import. */
        RecipientsImported: {
            /** @description New and changed recipients; with `dry_run` those that an import would create or change. */
            imported: number;
            /** @description Recipients that have everything in the file already. */
            unchanged: number;
            /** @description Choices of an earlier import that were changed since; the later change stays. */
            left_out: number;
            /** @description Lines, and parts of lines, with a fault. */
            not_understood: number;
            /** @description The first 100 faults. */
            faults: components["schemas"]["RecipientImportFault"][];
        };
        /** @description A rejected line of a file. */
        RefusedLine: {
            line: number;
            detail: string;
        };
        /** @description The text of a message, with sensitive variables and the address masked. */
        RenderedMessage: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @description null: the inbox of the recipient. */
            address: string | null;
            locale: string;
            variant: string | null;
            title: string | null;
            body: string | null;
            html: string | null;
            /** @description SMS segments; 1 on other channels. */
            segments: number;
            /** @description The cause if the text cannot be rendered. */
            problem: string | null;
            /** @description Of the e-mail; none on other channels. */
            attachments: components["schemas"]["AttachedFile"][];
            /**
             * @description Bytes of the e-mail with its attachments in base64, without headers; null on other channels,
             *     and without a text.
             */
            mail_bytes: number | null;
        };
        /** @description The progress of a replay job. */
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
        /** @description The dead letters to replay: `ids`, or all open dead letters which match the filters. */
        ReplayRequest: {
            ids?: number[] | null;
            reason?: string | null;
            channel?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat") | null;
            provider?: string | null;
            since?: string | null;
            until?: string | null;
            /** @description Also replay dead letters whose notification reached the person by another delivery. Default: `false`. */
            force?: boolean;
            /** @description Start the time to live again. Not applied to P0. Default: `false`. */
            renew_ttl?: boolean;
        };
        /** @description A probable mistake in an accepted request. */
        RequestWarning: {
            /** @description RFC 6901 JSON pointer into the request's body. */
            pointer: string;
            detail: string;
        };
        /** @description An uploaded file, to be sent with an e-mail. */
        RequestedAttachment: {
            /**
             * Format: uuid
             * @description The `id` that the upload was answered with.
             */
            id: string;
            /**
             * @description The file name that the recipient sees, such as `invoice.pdf`. The ending must fit the type of
             *     the uploaded file.
             */
            name: string;
            /** @description For an image that the HTML shows as `<img src="cid:INLINE_ID">`. */
            inline_id?: string | null;
        };
        /**
         * @description The retries of an endpoint.
         * @enum {string}
         */
        RetryPreset: "standard" | "brief";
        /** @description The overlap in which the old key and the new key work. */
        RotateRequest: {
            /** @description Hours for which the old key continues to work. Default: `24`. */
            overlap_hours?: number;
        };
        /** @description A stored schedule. */
        ScheduleAnswer: {
            id: number;
            name: string;
            rrule: string;
            /** @description null: the recipient's timezone. */
            timezone: string | null;
            /** Format: date-time */
            starts_at: string;
            ends_at: string | null;
            paused: boolean;
            /** @description Time of the next occurrence; null: the schedule is paused or over. */
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
        /** @description A recurring notification. */
        ScheduleRequest: {
            /** @description Unique per producer. */
            name: string;
            /** @description RFC 5545 rule, such as `FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0`; at most once a minute. */
            rrule: string;
            /** @description Timezone of the rule; omitted: the recipient's timezone. */
            timezone?: string | null;
            /** @description Omitted: now. The start gives the time of day if the rule has none. */
            starts_at?: string | null;
            ends_at?: string | null;
            /** @description Default: `false`. */
            paused?: boolean;
            /** @description Without idempotency_key, scheduled_at and send_at_local. */
            notification: components["schemas"]["NotificationRequest"];
        };
        /** @description The producer's limit of schedules in this mode. */
        SchedulesLimit: {
            limit: number;
            used: number;
        };
        /**
         * @description The new secret.
         *
         *     The response shows the secret once; a repeat with the same Idempotency-Key shows the secret
         *     again.
         */
        SecretRotated: {
            /** @description `whsec_` and base64, as in Standard Webhooks. */
            secret: string;
            fingerprint: string;
            /** Format: date-time */
            old_secret_signs_until: string;
        };
        /** @description Options of a rotation. */
        SecretRotation: {
            /** @description Rotate while the previous secret is still active, and end the previous secret at once. Default: `false`. */
            end_overlap?: boolean;
        };
        /** @description A series with its versions and the number of enrolments. */
        SeriesAnswer: {
            name: string;
            state: components["schemas"]["SeriesState"];
            /** @description Number of the published version, which new enrolments take; null: not published. */
            version: number | null;
            /** @description Content of the published version. */
            definition: {
                [key: string]: unknown;
            } | null;
            /** @description Content of the next version; null: no draft. */
            draft: {
                [key: string]: unknown;
            } | null;
            /** @description Enrolments by state. */
            enrolments: {
                [key: string]: number;
            };
            /** @description Running enrolments by the position of the step. */
            steps: {
                [key: string]: number;
            };
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        SeriesAnswerPage: {
            results: components["schemas"]["SeriesAnswer"][];
            next: string | null;
        };
        /** @description The content of the next version. */
        SeriesDraft: {
            /** @description Trigger, goal and steps, as in `docs/series.md`. */
            definition: {
                [key: string]: unknown;
            };
        };
        /** @description A new series. */
        SeriesRequest: {
            /** @description Unique per producer. */
            name: string;
            /** @description Trigger, goal and steps, as in `docs/series.md`. */
            definition: {
                [key: string]: unknown;
            };
        };
        /**
         * @description The state of a series.
         * @enum {string}
         */
        SeriesState: "draft" | "active" | "paused" | "archived";
        /** @description An active signing secret. */
        SigningSecret: {
            /** @description The first 16 hexadecimal digits of the SHA-256 of the secret's bytes. */
            fingerprint: string;
            /** @description True for the newest secret. */
            current: boolean;
            /** @description null: until the next rotation, or until removal of the encryption key. */
            signs_until: string | null;
        };
        /** @description All active signing secrets of a contact. */
        SigningSecrets: {
            /** @description Newest first. Every webhook has a signature for every active secret. */
            secrets: components["schemas"]["SigningSecret"][];
            /** @description End of the signatures with the secret shared by all receivers; null: already ended. */
            shared_secret_until: string | null;
        };
        /** @description A channel which `delivery: first` does not use. */
        SkippedChannel: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /**
             * @description `not_needed`: an earlier channel is used. Otherwise the reason for which the channel is
             *     unusable.
             */
            reason: string;
        };
        /** @description A snapshot of an audience. */
        SnapshotAnswer: {
            id: number;
            name: string;
            /** @description Only a `ready` snapshot can be used in an audience. */
            state: components["schemas"]["ListState"];
            state_reason: string;
            /** @description Recipients so far. */
            members: number;
            /** @description The expression, with the expressions of saved audiences. */
            audience: {
                [key: string]: unknown;
            } | null;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            ready_at: string | null;
            /**
             * Format: date-time
             * @description The snapshot is deleted after this time.
             */
            expires_at: string;
        };
        SnapshotAnswerPage: {
            results: components["schemas"]["SnapshotAnswer"][];
            next: string | null;
        };
        /** @description A snapshot to take. */
        SnapshotRequest: {
            /** @description Audience expression, such as `{"audience": "adults"}`; see `docs/audiences.md`. */
            audience: {
                [key: string]: unknown;
            };
            /** @description A name for operators. */
            name?: string;
        };
        /** @description The end of a snooze. */
        SnoozeRequest: {
            /**
             * Format: date-time
             * @description The message comes back at this instant, at most 30 days ahead.
             */
            until: string;
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
        /**
         * @description A stage of a delivery.
         * @enum {string}
         */
        Stage: "accepted" | "called" | "sent" | "delivered" | "read";
        /** @description A stage of a delivery, with the time since the request was accepted. */
        StageLine: {
            stage: components["schemas"]["Stage"];
            /** Format: date-time */
            at: string;
            seconds_since_accept: number;
            /** @description Clock of `at`: `receipt` is the time given in the receipt, used if the time is possible. */
            source: components["schemas"]["TimeSource"];
        };
        /** @description A change of the status of a delivery. */
        StatusChangeLine: {
            /** Format: uuid */
            notification_id: string;
            delivery_id: string | null;
            user_id: string;
            type: string;
            channel: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat") | null;
            /** @enum {string} */
            status: "scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown";
            reason: string;
            /** Format: date-time */
            occurred_at: string;
            metadata: {
                [key: string]: unknown;
            };
        };
        /** @description A page of changes in the order in which the service stored them. */
        StatusChanges: {
            results: components["schemas"]["StatusChangeLine"][];
            /** @description The cursor after this page, on an empty page too: keep it and ask with it again. */
            next: string;
        };
        /** @description The result of a step. */
        StepLine: {
            /** @description JSON pointer of the step in the definition. */
            position: string;
            outcome: string;
            notification_id: string | null;
            detail: string;
            /** Format: date-time */
            at: string;
        };
        /** @description A user id that was not changed. */
        SubscriberFault: {
            /** @description JSON pointer of the user id in the request. */
            pointer: string;
            detail: string;
        };
        /** @description A subscriber of a topic. */
        SubscriberLine: {
            user_id: string;
        };
        SubscriberLinePage: {
            results: components["schemas"]["SubscriberLine"][];
            next: string | null;
        };
        /** @description The result of a call. */
        SubscribersChanged: {
            /** @description Recipients that were subscribed or unsubscribed by the call. */
            changed: number;
            /** @description Recipients that were subscribed or unsubscribed before, or repeated in the call. */
            unchanged: number;
            errors: components["schemas"]["SubscriberFault"][];
        };
        /** @description User ids to subscribe or unsubscribe. */
        SubscribersRequest: {
            /** @description User ids of recipients. A wrong or unknown user id is an error of its own. */
            user_ids: unknown[];
        };
        /** @description An entry of the suppression list. */
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
        /** @description An address to suppress. */
        SuppressionRequest: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            address: string;
            note?: string;
        };
        /** @description The result of an import. */
        SuppressionsImported: {
            added: number;
            /** @description Lines already on the list, or repeated in the file. */
            known: number;
            refused: number;
            /** @description The first 100 rejected lines. */
            faults: components["schemas"]["RefusedLine"][];
        };
        /** @description A switch. */
        SwitchAnswer: {
            id: number;
            kind: components["schemas"]["SwitchKind"];
            value: string;
            channel: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat") | null;
            reason: string;
            set_by: string;
            /** Format: date-time */
            set_at: string;
            expires_at: string | null;
            resumed_at: string | null;
            resumed_by: string;
        };
        SwitchAnswerPage: {
            results: components["schemas"]["SwitchAnswer"][];
            next: string | null;
        };
        /**
         * @description The kind of a switch: the property of a delivery that the switch compares.
         * @enum {string}
         */
        SwitchKind: "producer" | "type" | "template" | "bulk_job" | "channel" | "provider" | "lane";
        /** @description A switch to set. */
        SwitchRequest: {
            /** @description The property of deliveries that the switch compares. */
            kind: components["schemas"]["SwitchKind"];
            /** @description Name of the producer, type, template, channel, provider or lane, such as `p3.email`. */
            value: string;
            /** @description Only for the kind `provider`: the channel. Absent: every channel of the provider. */
            channel?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat") | null;
            /** @description The reason, for operators; each held delivery shows it. */
            reason: string;
            /** @description The pause ends at this instant by itself. Absent: `DELETE` ends the pause. */
            expires_at?: string | null;
        };
        /** @description A template with the latest versions and events, newest first. */
        TemplateAnswer: {
            template_id: string;
            current_version: number | null;
            versions: components["schemas"]["VersionLine"][];
            history: components["schemas"]["TemplateStep"][];
        };
        /** @description A template in a list. */
        TemplateLine: {
            template_id: string;
            /** @description The version used for new notifications; null if nothing is published. */
            current_version: number | null;
            /** @description Higher than `current_version` if there is a draft. */
            newest_version: number;
            /** Format: date-time */
            updated_at: string;
        };
        TemplateLinePage: {
            results: components["schemas"]["TemplateLine"][];
            next: string | null;
        };
        /** @description A draft: the first version of a template, or the next version. */
        TemplateRequest: {
            template_id: string;
            texts: components["schemas"]["TextRequest"][];
            /** @description Variables to encrypt at rest, mask in all output and wipe after the final status. */
            sensitive_variables?: string[];
            /**
             * @description Variables which are sensitive in the current version and not in this version. A draft which
             *     drops a sensitive variable without this list cannot be published.
             */
            no_longer_sensitive?: string[];
            /**
             * @description Variables which producers must send; empty: the variables without which the texts cannot
             *     render.
             */
            variables?: components["schemas"]["VariableRequest"][];
            /** @description Locale for recipients whose language has no text. Default: `"en"`. */
            default_locale?: string;
            /**
             * @description Condition for the next channel of a fallback chain; empty: as the notification type.
             * @enum {string}
             */
            fallback_on?: "" | "failure" | "unconfirmed";
            /**
             * @description Seconds to wait for a receipt before the next channel of a fallback chain; 0: as the
             *     notification type. Default: `0`.
             */
            confirm_seconds?: number;
            /**
             * @description Files of each e-mail of the version: uploaded by `POST /v1/attachments`, or files of another
             *     version. The template keeps a copy of the content. Together with the attachments of a
             *     notification at most 10.
             */
            attachments?: components["schemas"]["RequestedAttachment"][];
            note?: string;
        };
        /** @description An event in the history of a template. */
        TemplateStep: {
            /** Format: date-time */
            at: string;
            version: number;
            verb: string;
            /** @description An operator's name, the prefix of an API key, or `files`. */
            by: string;
            detail: string;
        };
        /** @description The first recipients; all others follow after a wait, unless the job is paused by then. */
        TestGroupRequest: {
            /** @description Number of recipients. */
            size: number;
            wait_seconds: number;
        };
        /** @description The text for a channel and locale, or a variant of the text. */
        TextAnswer: {
            url: string | null;
            image_url: string | null;
            actions: components["schemas"]["InAppAction"][];
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            locale: string;
            /** @description Empty for a base text. Empty fields of a variant have the values of the base text. */
            variant: string;
            title: string;
            /** @description Empty for a text with blocks; the preview has the text part. */
            body: string;
            /** @description Empty for a text with blocks; the preview has the HTML part. */
            html: string;
            /** @description The source of a mail in blocks; empty for other texts. */
            blocks: string;
            transliterate: boolean;
            max_segments: number | null;
            shorten_links: boolean;
            vendor_template: components["schemas"]["VendorTemplateAnswer"] | null;
        };
        /** @description The text for a channel and locale, in the template language, or a variant of the text. */
        TextRequest: {
            /** @enum {string} */
            channel: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /** @description Default: `"en"`. */
            locale?: string;
            /**
             * @description Variant of an A/B test, such as `b`; empty: the base text. A variant has a base text of its
             *     channel and locale, gives only what differs, and gets the rest from the base text: title, link,
             *     image, actions and `vendor_template` one by one, and `body`, `html` and `blocks` together.
             */
            variant?: string;
            /** @description Title or subject; not used for SMS. */
            title?: string;
            /**
             * @description Empty in an e-mail: derived from the HTML.
             *
             *     An e-mail may use `unsubscribe_url`, which the service fills in: the page for unsubscribing from
             *     messages of the type. The variable is empty for P0, P1 and test mode: `{% if unsubscribe_url
             *     %}`. `preferences_url` is the recipient's preference page, in each e-mail. `brand` is the brand
             *     of the producer, in each text: `{{ brand.name }}`.
             */
            body?: string;
            /** @description HTML part of an e-mail; variables are escaped. */
            html?: string;
            /** @description E-mail: Markdown with `:::` directives, in place of `body` and `html`. */
            blocks?: string;
            /** @description SMS: replace characters outside GSM-7 where possible. Default: `false`. */
            transliterate?: boolean;
            /** @description SMS: publishing fails if the examples render to more segments; null: to more than one. */
            max_segments?: number | null;
            /** @description SMS: replace links by short links with click counts. Default: `false`. */
            shorten_links?: boolean;
            /**
             * @description In-app and push: the link of the message: an https URL, a path, or a URL of an allowed app
             *     scheme. A push carries the link as `data.url`.
             */
            url?: string;
            /** @description In-app and push: an https URL or a path. A push carries it as `data.image_url`. */
            image_url?: string;
            /** @description In-app: the buttons. An action whose label or link renders to nothing is left out. */
            actions?: components["schemas"]["ActionSource"][];
            /**
             * @description Chat: the approved template that WhatsApp sends; null: WhatsApp sends the text, which it
             *     takes within 24 hours of the person's last message.
             */
            vendor_template?: components["schemas"]["VendorTemplateSource"] | null;
        };
        /**
         * @description The clock of an instant.
         * @enum {string}
         */
        TimeSource: "service" | "receipt";
        /** @description A recipient by address: an existing recipient with the addresses, else a new recipient. */
        To: {
            /** @description A mailbox; its domain is stored in ASCII and in lower case. */
            email?: string | null;
            /** @description A phone number with its country code, for SMS; stored as E.164. */
            phone?: string | null;
            /** @description Of a recipient who is registered now; one who is known keeps theirs. */
            locale?: string | null;
            /** @description The same for the timezone. */
            timezone?: string | null;
        };
        /**
         * @description A right of a recipient token; every right concerns the token's recipient only.
         * @enum {string}
         */
        TokenScope: "inbox:read" | "inbox:write" | "preferences:read" | "preferences:write" | "contacts:write" | "receipts:write";
        /** @description A topic. */
        TopicAnswer: {
            topic: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
        };
        TopicAnswerPage: {
            results: components["schemas"]["TopicAnswer"][];
            next: string | null;
        };
        /** @description A category with its types, or a type without a category. */
        TopicChoice: {
            /** @description The key for `choices`. */
            topic: string;
            /** @description In the language of the answer; without a text of an operator, from the key. */
            name: string;
            description: string;
            /**
             * @description `security`: the type has priority P0. `required`: the setting of the type. Empty: the
             *     recipient can switch the topic off.
             */
            mandatory: components["schemas"]["Mandatory"];
            /** @description In the language of the answer; empty if the topic can be switched off. */
            mandatory_reason: string;
            cells: components["schemas"]["CellChoice"][];
            /** @description The choice that applies to e-mails of the topic; null: the topic offers no digest. */
            digest: components["schemas"]["DigestChoice"] | null;
            types: components["schemas"]["TypeChoice"][];
        };
        /** @description A topic with its size. */
        TopicSizeAnswer: {
            topic: string;
            /** Format: date-time */
            created_at: string;
            created_by: string;
            subscribers: number;
            /** @description False: the number of subscribers is an estimate. */
            is_exact: boolean;
        };
        /**
         * @description JSON type of a variable.
         * @enum {string}
         */
        Type: "string" | "integer" | "number" | "boolean" | "datetime" | "date" | "money" | "list" | "object";
        /** @description A notification type, with a cell for each channel. */
        TypeChoice: {
            /** @description The key for `choices`. */
            topic: string;
            /** @description In the language of the answer; without a text of an operator, from the key. */
            name: string;
            description: string;
            /**
             * @description `security`: the type has priority P0. `required`: the setting of the type. Empty: the
             *     recipient can switch the topic off.
             */
            mandatory: components["schemas"]["Mandatory"];
            /** @description In the language of the answer; empty if the topic can be switched off. */
            mandatory_reason: string;
            cells: components["schemas"]["CellChoice"][];
            /** @description The choice that applies to e-mails of the topic; null: the topic offers no digest. */
            digest: components["schemas"]["DigestChoice"] | null;
        };
        /**
         * @description The unit that gets a single message of a bulk job.
         * @enum {string}
         */
        UniqueBy: "address" | "recipient";
        /** @description An uploaded file of user ids. */
        UploadAnswer: {
            id: number;
            name: string;
            /** @description Only a `ready` upload can be used in an audience. */
            state: components["schemas"]["ListState"];
            state_reason: string;
            /** @description Lines with content, without the first line of CSV. */
            lines: number;
            /** @description Recipients, each counted once. */
            members: number;
            /** @description Lines that repeat a recipient; the first line of a recipient counts. */
            duplicates: number;
            /** @description Lines with an unknown user id. */
            unknown: number;
            /** @description Lines without a recipient, by kind. */
            fault_counts: {
                [key: string]: number;
            };
            /** @description The first 100 lines without a recipient. */
            faults: components["schemas"]["UploadFault"][];
            /** Format: date-time */
            created_at: string;
            created_by: string;
            ready_at: string | null;
            /**
             * Format: date-time
             * @description The upload is deleted after this time.
             */
            expires_at: string;
        };
        UploadAnswerPage: {
            results: components["schemas"]["UploadAnswer"][];
            next: string | null;
        };
        /** @description A line without a recipient. */
        UploadFault: {
            line: number;
            kind: components["schemas"]["FaultKind"];
            detail: string;
        };
        /** @description The declaration of a template variable. */
        VariableRequest: {
            name: string;
            type: components["schemas"]["Type"];
            /** @description An optional variable may be absent or null. Default: `true`. */
            required?: boolean;
            /** @description Value for previews and for the checks before publishing; mandatory for a required variable. */
            example?: unknown;
        };
        /** @description A variant of an A/B test with its figures. */
        VariantAnswer: {
            name: string;
            template_id: string;
            /** @description Variant of the template's texts; null: the base texts. */
            template_variant: string | null;
            percent: number;
            funnel: components["schemas"]["Funnel"];
            /**
             * @description Status -> deliveries that have the status now. A delivery counts in the status before while
             *     a worker is sending it.
             */
            statuses: {
                [key: string]: number;
            };
        };
        /** @description A variant of an A/B test. */
        VariantRequest: {
            /** @description Unique in the job; up to 32 characters. */
            name: string;
            /** @description Omitted: the template of the job. */
            template_id?: string | null;
            /** @description The variant of the template's texts; omitted or empty: the base texts. */
            template_variant?: string | null;
            /** @description Share of the recipients; the shares of all variants add up to 100. */
            percent: number;
        };
        /** @description The template that a vendor approved before. */
        VendorTemplateAnswer: {
            ids: {
                [key: string]: string;
            };
            parameters: string[];
        };
        /** @description The template that a vendor approved before, in place of the text. */
        VendorTemplateSource: {
            /**
             * @description Provider -> id of the template: `whatsapp` takes name and language, `order_shipped/en_US`;
             *     `twilio` takes the Content SID, `HX...`.
             */
            ids?: {
                [key: string]: string;
            };
            /** @description The values of the placeholders, in order, in the template language. */
            parameters?: string[];
        };
        /** @description A version with texts. */
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
            /** @description The declarations: name, type, required, example. */
            variables: {
                [key: string]: unknown;
            }[];
            default_locale: string;
            fallback_on: string;
            confirm_seconds: number;
            /** @description Files of each e-mail; another version may name the ids. */
            attachments: components["schemas"]["AttachedFile"][];
            texts: components["schemas"]["TextAnswer"][];
        };
        /** @description A version without texts. */
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
        /** @description The version to publish. */
        VersionRequest: {
            version: number;
        };
        /** @description The service's key for web push. */
        WebPushKey: {
            /**
             * @description The VAPID public key (RFC 8292) in base64url, for `applicationServerKey`; null: the service
             *     has no web push.
             */
            public_key: string | null;
        };
        /** @description A call of an endpoint. */
        WebhookAttemptLine: {
            id: number;
            /**
             * Format: uuid
             * @description The `webhook-id`, the same in all calls of a message.
             */
            message_id: string;
            type: string;
            notification_id: string | null;
            delivery_id: string | null;
            bulk_job_id: string | null;
            number: number;
            /** Format: date-time */
            started_at: string;
            latency_ms: number;
            /** @description null: no HTTP answer came; `error` says why. */
            http_status: number | null;
            error: string;
            /** @description Beginning of the answer's body. */
            response: string;
            /** @description `waiting` for a further call, `sent`, or `failed`: no further call. */
            message_state: string;
        };
        WebhookAttemptLinePage: {
            results: components["schemas"]["WebhookAttemptLine"][];
            next: string | null;
        };
        /** @description An endpoint. */
        WebhookEndpointAnswer: {
            id: number;
            /** @description null: the endpoint of `webhook_url` in requests. */
            url: string | null;
            /** @description Empty: all events. */
            events: string[];
            preset: components["schemas"]["RetryPreset"];
            /** @enum {string} */
            state: "active" | "paused" | "disabled";
            state_reason: string;
            state_since: string | null;
            /** @description Failed calls since the last successful call. */
            failures: number;
            failing_since: string | null;
            /** @description Until then the previous secret signs too. */
            previous_secret_until: string | null;
            /** @description Start of the replay that runs; null: none runs. */
            replay_since: string | null;
            /** Format: date-time */
            created_at: string;
        };
        WebhookEndpointAnswerPage: {
            results: components["schemas"]["WebhookEndpointAnswer"][];
            next: string | null;
        };
        /** @description The new endpoint with the signing secret, which no other response shows. */
        WebhookEndpointCreated: {
            id: number;
            /** @description null: the endpoint of `webhook_url` in requests. */
            url: string | null;
            /** @description Empty: all events. */
            events: string[];
            preset: components["schemas"]["RetryPreset"];
            /** @enum {string} */
            state: "active" | "paused" | "disabled";
            state_reason: string;
            state_since: string | null;
            /** @description Failed calls since the last successful call. */
            failures: number;
            failing_since: string | null;
            /** @description Until then the previous secret signs too. */
            previous_secret_until: string | null;
            /** @description Start of the replay that runs; null: none runs. */
            replay_since: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description `whsec_` and base64, as in Standard Webhooks. */
            secret: string;
        };
        /** @description A new endpoint. */
        WebhookEndpointRequest: {
            /** @description An https URL with a public address. */
            url: string;
            /** @description Omitted: all events. */
            events?: ("notification.accepted" | "notification.sent" | "notification.delivered" | "notification.read" | "notification.failed" | "notification.expired" | "notification.suppressed" | "notification.cancelled" | "contact.invalidated" | "inbox.action" | "bulk_job.created" | "bulk_job.started" | "bulk_job.paused" | "bulk_job.resumed" | "bulk_job.finished" | "bulk_job.cancelled" | "bulk_job.aborted")[];
            /**
             * @description `standard`: answers within 10 s, retries over 24 hours. `brief`: answers within 30 s, three
             *     retries after 1, 2 and 4 s, none after a 4xx. Default: `"standard"`.
             */
            preset?: components["schemas"]["RetryPreset"];
        };
        /** @description The start of a replay. */
        WebhookReplay: {
            /**
             * Format: date-time
             * @description Send the messages of all status changes at or after this instant again.
             */
            since: string;
        };
        /** @description The new signing secret, which no other response shows. */
        WebhookSecretRotated: {
            secret: string;
            /** Format: date-time */
            previous_secret_until: string;
        };
        /** @description Options of a rotation. */
        WebhookSecretRotation: {
            /** @description Hours for which the previous secret signs too. Default: `24`. */
            overlap_hours?: number;
        };
        /** @description The test event waits for its call. */
        WebhookTestSent: {
            /**
             * Format: uuid
             * @description The `webhook-id` of the call.
             */
            message_id: string;
        };
        /** @description A period of quiet hours, on the given days and channels. */
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
        /** @description Rule for the winner of an A/B test: the best variant of a sample goes to all others. */
        WinnerRequest: {
            metric: components["schemas"]["Metric"];
            /** @description Share of the recipients who get the variants first. */
            sample_percent: number;
            /** @description Time from the last message of the sample to the choice of the winner. */
            after_seconds: number;
        };
        /**
         * @description The state of the withdrawal of one delivery; `sentence` explains it to a caller.
         * @enum {string}
         */
        WithdrawalState: "withdrawing" | "withdrawn" | "not_sent" | "replaced" | "unsupported";
        /** @description The query of `list_alerts`. */
        ListAlertsQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
            /** @description `true` lists resolved alerts instead of open alerts. Default: `false`. */
            resolved?: boolean;
        };
        /** @description The query of `get_analytics`. */
        GetAnalyticsQuery: {
            /** @description Up to two dimensions to group by: the parameter is repeated. */
            by?: ("channel" | "provider" | "priority" | "type" | "template" | "version" | "producer" | "country" | "reason")[];
            /**
             * @description Only this channel.
             * @enum {string}
             */
            channel?: "push" | "sms" | "email" | "in_app" | "webhook" | "chat";
            /**
             * @description Only calls to this country (ISO 3166-1 alpha-2): that of the phone number of an SMS; on other
             *     channels a guess by the recipient's timezone, else by the locale. By minute, in percentiles, and
             *     together with provider, priority, type, template or version, SMS alone have a country.
             */
            country?: string;
            /**
             * @description `csv` answers with a CSV file, as `Accept: text/csv` does.
             * @enum {string}
             */
            format?: "json" | "csv";
            /**
             * @description A count, a rate or a percentile; `docs/analytics.md` explains each metric.
             * @enum {string}
             */
            metric?: "accepted" | "sent" | "delivered" | "read" | "clicked" | "failed" | "bounced" | "expired" | "suppressed" | "cancelled" | "unknown" | "unconfirmed" | "retried" | "replayed" | "calls" | "failed_calls" | "sent_after_retry" | "failed_after_retry" | "cost" | "delivery_rate" | "failure_rate" | "read_rate" | "click_rate" | "call_failure_rate" | "retry_success_rate" | "accept_to_call_p50" | "accept_to_call_p95" | "accept_to_call_p99" | "call_to_answer_p50" | "call_to_answer_p95" | "call_to_answer_p99" | "accept_to_delivered_p50" | "accept_to_delivered_p95" | "accept_to_delivered_p99";
            /**
             * @description Only this priority.
             * @enum {string}
             */
            priority?: "P0" | "P1" | "P2" | "P3";
            /** @description The name of a producer, or `*` for all. Without it, the producer of the key. */
            producer?: string;
            /** @description Only this provider. Deliveries have none before the first call. */
            provider?: string;
            /** @description Only this reason, or outcome of a call. */
            reason?: string;
            /**
             * Format: date-time
             * @description Start of the interval, rounded down to a bucket; `from` is another name. Without it, a day
             *     before the end.
             */
            since?: string;
            /**
             * @description Length of a bucket; `total` has no buckets. Without it, minutes up to 3 hours (hours for a
             *     question about countries), hours up to 14 days, else days.
             * @enum {string}
             */
            step?: "minute" | "hour" | "day" | "total";
            /** @description Only this template. */
            template?: string;
            /** @description Only this notification type. */
            type?: string;
            /**
             * Format: date-time
             * @description End of the interval, rounded up to a bucket; `to` is another name. Without it, now.
             */
            until?: string;
            /** @description Only this version of the template. */
            version?: number;
        };
        /** @description The query of `list_attributes`. */
        ListAttributesQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `list_audience_snapshots`. */
        ListAudienceSnapshotsQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `list_audience_uploads`. */
        ListAudienceUploadsQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `upload_audience`. */
        UploadAudienceQuery: {
            /** @description A name for operators. */
            name?: string;
        };
        /** @description The query of `list_audiences`. */
        ListAudiencesQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `list_budgets`. */
        ListBudgetsQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `list_bulk_jobs`. */
        ListBulkJobsQuery: {
            /**
             * Format: uuid
             * @description The value of `next` on the previous page.
             */
            cursor?: string;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
            /**
             * Format: date-time
             * @description Jobs created at or after this instant.
             */
            since?: string;
            /** @description Jobs in any of these states. */
            state?: ("aborted" | "cancelled" | "finished" | "paused" | "running" | "scheduled")[];
            /** @description Jobs of any of these notification types. */
            type?: string[];
        };
        /** @description The query of `list_cancel_jobs`. */
        ListCancelJobsQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `get_costs`. */
        GetCostsQuery: {
            /**
             * @description The groups. Default: `"producer"`.
             * @enum {string}
             */
            by?: "producer" | "country" | "channel" | "provider" | "bulk_job";
            /**
             * @description `csv` answers with a CSV file, as `Accept: text/csv` does.
             * @enum {string}
             */
            format?: "json" | "csv";
            /** @description A UTC month such as `2026-11`. Without it, the present month. */
            month?: string;
        };
        /** @description The query of `list_dead_letters`. */
        ListDeadLettersQuery: {
            /** @description Dead letters of any of these channels. */
            channel?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
            /** @description Dead letters of any of these providers. */
            provider?: string[];
            /** @description Dead letters with any of these reasons. */
            reason?: string[];
            /** @description `true` lists replayed and discarded dead letters instead of open ones. Default: `false`. */
            resolved?: boolean;
            /**
             * Format: date-time
             * @description Dead letters created at or after this instant.
             */
            since?: string;
            /**
             * Format: date-time
             * @description Dead letters created before this instant.
             */
            until?: string;
        };
        /** @description The query of `get_inbox`. */
        GetInboxQuery: {
            /** @description Messages of this category only. */
            category?: string;
            /** @description The value of `next` on the previous page. */
            cursor?: string;
            /** @description The messages of a group: the value of `group.key`. */
            group?: string;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
            /**
             * @description The part of the inbox: `inbox`, `archived` or `snoozed` messages. Default: `"inbox"`.
             * @enum {string}
             */
            tab?: "inbox" | "archived" | "snoozed";
            /** @description `true` lists unread messages only. Default: `false`. */
            unread?: boolean;
        };
        /** @description The query of `list_inbox_changes`. */
        ListInboxChangesQuery: {
            /** @description The `version` of the last page or of the last changes. */
            since?: number;
        };
        /** @description The query of `list_notifications`. */
        ListNotificationsQuery: {
            /**
             * Format: uuid
             * @description The value of `next` on the previous page.
             */
            cursor?: string;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
            /**
             * @description `order_id:ORD-1`: notifications whose metadata has the value `ORD-1` under `order_id`.
             *     Several pairs must all match.
             */
            metadata?: string[];
            /**
             * Format: date-time
             * @description Notifications accepted at or after this instant.
             */
            since?: string;
            /** @description Notifications with a delivery in any of these statuses. */
            status?: ("scheduled" | "queued" | "sending" | "retrying" | "sent" | "unconfirmed" | "delivered" | "read" | "bounced" | "failed" | "expired" | "suppressed" | "cancelled" | "unknown")[];
            /** @description Notifications of any of these types. */
            type?: string[];
            /** @description Notifications to this recipient. */
            user_id?: string;
        };
        /** @description The query of `list_status_changes`. */
        ListStatusChangesQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: string;
            /** @description Maximum number of results per page. Default: `100`. */
            limit?: number;
            /**
             * Format: date-time
             * @description Begin with changes at or after this instant. Ignored with a `cursor`. Without both, the page
             *     begins at the oldest change that is kept.
             */
            since?: string;
        };
        /** @description The query of `import_recipients`. */
        ImportRecipientsQuery: {
            /** @description Report, and change nothing. Default: `false`. */
            dry_run?: boolean;
            /** @description Import the other lines although a line has a fault. Otherwise one fault refuses the file. Default: `false`. */
            partial?: boolean;
        };
        /** @description The query of `list_recipients`. */
        ListRecipientsQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
            /** @description Recipients with any of these user ids. */
            user_id?: string[];
        };
        /** @description The query of `list_recipient_changes`. */
        ListRecipientChangesQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `get_preferences`. */
        GetPreferencesQuery: {
            /**
             * @description Language of the names in the answer, such as `de`: `en`, `de`, `fr`, `es`, `ar` or `pt-BR`.
             *     Default: the recipient's locale.
             */
            language?: string;
        };
        /** @description The query of `put_preferences`. */
        PutPreferencesQuery: {
            /**
             * @description Language of the names in the answer, such as `de`: `en`, `de`, `fr`, `es`, `ar` or `pt-BR`.
             *     Default: the recipient's locale.
             */
            language?: string;
        };
        /** @description The query of `change_preferences`. */
        ChangePreferencesQuery: {
            /**
             * @description Language of the names in the answer, such as `de`: `en`, `de`, `fr`, `es`, `ar` or `pt-BR`.
             *     Default: the recipient's locale.
             */
            language?: string;
        };
        /** @description The query of `list_replay_jobs`. */
        ListReplayJobsQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `list_schedules`. */
        ListSchedulesQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `search`. */
        SearchQuery: {
            /** @description Deliveries to this address, in any spelling. */
            address?: string;
            /**
             * Format: uuid
             * @description Id of a notification or of a delivery.
             */
            id?: string;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
            /** @description The delivery with this id at the provider. */
            provider_message_id?: string;
            /** @description Deliveries to this recipient. */
            user_id?: string;
        };
        /** @description The query of `list_series`. */
        ListSeriesQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `list_enrolments`. */
        ListEnrolmentsQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
            /**
             * @description Enrolments in this state.
             * @enum {string}
             */
            state?: "running" | "finished" | "exited";
            /** @description Enrolments of this recipient. */
            user_id?: string;
        };
        /** @description The query of `list_suppressions`. */
        ListSuppressionsQuery: {
            /** @description Entries of this address, in any spelling. Requires exactly one `channel`. */
            address?: string;
            /** @description Entries of any of these channels. */
            channel?: ("push" | "sms" | "email" | "in_app" | "webhook" | "chat")[];
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
            /** @description Entries with any of these reasons. */
            reason?: ("bounce" | "complaint" | "stop_keyword" | "unsubscribe_all" | "manual" | "import")[];
            /** @description `true` lists removed entries instead of active entries. Default: `false`. */
            undone?: boolean;
        };
        /** @description The query of `undo_suppression`. */
        UndoSuppressionQuery: {
            /** @description The reason, shown to operators beside the entry. */
            note?: string;
        };
        /** @description The query of `list_switches`. */
        ListSwitchesQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description `true` lists resumed and expired switches instead of active switches. Default: `false`. */
            ended?: boolean;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `list_templates`. */
        ListTemplatesQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: string;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `diff_template`. */
        DiffTemplateQuery: {
            /** @description The earlier version; omitted: the current version. */
            from?: number;
            /** @description The later version; omitted: the newest version. */
            to?: number;
        };
        /** @description The query of `get_template_files`. */
        GetTemplateFilesQuery: {
            /** @description Omitted: the current version, or the newest draft if nothing is published. */
            version?: number;
        };
        /** @description The query of `list_topics`. */
        ListTopicsQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `list_subscribers`. */
        ListSubscribersQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `list_webhook_endpoints`. */
        ListWebhookEndpointsQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
        /** @description The query of `list_webhook_attempts`. */
        ListWebhookAttemptsQuery: {
            /** @description The value of `next` on the previous page. */
            cursor?: number;
            /** @description Maximum number of results per page. Default: `50`. */
            limit?: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type AbortLimits = components['schemas']['AbortLimits'];
export type ActionSource = components['schemas']['ActionSource'];
export type AlertAcknowledgement = components['schemas']['AlertAcknowledgement'];
export type AlertAnswer = components['schemas']['AlertAnswer'];
export type AlertAnswerPage = components['schemas']['AlertAnswerPage'];
export type AnalyticsAnswer = components['schemas']['AnalyticsAnswer'];
export type AnalyticsGroup = components['schemas']['AnalyticsGroup'];
export type AttachedFile = components['schemas']['AttachedFile'];
export type AttachmentAnswer = components['schemas']['AttachmentAnswer'];
export type AttemptDetail = components['schemas']['AttemptDetail'];
export type AttributeAnswer = components['schemas']['AttributeAnswer'];
export type AttributeAnswerPage = components['schemas']['AttributeAnswerPage'];
export type AttributeKind = components['schemas']['AttributeKind'];
export type AttributeRequest = components['schemas']['AttributeRequest'];
export type AudienceAnswer = components['schemas']['AudienceAnswer'];
export type AudienceAnswerPage = components['schemas']['AudienceAnswerPage'];
export type AudienceRequest = components['schemas']['AudienceRequest'];
export type BatchAccepted = components['schemas']['BatchAccepted'];
export type BatchRequest = components['schemas']['BatchRequest'];
export type BatchResult = components['schemas']['BatchResult'];
export type BatchSummary = components['schemas']['BatchSummary'];
export type BrandAnswer = components['schemas']['BrandAnswer'];
export type BrandLinkRequest = components['schemas']['BrandLinkRequest'];
export type BrandRequest = components['schemas']['BrandRequest'];
export type BudgetAnswer = components['schemas']['BudgetAnswer'];
export type BudgetAnswerPage = components['schemas']['BudgetAnswerPage'];
export type BulkJobAnswer = components['schemas']['BulkJobAnswer'];
export type BulkJobChange = components['schemas']['BulkJobChange'];
export type BulkJobEvent = components['schemas']['BulkJobEvent'];
export type BulkJobEventData = components['schemas']['BulkJobEventData'];
export type BulkJobEventProgress = components['schemas']['BulkJobEventProgress'];
export type BulkJobLine = components['schemas']['BulkJobLine'];
export type BulkJobLinePage = components['schemas']['BulkJobLinePage'];
export type BulkJobProgress = components['schemas']['BulkJobProgress'];
export type BulkJobRequest = components['schemas']['BulkJobRequest'];
export type CancelJobAnswer = components['schemas']['CancelJobAnswer'];
export type CancelJobAnswerPage = components['schemas']['CancelJobAnswerPage'];
export type CancelRequest = components['schemas']['CancelRequest'];
export type Cause = components['schemas']['Cause'];
export type CellChoice = components['schemas']['CellChoice'];
export type ChangeLine = components['schemas']['ChangeLine'];
export type ChangeLinePage = components['schemas']['ChangeLinePage'];
export type ChannelChoice = components['schemas']['ChannelChoice'];
export type ChoiceRequest = components['schemas']['ChoiceRequest'];
export type ClientReceiptKind = components['schemas']['ClientReceiptKind'];
export type ClientReceiptReport = components['schemas']['ClientReceiptReport'];
export type ClientReceiptsRequest = components['schemas']['ClientReceiptsRequest'];
export type ClientTokenIssued = components['schemas']['ClientTokenIssued'];
export type ClientTokenRequest = components['schemas']['ClientTokenRequest'];
export type ContactAnswer = components['schemas']['ContactAnswer'];
export type ContactEvent = components['schemas']['ContactEvent'];
export type ContactEventData = components['schemas']['ContactEventData'];
export type ContactRequest = components['schemas']['ContactRequest'];
export type Content = components['schemas']['Content'];
export type ContentAction = components['schemas']['ContentAction'];
export type CostAnswer = components['schemas']['CostAnswer'];
export type CostLineAnswer = components['schemas']['CostLineAnswer'];
export type CostsAnswer = components['schemas']['CostsAnswer'];
export type CustomEventRequest = components['schemas']['CustomEventRequest'];
export type DeadLetterAnswer = components['schemas']['DeadLetterAnswer'];
export type DeadLetterAnswerPage = components['schemas']['DeadLetterAnswerPage'];
export type DeliveryBrief = components['schemas']['DeliveryBrief'];
export type DeliveryDetail = components['schemas']['DeliveryDetail'];
export type DeliveryWithdrawn = components['schemas']['DeliveryWithdrawn'];
export type DiffAnswer = components['schemas']['DiffAnswer'];
export type DigestChoice = components['schemas']['DigestChoice'];
export type DryRunAnswer = components['schemas']['DryRunAnswer'];
export type DryRunEstimate = components['schemas']['DryRunEstimate'];
export type DryRunRequest = components['schemas']['DryRunRequest'];
export type DryRunSample = components['schemas']['DryRunSample'];
export type EnrolmentAnswer = components['schemas']['EnrolmentAnswer'];
export type EnrolmentItem = components['schemas']['EnrolmentItem'];
export type EnrolmentLine = components['schemas']['EnrolmentLine'];
export type EnrolmentLinePage = components['schemas']['EnrolmentLinePage'];
export type EnrolmentRequest = components['schemas']['EnrolmentRequest'];
export type EnrolmentResult = components['schemas']['EnrolmentResult'];
export type EnrolmentResults = components['schemas']['EnrolmentResults'];
export type EnrolmentState = components['schemas']['EnrolmentState'];
export type ErasedCounts = components['schemas']['ErasedCounts'];
export type ErasureJobAnswer = components['schemas']['ErasureJobAnswer'];
export type ErasureReceipt = components['schemas']['ErasureReceipt'];
export type EstimateAnswer = components['schemas']['EstimateAnswer'];
export type EstimateRequest = components['schemas']['EstimateRequest'];
export type EventLine = components['schemas']['EventLine'];
export type EventResult = components['schemas']['EventResult'];
export type EventResults = components['schemas']['EventResults'];
export type EventsRequest = components['schemas']['EventsRequest'];
export type FaultKind = components['schemas']['FaultKind'];
export type FieldProblem = components['schemas']['FieldProblem'];
export type FilesAnswer = components['schemas']['FilesAnswer'];
export type FilesRequest = components['schemas']['FilesRequest'];
export type FilesStored = components['schemas']['FilesStored'];
export type FoundRecipient = components['schemas']['FoundRecipient'];
export type Funnel = components['schemas']['Funnel'];
export type HitAnswer = components['schemas']['HitAnswer'];
export type HitAnswerPage = components['schemas']['HitAnswerPage'];
export type InAppAction = components['schemas']['InAppAction'];
export type InboxAllRequest = components['schemas']['InboxAllRequest'];
export type InboxAnswer = components['schemas']['InboxAnswer'];
export type InboxBrand = components['schemas']['InboxBrand'];
export type InboxCategoryCounts = components['schemas']['InboxCategoryCounts'];
export type InboxChanges = components['schemas']['InboxChanges'];
export type InboxCounts = components['schemas']['InboxCounts'];
export type InboxItem = components['schemas']['InboxItem'];
export type InboxItemAction = components['schemas']['InboxItemAction'];
export type InboxItemGroup = components['schemas']['InboxItemGroup'];
export type InboxMarked = components['schemas']['InboxMarked'];
export type InboxMessagesMarked = components['schemas']['InboxMessagesMarked'];
export type InboxMessagesRequest = components['schemas']['InboxMessagesRequest'];
export type InboxUnreadCount = components['schemas']['InboxUnreadCount'];
export type InvitationRequest = components['schemas']['InvitationRequest'];
export type KeyRotated = components['schemas']['KeyRotated'];
export type ListState = components['schemas']['ListState'];
export type Lock = components['schemas']['Lock'];
export type Mandatory = components['schemas']['Mandatory'];
export type MeAnswer = components['schemas']['MeAnswer'];
export type Metric = components['schemas']['Metric'];
export type NotificationAccepted = components['schemas']['NotificationAccepted'];
export type NotificationCancelled = components['schemas']['NotificationCancelled'];
export type NotificationDetail = components['schemas']['NotificationDetail'];
export type NotificationEvent = components['schemas']['NotificationEvent'];
export type NotificationEventData = components['schemas']['NotificationEventData'];
export type NotificationLine = components['schemas']['NotificationLine'];
export type NotificationLinePage = components['schemas']['NotificationLinePage'];
export type NotificationRequest = components['schemas']['NotificationRequest'];
export type NotificationWithdrawn = components['schemas']['NotificationWithdrawn'];
export type PatchedPreferencesRequest = components['schemas']['PatchedPreferencesRequest'];
export type PatchedRecipientChange = components['schemas']['PatchedRecipientChange'];
export type PatchedRescheduleRequest = components['schemas']['PatchedRescheduleRequest'];
export type PatchedScheduleChange = components['schemas']['PatchedScheduleChange'];
export type PatchedWebhookEndpointChange = components['schemas']['PatchedWebhookEndpointChange'];
export type PreferencesAnswer = components['schemas']['PreferencesAnswer'];
export type PreferencesReplacement = components['schemas']['PreferencesReplacement'];
export type PreviewAnswer = components['schemas']['PreviewAnswer'];
export type PreviewRequest = components['schemas']['PreviewRequest'];
export type ProblemDetails = components['schemas']['ProblemDetails'];
export type RateAnswer = components['schemas']['RateAnswer'];
export type ReceiptsTaken = components['schemas']['ReceiptsTaken'];
export type RecipientAnswer = components['schemas']['RecipientAnswer'];
export type RecipientImportFault = components['schemas']['RecipientImportFault'];
export type RecipientLine = components['schemas']['RecipientLine'];
export type RecipientLinePage = components['schemas']['RecipientLinePage'];
export type RecipientRequest = components['schemas']['RecipientRequest'];
export type RecipientTopics = components['schemas']['RecipientTopics'];
export type RecipientsImported = components['schemas']['RecipientsImported'];
export type RefusedLine = components['schemas']['RefusedLine'];
export type RenderedMessage = components['schemas']['RenderedMessage'];
export type ReplayJobAnswer = components['schemas']['ReplayJobAnswer'];
export type ReplayJobAnswerPage = components['schemas']['ReplayJobAnswerPage'];
export type ReplayRequest = components['schemas']['ReplayRequest'];
export type RequestWarning = components['schemas']['RequestWarning'];
export type RequestedAttachment = components['schemas']['RequestedAttachment'];
export type RetryPreset = components['schemas']['RetryPreset'];
export type RotateRequest = components['schemas']['RotateRequest'];
export type ScheduleAnswer = components['schemas']['ScheduleAnswer'];
export type ScheduleAnswerPage = components['schemas']['ScheduleAnswerPage'];
export type ScheduleRequest = components['schemas']['ScheduleRequest'];
export type SchedulesLimit = components['schemas']['SchedulesLimit'];
export type SecretRotated = components['schemas']['SecretRotated'];
export type SecretRotation = components['schemas']['SecretRotation'];
export type SeriesAnswer = components['schemas']['SeriesAnswer'];
export type SeriesAnswerPage = components['schemas']['SeriesAnswerPage'];
export type SeriesDraft = components['schemas']['SeriesDraft'];
export type SeriesRequest = components['schemas']['SeriesRequest'];
export type SeriesState = components['schemas']['SeriesState'];
export type SigningSecret = components['schemas']['SigningSecret'];
export type SigningSecrets = components['schemas']['SigningSecrets'];
export type SkippedChannel = components['schemas']['SkippedChannel'];
export type SnapshotAnswer = components['schemas']['SnapshotAnswer'];
export type SnapshotAnswerPage = components['schemas']['SnapshotAnswerPage'];
export type SnapshotRequest = components['schemas']['SnapshotRequest'];
export type SnoozeRequest = components['schemas']['SnoozeRequest'];
export type Source = components['schemas']['Source'];
export type Spread = components['schemas']['Spread'];
export type Stage = components['schemas']['Stage'];
export type StageLine = components['schemas']['StageLine'];
export type StatusChangeLine = components['schemas']['StatusChangeLine'];
export type StatusChanges = components['schemas']['StatusChanges'];
export type StepLine = components['schemas']['StepLine'];
export type SubscriberFault = components['schemas']['SubscriberFault'];
export type SubscriberLine = components['schemas']['SubscriberLine'];
export type SubscriberLinePage = components['schemas']['SubscriberLinePage'];
export type SubscribersChanged = components['schemas']['SubscribersChanged'];
export type SubscribersRequest = components['schemas']['SubscribersRequest'];
export type SuppressionAnswer = components['schemas']['SuppressionAnswer'];
export type SuppressionAnswerPage = components['schemas']['SuppressionAnswerPage'];
export type SuppressionRequest = components['schemas']['SuppressionRequest'];
export type SuppressionsImported = components['schemas']['SuppressionsImported'];
export type SwitchAnswer = components['schemas']['SwitchAnswer'];
export type SwitchAnswerPage = components['schemas']['SwitchAnswerPage'];
export type SwitchKind = components['schemas']['SwitchKind'];
export type SwitchRequest = components['schemas']['SwitchRequest'];
export type TemplateAnswer = components['schemas']['TemplateAnswer'];
export type TemplateLine = components['schemas']['TemplateLine'];
export type TemplateLinePage = components['schemas']['TemplateLinePage'];
export type TemplateRequest = components['schemas']['TemplateRequest'];
export type TemplateStep = components['schemas']['TemplateStep'];
export type TestGroupRequest = components['schemas']['TestGroupRequest'];
export type TextAnswer = components['schemas']['TextAnswer'];
export type TextRequest = components['schemas']['TextRequest'];
export type TimeSource = components['schemas']['TimeSource'];
export type To = components['schemas']['To'];
export type TokenScope = components['schemas']['TokenScope'];
export type TopicAnswer = components['schemas']['TopicAnswer'];
export type TopicAnswerPage = components['schemas']['TopicAnswerPage'];
export type TopicChoice = components['schemas']['TopicChoice'];
export type TopicSizeAnswer = components['schemas']['TopicSizeAnswer'];
export type Type = components['schemas']['Type'];
export type TypeChoice = components['schemas']['TypeChoice'];
export type UniqueBy = components['schemas']['UniqueBy'];
export type UploadAnswer = components['schemas']['UploadAnswer'];
export type UploadAnswerPage = components['schemas']['UploadAnswerPage'];
export type UploadFault = components['schemas']['UploadFault'];
export type VariableRequest = components['schemas']['VariableRequest'];
export type VariantAnswer = components['schemas']['VariantAnswer'];
export type VariantRequest = components['schemas']['VariantRequest'];
export type VendorTemplateAnswer = components['schemas']['VendorTemplateAnswer'];
export type VendorTemplateSource = components['schemas']['VendorTemplateSource'];
export type VersionAnswer = components['schemas']['VersionAnswer'];
export type VersionLine = components['schemas']['VersionLine'];
export type VersionRequest = components['schemas']['VersionRequest'];
export type WebPushKey = components['schemas']['WebPushKey'];
export type WebhookAttemptLine = components['schemas']['WebhookAttemptLine'];
export type WebhookAttemptLinePage = components['schemas']['WebhookAttemptLinePage'];
export type WebhookEndpointAnswer = components['schemas']['WebhookEndpointAnswer'];
export type WebhookEndpointAnswerPage = components['schemas']['WebhookEndpointAnswerPage'];
export type WebhookEndpointCreated = components['schemas']['WebhookEndpointCreated'];
export type WebhookEndpointRequest = components['schemas']['WebhookEndpointRequest'];
export type WebhookReplay = components['schemas']['WebhookReplay'];
export type WebhookSecretRotated = components['schemas']['WebhookSecretRotated'];
export type WebhookSecretRotation = components['schemas']['WebhookSecretRotation'];
export type WebhookTestSent = components['schemas']['WebhookTestSent'];
export type Window = components['schemas']['Window'];
export type WinnerRequest = components['schemas']['WinnerRequest'];
export type WithdrawalState = components['schemas']['WithdrawalState'];
export type ListAlertsQuery = components['schemas']['ListAlertsQuery'];
export type GetAnalyticsQuery = components['schemas']['GetAnalyticsQuery'];
export type ListAttributesQuery = components['schemas']['ListAttributesQuery'];
export type ListAudienceSnapshotsQuery = components['schemas']['ListAudienceSnapshotsQuery'];
export type ListAudienceUploadsQuery = components['schemas']['ListAudienceUploadsQuery'];
export type UploadAudienceQuery = components['schemas']['UploadAudienceQuery'];
export type ListAudiencesQuery = components['schemas']['ListAudiencesQuery'];
export type ListBudgetsQuery = components['schemas']['ListBudgetsQuery'];
export type ListBulkJobsQuery = components['schemas']['ListBulkJobsQuery'];
export type ListCancelJobsQuery = components['schemas']['ListCancelJobsQuery'];
export type GetCostsQuery = components['schemas']['GetCostsQuery'];
export type ListDeadLettersQuery = components['schemas']['ListDeadLettersQuery'];
export type GetInboxQuery = components['schemas']['GetInboxQuery'];
export type ListInboxChangesQuery = components['schemas']['ListInboxChangesQuery'];
export type ListNotificationsQuery = components['schemas']['ListNotificationsQuery'];
export type ListStatusChangesQuery = components['schemas']['ListStatusChangesQuery'];
export type ImportRecipientsQuery = components['schemas']['ImportRecipientsQuery'];
export type ListRecipientsQuery = components['schemas']['ListRecipientsQuery'];
export type ListRecipientChangesQuery = components['schemas']['ListRecipientChangesQuery'];
export type GetPreferencesQuery = components['schemas']['GetPreferencesQuery'];
export type PutPreferencesQuery = components['schemas']['PutPreferencesQuery'];
export type ChangePreferencesQuery = components['schemas']['ChangePreferencesQuery'];
export type ListReplayJobsQuery = components['schemas']['ListReplayJobsQuery'];
export type ListSchedulesQuery = components['schemas']['ListSchedulesQuery'];
export type SearchQuery = components['schemas']['SearchQuery'];
export type ListSeriesQuery = components['schemas']['ListSeriesQuery'];
export type ListEnrolmentsQuery = components['schemas']['ListEnrolmentsQuery'];
export type ListSuppressionsQuery = components['schemas']['ListSuppressionsQuery'];
export type UndoSuppressionQuery = components['schemas']['UndoSuppressionQuery'];
export type ListSwitchesQuery = components['schemas']['ListSwitchesQuery'];
export type ListTemplatesQuery = components['schemas']['ListTemplatesQuery'];
export type DiffTemplateQuery = components['schemas']['DiffTemplateQuery'];
export type GetTemplateFilesQuery = components['schemas']['GetTemplateFilesQuery'];
export type ListTopicsQuery = components['schemas']['ListTopicsQuery'];
export type ListSubscribersQuery = components['schemas']['ListSubscribersQuery'];
export type ListWebhookEndpointsQuery = components['schemas']['ListWebhookEndpointsQuery'];
export type ListWebhookAttemptsQuery = components['schemas']['ListWebhookAttemptsQuery'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
/** The first field that each answer of an operation has. */
export const FIRST_FIELDS: Readonly<Record<string, string>> = {
    "GET /v1/alerts": "results",
    "POST /v1/alerts/{alert_id}/acknowledge": "id",
    "POST /v1/alerts/{alert_id}/resolve": "id",
    "GET /v1/analytics": "metric",
    "POST /v1/attachments": "id",
    "GET /v1/attributes": "results",
    "GET /v1/attributes/{name}": "name",
    "PUT /v1/attributes/{name}": "name",
    "GET /v1/audience-snapshots": "results",
    "POST /v1/audience-snapshots": "id",
    "GET /v1/audience-snapshots/{snapshot_id}": "id",
    "GET /v1/audience-uploads": "results",
    "POST /v1/audience-uploads": "id",
    "GET /v1/audience-uploads/{upload_id}": "id",
    "GET /v1/audiences": "results",
    "POST /v1/audiences": "id",
    "GET /v1/audiences/{audience_id}": "id",
    "PUT /v1/audiences/{audience_id}": "id",
    "POST /v1/audiences/estimate": "count",
    "GET /v1/brand": "is_own",
    "PUT /v1/brand": "is_own",
    "GET /v1/budgets": "results",
    "GET /v1/bulk-jobs": "results",
    "POST /v1/bulk-jobs": "id",
    "GET /v1/bulk-jobs/{bulk_job_id}": "id",
    "POST /v1/bulk-jobs/{bulk_job_id}/cancel": "id",
    "POST /v1/bulk-jobs/{bulk_job_id}/pause": "id",
    "POST /v1/bulk-jobs/{bulk_job_id}/resume": "id",
    "POST /v1/bulk-jobs/dry-run": "is_complete",
    "GET /v1/cancel-jobs": "results",
    "GET /v1/cancel-jobs/{job_id}": "id",
    "POST /v1/cancel-jobs/{job_id}/stop": "id",
    "GET /v1/costs": "month",
    "GET /v1/dead-letters": "results",
    "GET /v1/dead-letters/{letter_id}": "id",
    "POST /v1/dead-letters/{letter_id}/discard": "id",
    "POST /v1/dead-letters/replay": "id",
    "GET /v1/erasure-jobs/{job_id}": "id",
    "POST /v1/events": "results",
    "GET /v1/inbox/{user_id}": "results",
    "DELETE /v1/inbox/{user_id}/{message_id}": "counts",
    "POST /v1/inbox/{user_id}/{message_id}/actions/{action_id}": "counts",
    "POST /v1/inbox/{user_id}/{message_id}/archive": "counts",
    "POST /v1/inbox/{user_id}/{message_id}/read": "counts",
    "POST /v1/inbox/{user_id}/{message_id}/seen": "counts",
    "POST /v1/inbox/{user_id}/{message_id}/snooze": "counts",
    "POST /v1/inbox/{user_id}/{message_id}/unarchive": "counts",
    "POST /v1/inbox/{user_id}/{message_id}/unread": "counts",
    "POST /v1/inbox/{user_id}/{message_id}/unsnooze": "counts",
    "POST /v1/inbox/{user_id}/archive": "counts",
    "POST /v1/inbox/{user_id}/archive-all": "counts",
    "GET /v1/inbox/{user_id}/changes": "version",
    "POST /v1/inbox/{user_id}/read": "counts",
    "POST /v1/inbox/{user_id}/read-all": "counts",
    "POST /v1/inbox/{user_id}/seen": "counts",
    "POST /v1/inbox/{user_id}/seen-all": "counts",
    "GET /v1/inbox/{user_id}/unread-count": "unread",
    "POST /v1/keys/rotate": "key",
    "GET /v1/me": "producer",
    "GET /v1/notifications": "results",
    "POST /v1/notifications": "notification_id",
    "GET /v1/notifications/{notification_id}": "notification_id",
    "PATCH /v1/notifications/{notification_id}": "notification_id",
    "POST /v1/notifications/{notification_id}/cancel": "notification_id",
    "POST /v1/notifications/{notification_id}/withdraw": "notification_id",
    "POST /v1/notifications/batch": "results",
    "POST /v1/notifications/cancel": "id",
    "GET /v1/notifications/changes": "results",
    "GET /v1/push/web/key": "public_key",
    "POST /v1/receipts/client": "receipts",
    "POST /v1/recipient-imports": "imported",
    "GET /v1/recipients": "results",
    "GET /v1/recipients/{user_id}": "user_id",
    "PUT /v1/recipients/{user_id}": "user_id",
    "PATCH /v1/recipients/{user_id}": "user_id",
    "DELETE /v1/recipients/{user_id}": "id",
    "GET /v1/recipients/{user_id}/changes": "results",
    "POST /v1/recipients/{user_id}/client-tokens": "token",
    "POST /v1/recipients/{user_id}/contacts": "id",
    "GET /v1/recipients/{user_id}/contacts/{contact_id}/signing-secrets": "secrets",
    "POST /v1/recipients/{user_id}/contacts/{contact_id}/signing-secrets/rotate": "secret",
    "GET /v1/recipients/{user_id}/preferences": "channels_off",
    "PUT /v1/recipients/{user_id}/preferences": "channels_off",
    "PATCH /v1/recipients/{user_id}/preferences": "channels_off",
    "GET /v1/recipients/{user_id}/topics": "topics",
    "GET /v1/replay-jobs": "results",
    "GET /v1/replay-jobs/{job_id}": "id",
    "GET /v1/schedules": "results",
    "POST /v1/schedules": "id",
    "GET /v1/schedules/{schedule_id}": "id",
    "PATCH /v1/schedules/{schedule_id}": "id",
    "GET /v1/search": "results",
    "GET /v1/series": "results",
    "POST /v1/series": "name",
    "GET /v1/series/{series_name}": "name",
    "PUT /v1/series/{series_name}": "name",
    "POST /v1/series/{series_name}/archive": "name",
    "GET /v1/series/{series_name}/enrolments": "results",
    "POST /v1/series/{series_name}/enrolments": "results",
    "GET /v1/series/{series_name}/enrolments/{enrolment_id}": "id",
    "POST /v1/series/{series_name}/enrolments/{enrolment_id}/exit": "id",
    "POST /v1/series/{series_name}/pause": "name",
    "POST /v1/series/{series_name}/publish": "name",
    "POST /v1/series/{series_name}/resume": "name",
    "GET /v1/suppressions": "results",
    "GET /v1/suppressions/{suppression_id}": "id",
    "GET /v1/switches": "results",
    "POST /v1/switches": "id",
    "GET /v1/switches/{switch_id}": "id",
    "DELETE /v1/switches/{switch_id}": "id",
    "GET /v1/templates": "results",
    "POST /v1/templates": "template_id",
    "GET /v1/templates/{template_id}": "template_id",
    "GET /v1/templates/{template_id}/diff": "template_id",
    "GET /v1/templates/{template_id}/files": "template_id",
    "PUT /v1/templates/{template_id}/files": "template_id",
    "POST /v1/templates/{template_id}/preview": "url",
    "POST /v1/templates/{template_id}/publish": "template_id",
    "POST /v1/templates/{template_id}/rollback": "template_id",
    "GET /v1/templates/{template_id}/versions/{version}": "template_id",
    "GET /v1/topics": "results",
    "GET /v1/topics/{topic}": "topic",
    "GET /v1/topics/{topic}/subscribers": "results",
    "PUT /v1/topics/{topic}/subscribers": "changed",
    "POST /v1/topics/{topic}/subscribers/delete": "changed",
    "GET /v1/webhook-endpoints": "results",
    "POST /v1/webhook-endpoints": "id",
    "GET /v1/webhook-endpoints/{endpoint_id}": "id",
    "PATCH /v1/webhook-endpoints/{endpoint_id}": "id",
    "GET /v1/webhook-endpoints/{endpoint_id}/attempts": "results",
    "POST /v1/webhook-endpoints/{endpoint_id}/replay": "id",
    "POST /v1/webhook-endpoints/{endpoint_id}/secrets": "secret",
    "POST /v1/webhook-endpoints/{endpoint_id}/test": "message_id",
};
