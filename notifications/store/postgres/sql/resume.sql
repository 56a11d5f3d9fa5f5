-- The next rows that an open breaker holds on a channel, now that it has closed: they come due. Served by delivery_due; skips rows that
-- somebody else is moving. The grace that sweeps leave to a retry message is over for them: their messages may be minutes away.
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
