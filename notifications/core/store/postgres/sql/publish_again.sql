-- Make up to `limit` queued rows of one lane due now that the broker lost: published longer than `older_than` ago
-- and not claimed. The caller has seen that the lane has no message. With `at`: rows that a transaction took at that
-- time for a publish that did not follow. Skips locked rows. Uses delivery_due.
WITH picked AS (
    SELECT d.id FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = %(queued)s AND d.mode = %(mode)s AND d.priority = %(priority)s
      AND d.channel = %(channel)s AND d.due_at > now()
      AND d.published_at <= now() - %(older_than)s::interval
      AND (%(at)s::timestamptz IS NULL OR d.published_at = %(at)s)
    ORDER BY d.due_at
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
UPDATE delivery d SET due_at = now()
WHERE d.id = ANY(ARRAY(SELECT id FROM picked))
  AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
