-- Return the deliveries of some notifications, the newest first; NULL for `mode`, `contacts` or `deliveries`
-- switches that filter off. Locks nothing. Uses the primary keys; OFFSET 0 keeps the planner from a join of whole tables, so
-- each notification reads one partition of each table.
SELECT n.id AS notification_id, d.id AS delivery_id, n.created_at, n.mode, n.producer_id, n.user_id, n.type,
       n.priority, d.channel, d.status, d.reason, d.provider, d.provider_message_id
FROM (SELECT DISTINCT unnest(%(notifications)s::uuid[]) AS id) wanted
CROSS JOIN LATERAL (
  SELECT id, created_at, mode, producer_id, user_id, type, priority FROM notification
  WHERE notification.id = wanted.id
  OFFSET 0
) n
CROSS JOIN LATERAL (
  SELECT id, channel, status, reason, provider, provider_message_id, contact_id FROM delivery
  WHERE delivery.id > wanted.id AND delivery.id <= last_delivery_of(wanted.id)
  OFFSET 0
) d
WHERE (%(mode)s::smallint IS NULL OR n.mode = %(mode)s::smallint)
  AND (%(contacts)s::bigint[] IS NULL OR d.contact_id = ANY (%(contacts)s::bigint[]))
  AND (%(deliveries)s::uuid[] IS NULL OR d.id = ANY (%(deliveries)s::uuid[]))
ORDER BY n.id DESC, d.id
LIMIT %(limit)s::bigint
