-- Return the number of live deliveries of each priority that are due within `ahead`, at most `most`. Locks nothing. Uses delivery_due for each
-- status and channel, and reads at most `most` rows of a priority.
SELECT wanted.priority, bounded.depth
FROM unnest(%(priorities)s::smallint[]) AS wanted (priority)
CROSS JOIN LATERAL (
  SELECT count(*) AS depth FROM (
    SELECT 1
    FROM unnest(%(channels)s::smallint[]) AS c (channel)
    CROSS JOIN unnest(%(statuses)s::smallint[]) AS s (status)
    CROSS JOIN LATERAL (
      SELECT 1 FROM delivery d
      WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
        AND d.status = s.status AND d.mode = %(mode)s AND d.priority = wanted.priority
        AND d.channel = c.channel AND d.due_at <= now() + %(ahead)s::interval
      ORDER BY d.due_at
      LIMIT %(most)s::bigint
    ) due
    LIMIT %(most)s::bigint
  ) rows
) bounded
