-- Return the sweeps with a delivery of their status that is due before now() plus `within_seconds` (negative: due for at
-- least so long). Locks nothing. Uses delivery_due, once for each lane and partition. ORDER BY forces the index, as in
-- lanes_due.
SELECT s.sweep
FROM unnest(%(sweeps)s::text[], %(statuses)s::smallint[], %(within_seconds)s::float8[]) AS s(sweep, status, within_seconds)
WHERE EXISTS (
    SELECT FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[])
        AS l(mode, priority, channel)
    CROSS JOIN LATERAL (
        SELECT FROM delivery d
        WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid AND d.status = s.status
          AND d.mode = l.mode AND d.priority = l.priority AND d.channel = l.channel
          AND d.due_at <= now() + make_interval(secs => s.within_seconds)
        ORDER BY d.due_at
        LIMIT 1
    ) one
)
