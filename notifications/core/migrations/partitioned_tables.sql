-- The four big tables, partitioned by day on the UUIDv7 that leads their primary key. No default partition and no foreign keys.
-- partition_functions.sql makes the partitions.

-- A delivery's id is its notification's id plus a number in the last 12 bits (notifications/core/rules/ids.py has the same two functions).
CREATE FUNCTION notification_of(id uuid) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (substring(id::text, 1, 33) || '000')::uuid;
CREATE FUNCTION last_delivery_of(id uuid) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (substring(id::text, 1, 33) || 'fff')::uuid;

CREATE TABLE notification (
    id uuid PRIMARY KEY,
    producer_id bigint NOT NULL,
    mode smallint NOT NULL DEFAULT 1,
    priority smallint NOT NULL,
    type varchar(64) NOT NULL,
    category varchar(64) NOT NULL DEFAULT '',
    retry_preset varchar(16) NOT NULL DEFAULT '',
    recipient_id bigint NOT NULL,
    user_id varchar(128) NOT NULL,
    template bigint,
    content jsonb,
    variables jsonb NOT NULL DEFAULT '{}',
    secrets bytea,
    metadata jsonb NOT NULL DEFAULT '{}',
    collapse_key varchar(64) NOT NULL DEFAULT '',
    channels smallint[] NOT NULL DEFAULT '{}',
    spread varchar(8) NOT NULL,
    idempotency_key varchar(255) NOT NULL DEFAULT '',
    traceparent varchar(55) NOT NULL DEFAULT '',
    scheduled_at timestamptz,
    expires_at timestamptz NOT NULL,
    cancelled_at timestamptz,
    created_at timestamptz NOT NULL,
    local_at varchar(16) NOT NULL DEFAULT '',
    local_zone varchar(64) NOT NULL DEFAULT '',
    ordering_key varchar(255) NOT NULL DEFAULT '',
    falls_back boolean NOT NULL DEFAULT false,
    webhook_url varchar(2048) NOT NULL DEFAULT '',
    inbox jsonb,
    bulk_job_id uuid,
    variant varchar(32) NOT NULL DEFAULT ''
) PARTITION BY RANGE (id);
CREATE INDEX notification_by_recipient ON notification (recipient_id, id DESC);
CREATE INDEX notification_with_secrets ON notification (expires_at) WHERE secrets IS NOT NULL;

CREATE TABLE delivery (
    id uuid PRIMARY KEY,
    mode smallint NOT NULL,
    priority smallint NOT NULL,
    channel smallint NOT NULL,
    status smallint NOT NULL,
    publishes smallint NOT NULL DEFAULT 0,
    claims smallint NOT NULL DEFAULT 0,
    attempts smallint NOT NULL DEFAULT 0,
    attempts_before smallint NOT NULL DEFAULT 0,
    generation smallint NOT NULL DEFAULT 0,
    resent boolean NOT NULL DEFAULT false,
    recipient_id bigint NOT NULL,
    contact_id bigint,
    due_at timestamptz,
    published_at timestamptz,
    call_started_at timestamptz,
    sent_at timestamptz,
    delivered_at timestamptz,
    claim_token uuid,
    reason varchar(64) NOT NULL DEFAULT '',
    provider varchar(32) NOT NULL DEFAULT '',
    provider_message_id varchar(255) NOT NULL DEFAULT '',
    slot_at timestamptz,
    slot_provider varchar(32) NOT NULL DEFAULT '',
    falls_back boolean NOT NULL DEFAULT false,
    switch_id bigint,
    budget_id bigint
) PARTITION BY RANGE (id);
CREATE INDEX delivery_due ON delivery (status, mode, priority, channel, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_by_provider_id ON delivery (provider_message_id) WHERE provider_message_id <> '';
CREATE INDEX delivery_switched ON delivery (switch_id, priority, due_at) WHERE reason IN ('paused', 'channel_paused');
CREATE INDEX delivery_budget ON delivery (budget_id, priority, due_at) WHERE reason = 'budget';
CREATE INDEX delivery_held ON delivery (recipient_id, id)
    WHERE reason IN ('do_not_disturb', 'quiet_hours', 'producers_night', 'cap', 'digest');
CREATE INDEX delivery_unknown ON delivery (id) WHERE status = 14;
-- Always empty: the sweep service_levels finds an open row without a due time here (unreachable.sql).
CREATE INDEX delivery_without_due ON delivery (id) WHERE due_at IS NULL AND status IN (1, 2, 3, 4);

CREATE TABLE attempt (
    delivery_id uuid NOT NULL,
    number smallint NOT NULL,
    provider varchar(32) NOT NULL,
    outcome varchar(16) NOT NULL,
    code varchar(64) NOT NULL DEFAULT '',
    detail varchar(500) NOT NULL DEFAULT '',
    started_at timestamptz NOT NULL,
    latency_ms integer NOT NULL,
    segments smallint,
    http_status smallint,
    retry_after_s integer,
    signed_with varchar(96) NOT NULL DEFAULT '',
    country varchar(2) NOT NULL DEFAULT '',
    cost_micros bigint,
    reserved_at timestamptz,
    settled_at timestamptz,
    settled_micros bigint,
    answered_at timestamptz,
    PRIMARY KEY (delivery_id, number)
) PARTITION BY RANGE (delivery_id);

CREATE SEQUENCE event_seq;
CREATE TABLE event (
    notification_id uuid NOT NULL,
    seq bigint NOT NULL DEFAULT nextval('event_seq'),
    delivery_id uuid,
    status smallint,
    reason varchar(64) NOT NULL DEFAULT '',
    detail varchar(500) NOT NULL DEFAULT '',
    at timestamptz NOT NULL,
    occurred_at timestamptz,
    xid bigint DEFAULT (pg_current_xact_id()::text::bigint), -- for the change feed
    PRIMARY KEY (notification_id, seq)
) PARTITION BY RANGE (notification_id);
CREATE INDEX event_feed ON event (xid, seq) WHERE xid IS NOT NULL;
