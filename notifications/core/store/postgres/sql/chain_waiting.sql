-- Return the waiting deliveries of fallback chains on other channels than these deliveries. `waiting` has the
-- statuses. Locks nothing: the transition locks the rows. Uses the primary key; `floor` and `ceiling` prune
-- partitions.
SELECT d.id
FROM unnest(%(ids)s::uuid[]) AS r(id)
JOIN delivery k ON k.id = r.id AND k.id >= %(floor)s::uuid AND k.id < %(ceiling)s::uuid
CROSS JOIN LATERAL (
    SELECT id FROM delivery
    WHERE id > notification_of(r.id) AND id <= last_delivery_of(notification_of(r.id))
      AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
      AND status = ANY(%(waiting)s) AND falls_back AND channel <> k.channel
) d
