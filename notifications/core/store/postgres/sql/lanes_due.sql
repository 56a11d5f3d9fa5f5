-- Return the lanes with a row of this status that is due before now() plus `within` (negative: due for at least so
-- long). Locks nothing. Uses delivery_due, once for each lane and partition. ORDER BY forces the index: with LIMIT
-- alone the planner may choose a sequential scan of the whole day for a lane without rows.
SELECT l.mode, l.priority, l.channel
FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[])
    AS l(mode, priority, channel)
CROSS JOIN LATERAL (
    SELECT 1 FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid AND d.status = %(status)s
      AND d.mode = l.mode AND d.priority = l.priority AND d.channel = l.channel
      AND d.due_at <= now() + %(within)s::interval
    ORDER BY d.due_at
    LIMIT 1
) one
