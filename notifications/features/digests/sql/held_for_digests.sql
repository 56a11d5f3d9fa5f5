-- Return the deliveries held for `reason` with the recipient, producer, type and channel of one of
-- the given deliveries: all deliveries held by a frequency cap, and deliveries past the digest
-- time. A message with attachments is left out: the digest would not have the files. Locks each delivery in the order of the ids, so that the second of two sweeps finds no row of the
-- first. Uses the primary key for `ids`, notification_by_recipient between `floor` and `ceiling`, then the
-- primary key.
-- MATERIALIZED and ORDER BY with LIMIT fix the order of the steps: a range of ids joins a notification and its
-- deliveries, and without a fixed order the planner begins with all scheduled rows.
WITH place AS MATERIALIZED (
    SELECT DISTINCT n.producer_id, n.recipient_id, n.type, d.channel
    FROM delivery d JOIN notification n ON n.id = notification_of(d.id)
    WHERE d.id = ANY(%(ids)s) AND n.id = ANY(%(notification_ids)s) AND n.type = ANY(%(types)s)
), alike AS MATERIALIZED (
    SELECT n.id, p.channel
    FROM place p JOIN notification n
        ON n.recipient_id = p.recipient_id AND n.producer_id = p.producer_id AND n.type = p.type
    WHERE n.id >= %(floor)s::uuid AND n.id < %(ceiling)s::uuid
      AND n.cancelled_at IS NULL AND n.attachments IS NULL AND (n.expires_at > now() OR %(waits)s)
), held AS MATERIALIZED (
    SELECT d.id
    FROM alike a CROSS JOIN LATERAL (
        SELECT d.id, d.channel, d.status, d.reason, d.due_at FROM delivery d
        WHERE d.id > a.id AND d.id <= last_delivery_of(a.id)
        ORDER BY d.id LIMIT %(devices)s
    ) d
    WHERE d.channel = a.channel AND d.status = %(scheduled)s AND d.reason = %(reason)s
      AND (d.due_at <= now() OR NOT %(waits)s)
    ORDER BY d.id LIMIT %(limit)s
)
SELECT d.id, d.channel, d.priority, d.reason, n.mode, n.producer_id, n.recipient_id, n.user_id, n.type,
       n.variables::text AS variables, n.expires_at, coalesce(t.template_id, '') AS template_id,
       n.category, greatest(n.created_at, n.scheduled_at) AS begins_at, nullif(p.digests, '{}')::text AS digests,
       coalesce(nullif(r.timezone, ''), r.phone_timezone, '') AS timezone
FROM delivery d
JOIN notification n ON n.id = notification_of(d.id)
LEFT JOIN notifications_template t ON t.id = n.template
LEFT JOIN notifications_recipient r ON r.id = n.recipient_id
LEFT JOIN notifications_preference p ON p.recipient_id = n.recipient_id
WHERE d.id = ANY(ARRAY(SELECT id FROM held)) AND n.id = ANY(ARRAY(SELECT notification_of(id) FROM held))
  AND d.status = %(scheduled)s AND d.reason = %(reason)s
ORDER BY d.id
FOR UPDATE OF d
