-- The invariant: a statement moves every open delivery at its due time (due_at). Return up to `most`
-- deliveries against the invariant, with the fault. A healthy database has none.
--   no_due_time     open, and no sweep will look at it
--   claims          waits, with as many claims without a result as no claim takes (claim.sql)
--   never_claimed   queued, published as often as publish.sql counts, and no worker has claimed it
--   due_too_late    due after everything that could delay it: a lease, the next publish, a time to live, a receipt
--   never_final     final, with a due time: no sweep looks at it, and its day is never archived
-- Due rows that a sweep leaves are no fault of the state: the alerts deliveries_stuck and deliveries_orphaned cover such rows.
-- Reads at most `examined` rows of each lane and status, those due first and those due last. Locks nothing. Uses
-- delivery_without_due, delivery_due and the primary key of the notifications; `floor` and `ceiling` are constants, so
-- the planner prunes partitions. LIMIT 1 forces the primary key: the planner expects many more examined rows, and
-- would read all notifications of the span.
WITH without_due AS (
    SELECT id, 'no_due_time' AS fault FROM delivery
    WHERE due_at IS NULL AND status IN (1, 2, 3, 4) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
    LIMIT %(most)s
), with_due AS (
    SELECT over.id, 'never_final' AS fault
    FROM unnest(%(final)s::smallint[]) AS f(status)
    CROSS JOIN LATERAL (
        SELECT d.id FROM delivery d
        WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
          AND d.status = f.status AND d.due_at IS NOT NULL
        ORDER BY d.mode, d.priority, d.channel, d.due_at
        LIMIT %(most)s
    ) over
), examined AS (
    SELECT d.*
    FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[])
        AS l(mode, priority, channel)
    CROSS JOIN unnest(%(open)s::smallint[]) AS o(status)
    CROSS JOIN LATERAL (
        (SELECT id, status, due_at, claims, publishes FROM delivery d
         WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
           AND d.status = o.status AND d.mode = l.mode AND d.priority = l.priority AND d.channel = l.channel
           AND d.due_at IS NOT NULL
         ORDER BY d.due_at LIMIT %(examined)s)
        UNION
        (SELECT id, status, due_at, claims, publishes FROM delivery d
         WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
           AND d.status = o.status AND d.mode = l.mode AND d.priority = l.priority AND d.channel = l.channel
           AND d.due_at > now()
         ORDER BY d.due_at DESC LIMIT %(examined)s)
    ) d
), judged AS (
    SELECT e.id, CASE
        WHEN e.status = ANY(%(waiting)s) AND e.claims >= %(poison)s THEN 'claims'
        WHEN e.status = %(queued)s AND e.publishes >= %(publishes)s THEN 'never_claimed'
        WHEN e.status = %(sending)s AND e.due_at > now() + %(lease)s::interval THEN 'due_too_late'
        WHEN e.status = %(queued)s AND e.due_at > now() + %(republish)s::interval THEN 'due_too_late'
        WHEN e.status = ANY(%(accepted)s) AND e.due_at > now() + %(receipt)s::interval THEN 'due_too_late'
        WHEN e.status = ANY(%(waiting)s) AND e.due_at > n.expires_at + %(slack)s::interval THEN 'due_too_late'
    END AS fault
    FROM examined e
    LEFT JOIN LATERAL (
        SELECT expires_at FROM notification
        WHERE e.status = ANY(%(waiting)s) AND e.due_at > now()
          AND id = notification_of(e.id) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
        LIMIT 1
    ) n ON true
)
SELECT id, fault FROM without_due
UNION ALL SELECT id, fault FROM with_due
UNION ALL SELECT id, fault FROM judged WHERE fault IS NOT NULL
LIMIT %(most)s
