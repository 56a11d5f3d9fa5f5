-- Which of these notifications reached their person, and on which channels. Locks nothing. Served by the primary key: a notification
-- and its deliveries are tied by a range of ids, between bounds that prune.
SELECT n.id, array_agg(DISTINCT d.channel) AS channels
FROM unnest(%(ids)s::uuid[]) AS n(id)
CROSS JOIN LATERAL (
    SELECT channel, status FROM delivery
    WHERE id > n.id AND id <= last_delivery_of(n.id)
      AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
    ORDER BY id LIMIT %(most)s
) d
WHERE d.status = ANY(%(reached)s)
GROUP BY n.id
