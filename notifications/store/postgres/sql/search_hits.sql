-- Return the deliveries of some notifications, the newest first; NULL for `mode`, `contacts` or `deliveries`
-- switches that filter off. Locks nothing. Uses the primary keys.
SELECT n.id AS notification_id, d.id AS delivery_id, n.created_at, n.mode, n.producer_id, n.user_id, n.type,
       n.priority, d.channel, d.status, d.reason, d.provider, d.provider_message_id
FROM notification n
JOIN delivery d ON d.id > n.id AND d.id <= last_delivery_of(n.id)
WHERE n.id = ANY (%(notifications)s::uuid[])
  AND (%(mode)s::smallint IS NULL OR n.mode = %(mode)s::smallint)
  AND (%(contacts)s::bigint[] IS NULL OR d.contact_id = ANY (%(contacts)s::bigint[]))
  AND (%(deliveries)s::uuid[] IS NULL OR d.id = ANY (%(deliveries)s::uuid[]))
ORDER BY n.id DESC, d.id
LIMIT %(limit)s::bigint
