-- Make up to `limit` rows of one priority due that a switch holds, longest due first. Skips locked rows. Uses
-- delivery_switched, once for each partition, and the primary key. The sweep waits `grace` after due_at for a retry
-- message, which these rows do not have, so due_at is set back by `grace`.
WITH picked AS (
    SELECT id FROM delivery
    WHERE reason IN ('paused', 'channel_paused') AND status = %(scheduled)s
      AND switch_id = %(switch)s AND priority = %(priority)s AND due_at > now()
    ORDER BY due_at
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
UPDATE delivery SET due_at = now() - %(grace)s
WHERE id = ANY(ARRAY(SELECT id FROM picked))
RETURNING id
