-- Insert the event of a pressed button, once for each action of a delivery, and a message for each webhook endpoint of
-- the producer and for the webhook URL of the request. The id of a message is computed from endpoint, delivery and
-- action, so the statement is safe to run twice. Locks the notification. Uses the primary keys.
WITH n AS (
    SELECT id, producer_id, mode, webhook_url FROM notification WHERE id = %(notification)s::uuid FOR UPDATE
), pressed AS (
    INSERT INTO event (notification_id, delivery_id, reason, detail, at)
    SELECT n.id, %(delivery)s::uuid, %(reason)s::text, %(action)s::text, now()
    FROM n
    WHERE NOT EXISTS (SELECT FROM event e
                      WHERE e.notification_id = n.id AND e.delivery_id = %(delivery)s::uuid
                        AND e.reason = %(reason)s::text AND e.detail = %(action)s::text)
    RETURNING notification_id
)
INSERT INTO webhook_message (id, endpoint_id, url, type, notification_id, delivery_id, status, reason, occurred_at,
                             state, due_at, attempts, calls, created_at)
SELECT md5(e.id || '/action/' || %(delivery)s::text || '/' || %(action)s::text)::uuid, e.id,
       CASE WHEN e.url = '' THEN n.webhook_url ELSE '' END, %(event)s::text, n.id, %(delivery)s::uuid, %(read)s::smallint, %(action)s::text,
       now(), 'waiting', now(), 0, 0, now()
FROM pressed
JOIN n ON n.id = pressed.notification_id
JOIN webhook_endpoint e ON e.producer_id = n.producer_id AND e.mode = n.mode
WHERE e.state <> 'disabled'
  AND (e.url <> '' OR n.webhook_url <> '')
  AND (cardinality(e.events) = 0 OR %(event)s::text = ANY (e.events))
ORDER BY e.id
ON CONFLICT (id) DO NOTHING
