-- Return some deliveries with the columns of activity, the newest first. Locks nothing. Uses the primary keys; OFFSET 0 keeps
-- the planner from a join of whole tables, so each row reads one partition.
SELECT d.id AS delivery_id, d.channel, d.status, d.reason, d.provider, d.due_at,
       n.id AS notification_id, n.created_at, n.user_id, n.recipient_id, n.type, n.priority, n.mode, n.producer_id,
       n.template, n.title
FROM unnest(%(deliveries)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
  SELECT id, channel, status, reason, provider, due_at FROM delivery WHERE delivery.id = wanted.id OFFSET 0
) d
CROSS JOIN LATERAL (
  SELECT id, created_at, user_id, recipient_id, type, priority, mode, producer_id, template, content ->> 'title' AS title
  FROM notification WHERE notification.id = notification_of(wanted.id)
  OFFSET 0
) n
ORDER BY d.id DESC
