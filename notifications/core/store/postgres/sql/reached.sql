-- Return those notifications that reached the recipient, with the channels. `reached` has the statuses that count.
-- Locks nothing. Uses the primary key: the deliveries of a notification are one range of ids; `floor` and `ceiling`
-- prune partitions.
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
