-- Count the deliveries of each lane that wait, by reason, among the `counted` that come due first for each status, with the
-- lowest id. Locks nothing. Uses delivery_due, once for each status and lane.
SELECT lane.mode, lane.priority, lane.channel, held.reason, held.deliveries, held.first_id, now() AS now
FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[])
       AS lane (mode, priority, channel)
CROSS JOIN unnest(%(statuses)s::smallint[]) AS wanted (status)
CROSS JOIN LATERAL (
  SELECT bounded.reason, count(*) AS deliveries, min(bounded.id::text)::uuid AS first_id
  FROM (
    SELECT d.id, d.reason FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = wanted.status AND d.mode = lane.mode AND d.priority = lane.priority
      AND d.channel = lane.channel AND d.due_at IS NOT NULL
    ORDER BY d.due_at
    LIMIT %(counted)s::bigint
  ) bounded
  GROUP BY bounded.reason
) held
