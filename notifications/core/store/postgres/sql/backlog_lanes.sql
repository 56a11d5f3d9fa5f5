-- Return the number of due rows for each lane and status, at most `counted`, and the first `front` rows of the queue.
-- Locks nothing. Uses delivery_due of each partition between `floor` and `ceiling`, once for each status and lane with
-- due rows; ORDER BY forces the index.
SELECT lane.mode, lane.priority, lane.channel, waiting.due, first.ids, first.due_at, now() AS now
FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[])
       AS lane (mode, priority, channel)
CROSS JOIN unnest(%(statuses)s::smallint[]) AS wanted (status)
CROSS JOIN LATERAL (
  SELECT array_agg(f.id) AS ids, array_agg(f.due_at) AS due_at
  FROM (
    SELECT d.id, d.due_at FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = wanted.status AND d.mode = lane.mode AND d.priority = lane.priority
      AND d.channel = lane.channel AND d.due_at <= now()
    ORDER BY d.due_at
    LIMIT %(front)s::bigint
  ) f
  HAVING count(*) > 0
) first
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
