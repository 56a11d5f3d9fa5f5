-- Return up to `limit` due scheduled rows of one lane, the longest due first, without the rows that the sweep `digests` takes before
-- `digests_after`. Of the lane the rows are examined that are due longest, and as many that are due last, each four times `limit`: a
-- million rows for digests can be due at one moment, and a row that comes due behind them is among the last. Locks the rows for the
-- transaction of the sweep. Skips locked rows, so that several sweeps share a lane. Uses delivery_due twice, then the primary key.
-- `floor` and `ceiling` are constants, so the planner prunes partitions.
WITH seen AS MATERIALIZED (
    (
        SELECT d.id, d.reason, d.due_at FROM delivery d
        WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
          AND d.status = %(status)s AND d.mode = %(mode)s AND d.priority = %(priority)s
          AND d.channel = %(channel)s AND d.due_at <= now() - %(grace)s::interval
        ORDER BY d.due_at
        LIMIT 4 * %(limit)s
    )
    UNION
    (
        SELECT d.id, d.reason, d.due_at FROM delivery d
        WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
          AND d.status = %(status)s AND d.mode = %(mode)s AND d.priority = %(priority)s
          AND d.channel = %(channel)s AND d.due_at <= now() - %(grace)s::interval
        ORDER BY d.due_at DESC
        LIMIT 4 * %(limit)s
    )
), free AS MATERIALIZED (
    SELECT id FROM seen
    WHERE reason <> ALL(%(merged)s::text[]) OR due_at <= now() - %(digests_after)s::interval
    ORDER BY due_at
    LIMIT 4 * %(limit)s
)
SELECT d.id, d.mode, d.priority, d.channel, d.contact_id, d.reason
FROM delivery d
WHERE d.id = ANY(ARRAY(SELECT id FROM free)) AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
  AND d.status = %(status)s AND d.due_at <= now() - %(grace)s::interval
ORDER BY d.due_at
LIMIT %(limit)s
FOR UPDATE SKIP LOCKED
