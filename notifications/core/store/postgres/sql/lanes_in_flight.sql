-- Count the claimed deliveries of each lane, at most `counted`, with the start of the oldest call. Locks nothing. Uses
-- delivery_due, once for each lane.
SELECT lane.mode, lane.priority, lane.channel, busy.deliveries, busy.oldest_call, now() AS now
FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[])
       AS lane (mode, priority, channel)
CROSS JOIN LATERAL (
  SELECT count(*) AS deliveries, min(bounded.call_started_at) AS oldest_call
  FROM (
    SELECT d.call_started_at FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = %(sending)s::smallint AND d.mode = lane.mode AND d.priority = lane.priority
      AND d.channel = lane.channel AND d.due_at IS NOT NULL
    ORDER BY d.due_at
    LIMIT %(counted)s::bigint
  ) bounded
) busy
WHERE busy.deliveries > 0
