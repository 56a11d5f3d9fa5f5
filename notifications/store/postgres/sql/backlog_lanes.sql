-- Return the number of due rows for each lane and status, at most `counted`, and the row that has been due longest.
-- Locks nothing. Uses delivery_due, once for each status and lane.
SELECT lane.mode, lane.priority, lane.channel, wanted.status, waiting.due, oldest.id, oldest.due_at, now() AS now
FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[])
       AS lane (mode, priority, channel)
CROSS JOIN unnest(%(statuses)s::smallint[]) AS wanted (status)
CROSS JOIN LATERAL (
  SELECT d.id, d.due_at FROM delivery d
  WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
    AND d.status = wanted.status AND d.mode = lane.mode AND d.priority = lane.priority
    AND d.channel = lane.channel AND d.due_at <= now()
  ORDER BY d.due_at
  LIMIT 1
) oldest
CROSS JOIN LATERAL (
  SELECT count(*) AS due
  FROM (
    SELECT d.due_at FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = wanted.status AND d.mode = lane.mode AND d.priority = lane.priority
      AND d.channel = lane.channel AND d.due_at <= now()
    ORDER BY d.due_at
    LIMIT %(counted)s::bigint
  ) bounded
) waiting
