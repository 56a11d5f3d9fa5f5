-- One transition of many deliveries, and the events that go with it. Locks in id order; served by the primary key.
-- A row moves only from a legal source, and only as the guard says: under the given token, from the given provider (a provider that an
-- earlier attempt called counts too), or while the row is still due. A sweep skips a row that somebody else has locked: the row is due
-- again at the next run, and one frozen transaction must not stop the sweep. Everybody else waits, up to lock_timeout.
-- IS TRUE keeps the planner from making a join of the IN: the planner would expect one row, and then compare each row with each.
WITH wanted AS (
    SELECT *
    FROM unnest(%(ids)s::uuid[], %(due_in)s::interval[], %(reasons)s::text[], %(details)s::text[],
                %(message_ids)s::text[])
        AS w(id, due_in, reason, detail, message_id)
), waited_for AS (
    SELECT d.id FROM delivery d
    WHERE NOT %(still_due)s::boolean
      AND d.id = ANY(%(ids)s)
      AND (d.status = ANY(%(sources)s) OR (d.status = ANY(%(if_called)s) AND d.attempts > 0))
      AND (%(token)s::uuid IS NULL OR d.claim_token = %(token)s)
      AND (NOT %(only_uncalled)s::boolean OR d.call_started_at IS NULL)
      AND (%(provider)s::text = '' OR d.provider = %(provider)s OR EXISTS (
          SELECT FROM attempt a WHERE a.delivery_id = d.id AND a.delivery_id = ANY(%(ids)s) AND a.provider = %(provider)s))
    ORDER BY d.id
    FOR UPDATE
), skipped_if_locked AS (
    SELECT d.id FROM delivery d
    WHERE %(still_due)s::boolean
      AND d.id = ANY(%(ids)s)
      AND d.status = ANY(%(sources)s)
      AND d.due_at <= now()
    ORDER BY d.id
    FOR UPDATE SKIP LOCKED
), picked AS (
    SELECT id FROM waited_for UNION ALL SELECT id FROM skipped_if_locked
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
    WHERE d.id = w.id AND d.id = ANY(%(ids)s) AND (w.id IN (SELECT id FROM picked)) IS TRUE
    RETURNING d.id, d.mode, w.reason, w.detail
), logged AS (
    INSERT INTO event (notification_id, delivery_id, status, reason, detail, at)
    SELECT notification_of(id), id, %(to)s, reason, detail, now() FROM moved
)
SELECT id, mode, reason FROM moved
