-- Return the live lanes and statuses with an oldest due time before an instant, and the due time. Locks nothing. Uses
-- delivery_due, one entry for each status and lane.
SELECT lane.priority, lane.channel, wanted.status, oldest.id, oldest.due_at
FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[])
       AS lane (mode, priority, channel)
CROSS JOIN unnest(%(statuses)s::smallint[]) AS wanted (status)
CROSS JOIN LATERAL (
  SELECT d.id, d.due_at FROM delivery d
  WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
    AND d.status = wanted.status AND d.mode = lane.mode AND d.priority = lane.priority
    AND d.channel = lane.channel AND d.due_at <= %(before)s
  ORDER BY d.due_at
  LIMIT 1
) oldest
WHERE lane.mode = %(mode)s
