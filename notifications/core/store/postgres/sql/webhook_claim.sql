-- Take up to `limit` due messages for calls: a lease, a token and the count of the call. An endpoint has at most
-- `share` calls in flight, one while its calls fail. The endpoint with the fewest calls in flight comes first, and a
-- failing endpoint's call counts half a share more, so that old messages of slow endpoints do not take all room.
-- Locks the endpoints with due messages (skips locked endpoints, so that two workers do not exceed the share) and the
-- messages in the order of the ids (skips locked messages). Uses webhook_message_due, webhook_message_in_flight and primary
-- keys.
WITH endpoints AS (
    SELECT e.id, e.failures >= %(failing)s::bigint AS fails FROM webhook_endpoint e
    WHERE e.state = 'active'
      AND EXISTS (SELECT FROM webhook_message m WHERE m.endpoint_id = e.id AND m.due_at <= now())
    ORDER BY e.id
    FOR NO KEY UPDATE SKIP LOCKED
), busy AS MATERIALIZED (
    SELECT endpoints.*, (
        SELECT count(*) FROM webhook_message f
        WHERE f.endpoint_id = endpoints.id AND f.claim_token IS NOT NULL AND f.due_at > now()) AS in_flight
    FROM endpoints
), picked AS (
    SELECT m.id FROM busy
    CROSS JOIN LATERAL (
        SELECT id, due_at, row_number() OVER (ORDER BY due_at) AS place FROM webhook_message
        WHERE endpoint_id = busy.id AND due_at <= now()
        ORDER BY due_at
        LIMIT greatest(0, CASE WHEN busy.fails THEN 1 ELSE %(share)s::bigint END - busy.in_flight)
    ) m
    ORDER BY busy.in_flight + m.place + CASE WHEN busy.fails THEN %(share)s::bigint / 2 ELSE 0 END, m.due_at
    LIMIT %(limit)s::bigint
), locked AS (
    SELECT id FROM webhook_message
    WHERE id = ANY (ARRAY(SELECT id FROM picked)) AND due_at <= now()
    ORDER BY id
    FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE webhook_message
    SET claim_token = %(token)s::uuid, due_at = now() + %(lease)s::interval, attempts = attempts + 1, calls = calls + 1
    WHERE id = ANY (ARRAY(SELECT id FROM locked))
    RETURNING *
)
SELECT c.id, c.endpoint_id, CASE WHEN c.url = '' THEN e.url ELSE c.url END AS url, e.url = '' AS is_of_request, e.preset,
       e.secret_version, e.previous_secret_until, c.type, c.notification_id, c.delivery_id, c.contact_id, c.bulk_job_id, c.status, c.reason,
       c.occurred_at, c.attempts, c.calls
FROM claimed c
JOIN webhook_endpoint e ON e.id = c.endpoint_id
