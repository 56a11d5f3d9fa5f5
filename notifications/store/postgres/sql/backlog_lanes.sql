-- What is due in each lane and was not taken: how many (bounded), and the row that has been due for longest. Locks nothing.
-- delivery_due serves each (status, lane) by itself.
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
