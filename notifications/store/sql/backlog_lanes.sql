-- What is due in each lane and was not taken: how many (bounded), and since when. Locks nothing.
-- delivery_due serves each (status, lane) by itself.
SELECT lane.mode, lane.priority, lane.channel,
       sum(waiting.due)::bigint AS due, now() - min(waiting.oldest) AS behind
FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[])
       AS lane (mode, priority, channel)
CROSS JOIN unnest(%(statuses)s::smallint[]) AS wanted (status)
CROSS JOIN LATERAL (
  SELECT count(*) AS due, min(bounded.due_at) AS oldest
  FROM (
    SELECT d.due_at FROM delivery d
    WHERE d.status = wanted.status AND d.mode = lane.mode AND d.priority = lane.priority
      AND d.channel = lane.channel AND d.due_at <= now()
    ORDER BY d.due_at
    LIMIT %(counted)s::bigint
  ) bounded
) waiting
GROUP BY lane.mode, lane.priority, lane.channel
HAVING sum(waiting.due) > 0
ORDER BY lane.mode, lane.priority, lane.channel
