-- Return up to `limit` due rows of one lane that a frequency cap or a digest choice holds, among the `looked_at` rows of the lane that
-- are due longest. Locks the rows for the transaction of the sweep and skips locked rows. Uses delivery_due, then
-- the primary key. `floor` and `ceiling` are constants, so the planner prunes partitions.
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
WHERE d.id = ANY(ARRAY(SELECT id FROM seen WHERE reason = ANY(%(merged)s::text[]) LIMIT %(limit)s))
  AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
  AND d.status = %(status)s AND d.reason = ANY(%(merged)s::text[]) AND d.due_at <= now()
ORDER BY d.id
FOR UPDATE SKIP LOCKED
