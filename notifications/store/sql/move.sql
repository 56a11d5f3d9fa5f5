-- The one guarded UPDATE that changes statuses, and the events that go with it. Locks in id order; served by the primary key.
-- A row moves only from a legal source, only under the given token (if any), only from the given provider (if any), and,
-- for sweeps, only while it is still due.
-- IS TRUE keeps the planner from making a join of the IN: it would take that for one row, and then compare each row with each.
WITH wanted AS (
    SELECT *
    FROM unnest(%(ids)s::uuid[], %(due_in)s::interval[], %(reasons)s::text[], %(details)s::text[],
                %(message_ids)s::text[])
        AS w(id, due_in, reason, detail, message_id)
), picked AS (
    SELECT d.id FROM delivery d
    WHERE d.id = ANY(%(ids)s)
      AND d.status = ANY(%(sources)s)
      AND (%(token)s::uuid IS NULL OR d.claim_token = %(token)s)
      AND (%(only_provider)s::text = '' OR d.provider = %(only_provider)s)
      AND (NOT %(only_due)s::boolean OR d.due_at <= now())
    ORDER BY d.id
    FOR UPDATE
), moved AS (
    UPDATE delivery d
    SET status = %(to)s,
        due_at = now() + w.due_in,
        reason = w.reason,
        provider_message_id = CASE WHEN w.message_id = '' THEN d.provider_message_id ELSE w.message_id END,
        claim_token = NULL,
        claims = CASE WHEN %(keeps_claims)s::boolean THEN d.claims ELSE 0 END,
        publishes = 0,
        published_at = NULL,
        attempts_before = d.attempts_before + %(refunded)s::smallint,
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
