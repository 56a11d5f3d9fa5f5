-- Make up to `limit` deliveries due that a budget holds, P0 first. Locks them and skips locked rows. Uses
-- delivery_budget, once for each partition, and the primary key. The sweep waits `grace` after due_at for a retry
-- message, which these rows do not have, so due_at is set back by `grace`.
WITH picked AS (
    SELECT id FROM delivery
    WHERE reason = 'budget' AND status = %(scheduled)s AND budget_id = %(budget)s AND due_at > now()
    ORDER BY priority, due_at
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
UPDATE delivery SET due_at = now() - %(grace)s
WHERE id = ANY(ARRAY(SELECT id FROM picked))
RETURNING id
