-- Return one page of notifications, the newest first, with their deliveries. NULL switches a filter off. Locks
-- nothing.
-- The inner scan reads the primary key backwards (with a recipient: notification_by_recipient), prunes partitions by
-- the bounds of the id and ends after `scanned` rows. The deliveries are a range of their primary key.
SELECT page.*, mine.delivery_ids, mine.channels, mine.statuses
FROM (
  SELECT n.id, n.user_id, n.type, n.priority, n.created_at, n.scheduled_at
  FROM (
    SELECT * FROM notification
    WHERE id < %(below)s::uuid AND id >= %(floor)s::uuid
      AND (%(recipient)s::bigint IS NULL OR recipient_id = %(recipient)s::bigint)
    ORDER BY id DESC
    LIMIT %(scanned)s::bigint
  ) n
  WHERE n.mode = %(mode)s::smallint
    AND n.created_at >= %(since)s::timestamptz
    AND (%(producer)s::bigint IS NULL OR n.producer_id = %(producer)s::bigint)
    AND (%(types)s::text[] IS NULL OR n.type = ANY (%(types)s::text[]))
    AND NOT EXISTS (
      SELECT FROM unnest(%(names)s::text[], %(values)s::text[]) AS w(name, value)
      WHERE n.metadata ->> w.name IS DISTINCT FROM w.value
    )
    AND (%(statuses)s::smallint[] IS NULL OR EXISTS (
      SELECT FROM delivery d
      WHERE d.id > n.id AND d.id <= last_delivery_of(n.id) AND d.status = ANY (%(statuses)s::smallint[])
    ))
  ORDER BY n.id DESC
  LIMIT %(limit)s::bigint
) page
CROSS JOIN LATERAL (
  SELECT array_agg(d.id ORDER BY d.id) AS delivery_ids,
         array_agg(d.channel ORDER BY d.id) AS channels,
         array_agg(d.status ORDER BY d.id) AS statuses
  FROM delivery d
  WHERE d.id > page.id AND d.id <= last_delivery_of(page.id)
) mine
ORDER BY page.id DESC
