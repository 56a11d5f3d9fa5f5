-- Lock up to `rows` due queued rows of one lane for a claim or a publish, and return them in the order of due_at, which
-- is the place in the fair queue. Skips locked rows, which another process is claiming. Uses delivery_due.
SELECT d.id, d.due_at, d.claims, d.reason, d.publishes
FROM delivery d
WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
  AND d.status = %(queued)s AND d.mode = %(mode)s AND d.priority = %(priority)s
  AND d.channel = %(channel)s AND d.due_at <= now()
ORDER BY d.due_at
LIMIT %(rows)s
FOR UPDATE SKIP LOCKED
