-- Return the number of live deliveries of each channel that are `unknown`, are not sent again, and are closed more than `closed_in` from now:
-- those that became unknown lately. At most `most` of a lane. Locks nothing. Uses delivery_due of each partition between `floor` and
-- `ceiling`, once for each lane.
SELECT lane.channel, sum(bounded.found)::bigint AS found
FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[])
       AS lane (mode, priority, channel)
CROSS JOIN LATERAL (
  SELECT count(*) AS found FROM (
    SELECT 1 FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = %(unknown)s AND d.mode = lane.mode AND d.priority = lane.priority
      AND d.channel = lane.channel AND d.due_at > now() + %(closed_in)s::interval
    LIMIT %(most)s::bigint
  ) rows
) bounded
WHERE lane.mode = %(mode)s
GROUP BY lane.channel
