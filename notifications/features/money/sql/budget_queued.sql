-- Return the number of queued live deliveries of P2 and P3 on these channels that a budget has held before, among the
-- first `examined` of them, counted up to `limit`. Locks nothing. Uses delivery_due.
SELECT count(*) AS queued FROM (
    SELECT FROM (
        SELECT budget_id FROM delivery
        WHERE status = %(queued)s AND mode = %(live)s AND priority = ANY(%(priorities)s::smallint[])
          AND channel = ANY(%(channels)s::smallint[]) AND due_at IS NOT NULL
        LIMIT %(examined)s
    ) first
    WHERE budget_id = %(budget)s
    LIMIT %(limit)s
) found
