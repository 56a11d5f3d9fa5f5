-- Return up to `limit` due scheduled rows of one lane, the longest due first, without the rows that the sweep `digests` takes before
-- `digests_after`. The rows that are due longest are examined, four times `limit` at most, and only until `limit` rows are locked. If they
-- give fewer rows, as many that are due last are examined too: a million rows for digests can be due at one moment, and a row that comes
-- due behind them is among the last. Locks the rows for the transaction of the sweep. Skips locked rows, so that several sweeps share a lane.
-- Uses delivery_due and the primary key. `floor` and `ceiling` are constants, so the planner prunes partitions.
-- The commit does not wait for the disk: after a crash the rows are scheduled and due again, and no call can have begun, because the commit
-- before a call (renew.sql) waits for everything that was written before.
WITH unsynced AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), first_rows AS MATERIALIZED (
    SELECT d.id, d.mode, d.priority, d.channel, d.contact_id, d.reason
    FROM (
        SELECT id, due_at FROM delivery
        WHERE id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
          AND status = %(status)s AND mode = %(mode)s AND priority = %(priority)s
          AND channel = %(channel)s AND due_at <= now() - %(grace)s::interval
        ORDER BY due_at
        LIMIT 4 * %(limit)s
    ) seen
    JOIN delivery d ON d.id = seen.id AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
    WHERE d.status = %(status)s AND d.due_at <= now() - %(grace)s::interval
      AND (d.reason <> ALL(%(merged)s::text[]) OR d.due_at <= now() - %(digests_after)s::interval)
    ORDER BY seen.due_at
    LIMIT %(limit)s
    FOR UPDATE OF d SKIP LOCKED
), last_seen AS MATERIALIZED (
    SELECT id FROM delivery
    WHERE id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
      AND status = %(status)s AND mode = %(mode)s AND priority = %(priority)s
      AND channel = %(channel)s AND due_at <= now() - %(grace)s::interval
      AND (SELECT count(*) FROM first_rows) < %(limit)s
    ORDER BY due_at DESC
    LIMIT 4 * %(limit)s
), last_rows AS MATERIALIZED (
    SELECT id, mode, priority, channel, contact_id, reason FROM delivery
    WHERE id = ANY(ARRAY(SELECT id FROM last_seen EXCEPT SELECT id FROM first_rows))
      AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
      AND status = %(status)s AND due_at <= now() - %(grace)s::interval
      AND (reason <> ALL(%(merged)s::text[]) OR due_at <= now() - %(digests_after)s::interval)
    ORDER BY due_at
    LIMIT %(limit)s - (SELECT count(*) FROM first_rows)
    FOR UPDATE SKIP LOCKED
)
SELECT f.* FROM unsynced CROSS JOIN first_rows f
UNION ALL
SELECT * FROM last_rows
