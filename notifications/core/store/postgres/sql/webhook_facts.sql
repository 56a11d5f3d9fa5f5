-- Return the facts of notifications and deliveries of one range of days for the bodies of messages; an erased
-- notification has no row. Locks nothing. Uses primary keys; the range prunes partitions.
SELECT asked.id, p.name AS producer, n.user_id, n.metadata, n.traceparent, d.channel, d.provider
FROM unnest(%(ids)s::uuid[], %(notification_ids)s::uuid[], %(delivery_ids)s::uuid[])
    AS asked(id, notification_id, delivery_id)
JOIN notification n
  ON n.id = asked.notification_id AND n.id = ANY (%(notification_ids)s)
  AND n.id >= %(floor)s::uuid AND n.id < %(ceiling)s::uuid
JOIN notifications_producer p ON p.id = n.producer_id
LEFT JOIN delivery d
  ON d.id = asked.delivery_id AND d.id = ANY (%(delivery_ids)s)
  AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
