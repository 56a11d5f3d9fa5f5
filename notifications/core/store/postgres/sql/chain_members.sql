-- Return the deliveries of these notifications, at most `most` each. Locks nothing: the caller has locked the
-- notifications, so no delivery is added meanwhile. Uses the primary key; `floor` and `ceiling` prune partitions.
SELECT d.id, d.channel, d.status, d.due_at IS NOT NULL AS is_open
FROM unnest(%(ids)s::uuid[]) AS n(id)
CROSS JOIN LATERAL (
    SELECT id, channel, status, due_at FROM delivery
    WHERE id > n.id AND id <= last_delivery_of(n.id)
      AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
    ORDER BY id LIMIT %(most)s
) d
