-- Move deliveries to another status and insert the events. Parameters: arrays of equal length for the deliveries (an
-- empty one for a column without values), guards and side effects for all; the ids from `floor` to before `ceiling` hold
-- the rows. The planner must not see the ids: it would compare each id with the bounds of each partition. Locks in the
-- order of the ids. Uses the primary key.
-- A row moves only from a status in `sources` (or `if_called`, after a call), and only if the guards hold: `token`
-- has the claim, `provider` is the provider of the row or of an attempt, `owned` requires a called row of the owner
-- and mode at the row's place, `calls` requires a begun last call with
-- the number at the row's place, `still_due` requires a due row.
-- With `still_due` (sweeps) the statement skips locked rows: the row stays due for the next run, and a frozen
-- transaction must not block the sweep. Otherwise the statement waits up to lock_timeout.
-- The event of a row that was claimed has the time of the claim: `claimed_at` under the guard `token`, else the time in
-- the row's token, a UUIDv7. A worker of the release before took a UUIDv4, and wrote an event at the claim.
-- OFFSET 0 prevents a hash of all attempts of the days, which the planner prefers while it takes a day for empty.
-- IS TRUE prevents a join in place of IN: for the join the planner expects one row and compares each row with each.
WITH wanted AS (
    SELECT *
    FROM unnest(%(ids)s::uuid[], %(due_in)s::interval[], %(reasons)s::text[], %(details)s::text[],
                %(message_ids)s::text[], %(occurred_at)s::timestamptz[])
        AS w(id, due_in, reason, detail, message_id, occurred_at)
), waited_for AS (
    SELECT d.id, d.status, d.claim_token FROM delivery d
    WHERE NOT %(still_due)s::boolean
      AND d.id = ANY(ARRAY(SELECT id FROM wanted)) AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND (d.status = ANY(%(sources)s) OR (d.status = ANY(%(if_called)s) AND d.attempts > 0))
      AND (%(token)s::uuid IS NULL OR d.claim_token = %(token)s)
      AND (NOT %(only_uncalled)s::boolean OR d.call_started_at IS NULL)
      AND (%(provider)s::text = '' OR d.provider = %(provider)s OR EXISTS (
          SELECT FROM attempt a WHERE a.delivery_id = d.id AND a.delivery_id >= %(floor)s::uuid
          AND a.delivery_id < %(ceiling)s::uuid AND a.provider = %(provider)s OFFSET 0))
      AND (%(calls)s::smallint[] IS NULL
           OR ((d.status <> %(sending)s OR d.call_started_at IS NOT NULL) AND ((d.id, d.attempts) IN (
               SELECT * FROM unnest(%(ids)s::uuid[], %(calls)s::smallint[]))) IS TRUE))
      AND (NOT %(owned)s::boolean OR (d.attempts > 0 AND ((d.id, d.recipient_id, d.mode) IN (
          SELECT * FROM unnest(%(ids)s::uuid[], %(owners)s::bigint[], %(modes)s::smallint[]))) IS TRUE))
    ORDER BY d.id
    FOR UPDATE
), skipped_if_locked AS (
    SELECT d.id, d.status, d.claim_token FROM delivery d
    WHERE %(still_due)s::boolean
      AND d.id = ANY(ARRAY(SELECT id FROM wanted)) AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = ANY(%(sources)s)
      AND d.due_at <= now()
    ORDER BY d.id
    FOR UPDATE SKIP LOCKED
), picked AS (
    SELECT * FROM waited_for UNION ALL SELECT * FROM skipped_if_locked
), claimed AS MATERIALIZED (
    SELECT array_agg(id) AS ids,
           array_agg(to_timestamp(('x' || left(claim_token::text, 8) || substr(claim_token::text, 10, 4))::bit(48)::bigint
                                  / 1000.0)) AS at
    FROM picked
    WHERE %(claimed_at)s::timestamptz IS NULL AND status = %(sending)s AND substr(claim_token::text, 15, 1) = '7'
), moved AS (
    UPDATE delivery d
    SET status = %(to)s,
        due_at = now() + w.due_in,
        reason = w.reason,
        provider_message_id = CASE WHEN w.message_id = '' THEN d.provider_message_id ELSE w.message_id END,
        claim_token = NULL,
        claims = CASE %(claims)s::text WHEN 'keep' THEN d.claims WHEN 'uncount' THEN greatest(d.claims - 1, 0)
                                       ELSE 0 END,
        publishes = 0,
        published_at = NULL,
        attempts_before = least(d.attempts_before + %(refunded)s, 32767),
        resent = d.resent OR %(resent)s::boolean,
        sent_at = CASE WHEN %(sent)s::boolean AND d.sent_at IS NULL THEN now() ELSE d.sent_at END,
        delivered_at = CASE WHEN %(delivered)s::boolean AND d.delivered_at IS NULL THEN now()
                            ELSE d.delivered_at END
    FROM wanted w
    WHERE d.id = w.id AND d.id = ANY(ARRAY(SELECT id FROM picked))
      AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
    RETURNING d.id, d.mode, d.priority, d.channel, d.falls_back, w.reason, w.detail, w.occurred_at,
              CASE WHEN %(delivered)s::boolean THEN d.provider END AS provider,
              CASE WHEN %(delivered)s::boolean THEN extract(epoch FROM now() - d.sent_at)::float8 END AS since_sent
), logged AS (
    INSERT INTO event (notification_id, delivery_id, status, reason, detail, at, occurred_at, claimed_at)
    SELECT notification_of(id), id, %(to)s, reason, detail, now(), occurred_at,
           coalesce(%(claimed_at)s::timestamptz, claimed.at[array_position(claimed.ids, id)])
    FROM moved CROSS JOIN claimed
)
SELECT id, mode, priority, channel, falls_back, reason, provider, since_sent FROM moved
