-- These held rows come due now, unless somebody else is moving them. Served by the primary key. The grace that sweeps leave to a
-- retry message is over for them: their messages may be minutes away.
WITH picked AS (
    SELECT id FROM delivery
    WHERE id = ANY(%(ids)s) AND id >= %(floor)s AND id < %(ceiling)s
      AND status = %(scheduled)s AND reason = %(reason)s AND due_at > now()
    ORDER BY id
    FOR UPDATE SKIP LOCKED
)
UPDATE delivery SET due_at = now() - %(grace)s
WHERE id = ANY(ARRAY(SELECT id FROM picked)) AND id >= %(floor)s AND id < %(ceiling)s
RETURNING id
