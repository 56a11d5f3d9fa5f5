-- Make these held deliveries due now, if their hold still has one of `reasons`. Locks in the order of the ids and skips
-- locked rows. Uses the primary key. The sweep waits `grace` after due_at for a retry message; the messages of these
-- rows may be minutes away, so due_at is set back by `grace`.
WITH picked AS (
    SELECT id FROM delivery
    WHERE id = ANY(%(ids)s) AND id >= %(floor)s AND id < %(ceiling)s
      AND status = %(scheduled)s AND reason = ANY(%(reasons)s::text[]) AND due_at > now()
    ORDER BY id
    FOR UPDATE SKIP LOCKED
)
UPDATE delivery SET due_at = now() - %(grace)s
WHERE id = ANY(ARRAY(SELECT id FROM picked)) AND id >= %(floor)s AND id < %(ceiling)s
RETURNING id
