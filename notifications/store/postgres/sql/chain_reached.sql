-- Return those of these deliveries whose notification has reached the recipient on another channel. `reached` has the
-- statuses. Locks nothing. Uses the primary key; `floor` and `ceiling` prune partitions.
SELECT r.id
FROM unnest(%(ids)s::uuid[], %(channels)s::smallint[]) AS r(id, channel)
WHERE EXISTS (
    SELECT FROM delivery d
    WHERE d.id > notification_of(r.id) AND d.id <= last_delivery_of(notification_of(r.id))
      AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = ANY(%(reached)s) AND d.channel <> r.channel
)
