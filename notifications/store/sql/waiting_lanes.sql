-- Lanes with published rows that nobody has claimed. Locks nothing; served by delivery_due, one probe a lane.
SELECT l.mode, l.priority, l.channel
FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[])
    AS l(mode, priority, channel)
WHERE EXISTS (
    SELECT 1 FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid AND d.status = %(queued)s
      AND d.mode = l.mode AND d.priority = l.priority AND d.channel = l.channel AND d.due_at IS NOT NULL
)
