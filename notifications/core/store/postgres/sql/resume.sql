-- Make up to `limit` rows of each priority due that are held for one of `reasons` on a channel, after the cause ended:
-- a circuit breaker has closed, or the SMS ceilings have changed.
-- Skips locked rows. Uses delivery_due. The sweep waits `grace` after due_at for a retry message; the messages of
-- these rows may be minutes away, so due_at is set back by `grace`.
WITH picked AS (
    SELECT d.id
    FROM unnest(%(priorities)s::smallint[]) AS p(priority)
    CROSS JOIN LATERAL (
        SELECT id
        FROM delivery
        WHERE status = %(scheduled)s AND mode = %(live)s AND priority = p.priority AND channel = %(channel)s
          AND due_at > now() AND reason = ANY(%(reasons)s::text[]) AND id >= %(floor)s AND id < %(ceiling)s
        ORDER BY due_at
        LIMIT %(limit)s
        FOR UPDATE SKIP LOCKED
    ) d
)
UPDATE delivery SET due_at = now() - %(grace)s
WHERE id = ANY(ARRAY(SELECT id FROM picked)) AND id >= %(floor)s AND id < %(ceiling)s
RETURNING id
