-- Return the number of queued live deliveries of P2 and P3 on these channels, counted up to `limit`. Locks nothing. Uses
-- delivery_due.
SELECT count(*) AS queued FROM (
    SELECT FROM delivery
    WHERE status = %(queued)s AND mode = %(live)s AND priority = ANY(%(priorities)s::smallint[])
      AND channel = ANY(%(channels)s::smallint[]) AND due_at IS NOT NULL
    LIMIT %(limit)s
) found
