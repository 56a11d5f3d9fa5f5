-- The broker lost these: published over %(older_than)s ago, never claimed, and nothing is ready in their lane. Due now. Skips locked
-- rows; served by delivery_due.
WITH picked AS (
    SELECT d.id FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = %(queued)s AND d.mode = %(mode)s AND d.priority = %(priority)s
      AND d.channel = %(channel)s AND d.due_at > now()
      AND d.published_at < now() - %(older_than)s::interval
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
UPDATE delivery d SET due_at = now()
FROM picked p
WHERE d.id = p.id AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
