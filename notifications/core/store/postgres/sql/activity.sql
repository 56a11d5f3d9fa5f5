-- Return one page of deliveries with their notifications, the newest first. NULL switches a filter off. Locks nothing.
-- The inner scan reads the primary key of delivery backwards, prunes partitions by the bounds of the id and ends after
-- `scanned` rows. Each notification is one row of its primary key; OFFSET 0 keeps the planner from a join of whole tables.
SELECT d.id AS delivery_id, d.channel, d.status, d.reason, d.provider, d.due_at,
       n.id AS notification_id, n.created_at, n.user_id, n.recipient_id, n.type, n.priority, n.mode, n.producer_id,
       n.template, n.title
FROM (
  SELECT newest.*
  FROM (
    SELECT id, channel, status, reason, provider, due_at
    FROM delivery
    WHERE id < %(below)s::uuid AND id >= %(floor)s::uuid
    ORDER BY id DESC
    LIMIT %(scanned)s::bigint
  ) newest
  WHERE (%(status)s::smallint IS NULL OR newest.status = %(status)s::smallint)
    AND (%(channel)s::smallint IS NULL OR newest.channel = %(channel)s::smallint)
    AND (%(provider)s::text IS NULL OR newest.provider = %(provider)s::text)
    AND (%(reason)s::text IS NULL OR newest.reason = %(reason)s::text)
) d
CROSS JOIN LATERAL (
  SELECT n.id, n.created_at, n.user_id, n.recipient_id, n.type, n.priority, n.mode, n.producer_id, n.template,
         n.content ->> 'title' AS title
  FROM notification n
  WHERE n.id = notification_of(d.id)
    AND (%(type)s::text IS NULL OR n.type = %(type)s::text)
    AND (%(templates)s::bigint[] IS NULL OR n.template = ANY (%(templates)s::bigint[]))
    AND (%(producer)s::bigint IS NULL OR n.producer_id = %(producer)s::bigint)
    AND (%(mode)s::smallint IS NULL OR n.mode = %(mode)s::smallint)
    AND (%(priority)s::smallint IS NULL OR n.priority = %(priority)s::smallint)
    AND (%(word)s::text IS NULL
         OR n.type = %(word)s::text
         OR n.idempotency_key = %(word)s::text
         OR EXISTS (SELECT FROM jsonb_each_text(n.metadata) AS m WHERE m.value = %(word)s::text)
         OR EXISTS (SELECT FROM jsonb_each_text(n.variables) AS v WHERE v.value = %(word)s::text))
  OFFSET 0
) n
ORDER BY d.id DESC
LIMIT %(limit)s::bigint
