-- Return the number of due queued rows of one lane, at most `counted`, and the row that has been due longest. Locks
-- nothing. Uses delivery_due.
WITH due AS MATERIALIZED (
    SELECT id, due_at FROM delivery
    WHERE id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
      AND status = %(queued)s AND mode = %(mode)s AND priority = %(priority)s AND channel = %(channel)s
      AND due_at <= now()
    ORDER BY due_at
    LIMIT %(counted)s::bigint
)
SELECT counted.waiting, oldest.id, oldest.due_at, now() AS now
FROM (SELECT count(*) AS waiting FROM due) counted
CROSS JOIN (SELECT id, due_at FROM due ORDER BY due_at LIMIT 1) oldest
