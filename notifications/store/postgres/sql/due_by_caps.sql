-- Rows of one lane that a cap held and that are due, among the rows of the lane that are due longest. Locks them for the sweep's
-- transaction and skips locked ones. Served by delivery_due, then by the primary key. The bounds are constants, so that the planner
-- reads the partitions between them and no others.
WITH seen AS MATERIALIZED (
    SELECT d.id, d.reason FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = %(status)s AND d.mode = %(mode)s AND d.priority = %(priority)s
      AND d.channel = %(channel)s AND d.due_at <= now() - %(grace)s::interval
    ORDER BY d.due_at
    LIMIT %(looked_at)s
)
SELECT d.id, d.mode, d.priority, d.channel, d.reason
FROM delivery d
WHERE d.id = ANY(ARRAY(SELECT id FROM seen WHERE reason = %(cap)s LIMIT %(limit)s))
  AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
  AND d.status = %(status)s AND d.reason = %(cap)s AND d.due_at <= now()
ORDER BY d.id
FOR UPDATE SKIP LOCKED
