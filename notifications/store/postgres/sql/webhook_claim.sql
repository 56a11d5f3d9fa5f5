-- Take up to `limit` due messages for calls: a lease, a token and the count of the call. An endpoint has at most
-- `share` calls in flight, one while its calls fail. Locks the endpoints with due messages (skips locked ones, so that
-- two workers do not exceed the share) and the messages. Uses webhook_message_due, webhook_message_in_flight and
-- primary keys.
WITH endpoints AS (
    SELECT e.id, e.failures FROM webhook_endpoint e
    WHERE e.state = 'active'
      AND EXISTS (SELECT FROM webhook_message m WHERE m.endpoint_id = e.id AND m.due_at <= now())
    ORDER BY e.id
    FOR NO KEY UPDATE SKIP LOCKED
), picked AS (
    SELECT m.id FROM endpoints
    CROSS JOIN LATERAL (
        SELECT id, due_at FROM webhook_message
        WHERE endpoint_id = endpoints.id AND due_at <= now()
        ORDER BY due_at
        LIMIT greatest(0, CASE WHEN endpoints.failures >= %(failing)s::bigint THEN 1 ELSE %(share)s::bigint END - (
            SELECT count(*) FROM webhook_message f
            WHERE f.endpoint_id = endpoints.id AND f.claim_token IS NOT NULL AND f.due_at > now()))
        FOR UPDATE SKIP LOCKED
    ) m
    ORDER BY m.due_at
    LIMIT %(limit)s::bigint
), claimed AS (
    UPDATE webhook_message
    SET claim_token = %(token)s::uuid, due_at = now() + %(lease)s::interval, attempts = attempts + 1, calls = calls + 1
    WHERE id = ANY (ARRAY(SELECT id FROM picked))
    RETURNING *
)
SELECT c.id, c.endpoint_id, CASE WHEN c.url = '' THEN e.url ELSE c.url END AS url, e.url = '' AS is_of_request, e.preset,
       e.secret_version, e.previous_secret_until, c.type, c.notification_id, c.delivery_id, c.contact_id, c.status, c.reason,
       c.occurred_at, c.attempts, c.calls
FROM claimed c
JOIN webhook_endpoint e ON e.id = c.endpoint_id
