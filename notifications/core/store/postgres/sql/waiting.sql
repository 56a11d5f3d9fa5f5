-- Return the waiting deliveries of each lane by status and reason: number, next due time and oldest id. Reads at most
-- `counted` rows of each lane and status, those due first. Locks nothing. Uses delivery_due, once for each status and
-- lane; `floor` and `ceiling` are constants, so the planner prunes partitions.
SELECT lane.mode, lane.priority, lane.channel, wanted.status, bounded.reason,
       count(*) AS deliveries, min(bounded.due_at) AS next_at, (array_agg(bounded.id ORDER BY bounded.id))[1] AS oldest
FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[])
       AS lane (mode, priority, channel)
CROSS JOIN unnest(%(statuses)s::smallint[]) AS wanted (status)
CROSS JOIN LATERAL (
  SELECT d.id, d.reason, d.due_at FROM delivery d
  WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
    AND d.status = wanted.status AND d.mode = lane.mode AND d.priority = lane.priority
    AND d.channel = lane.channel AND d.due_at IS NOT NULL
  ORDER BY d.due_at
  LIMIT %(counted)s::bigint
) bounded
GROUP BY lane.mode, lane.priority, lane.channel, wanted.status, bounded.reason
