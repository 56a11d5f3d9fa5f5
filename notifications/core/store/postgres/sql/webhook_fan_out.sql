-- Insert a message for each endpoint subscribed to a status change between a position and the end of feed_end. A message
-- id is computed from the endpoint and the event, so the statement is safe to run twice; with `again` (a replay) a
-- message is due again under its id, unless its call runs, and its retention begins anew. `endpoint` and `since` limit
-- a replay. Locks the messages that it changes. Merges event_of_transaction of all partitions; each row looks its
-- notification up by primary key.
WITH scanned AS MATERIALIZED (
    SELECT xid, seq, notification_id, delivery_id, status, reason, at
    FROM event
    WHERE xid IS NOT NULL
      AND (xid, seq) > (%(xid)s::bigint, %(seq)s::bigint)
      AND (xid, seq) <= (%(end_xid)s::bigint, %(end_seq)s::bigint)
    ORDER BY xid, seq
    LIMIT %(scanned)s::bigint
), told AS MATERIALIZED (
    SELECT s.*, t.type, n.producer_id, n.mode, n.webhook_url
    FROM scanned s
    JOIN unnest(%(statuses)s::smallint[], %(reasons)s::text[], %(types)s::text[]) AS t(status, reason, type)
      ON t.status = s.status AND t.reason IN ('', s.reason)
    CROSS JOIN LATERAL (
        SELECT producer_id, mode, webhook_url FROM notification WHERE id = s.notification_id OFFSET 0
    ) n
    WHERE %(since)s::timestamptz IS NULL OR s.at >= %(since)s::timestamptz
)
INSERT INTO webhook_message AS m (id, endpoint_id, url, type, notification_id, delivery_id, status, reason, occurred_at,
                                  state, due_at, attempts, calls, created_at)
SELECT md5(e.id || '/' || told.seq)::uuid, e.id, CASE WHEN e.url = '' THEN told.webhook_url ELSE '' END, told.type,
       told.notification_id, told.delivery_id, told.status, told.reason, told.at, 'waiting', now(), 0, 0, now()
FROM told
JOIN webhook_endpoint e ON e.producer_id = told.producer_id AND e.mode = told.mode
WHERE e.state <> 'disabled'
  AND (%(endpoint)s::bigint IS NULL OR e.id = %(endpoint)s::bigint)
  AND (e.url <> '' OR told.webhook_url <> '')
  AND (cardinality(e.events) = 0 OR told.type = ANY (e.events))
ORDER BY told.xid, told.seq, e.id
ON CONFLICT (id) DO UPDATE
    SET state = 'waiting', attempts = 0, created_at = now(),
        due_at = CASE WHEN m.claim_token IS NULL THEN now() ELSE m.due_at END
    WHERE %(again)s::boolean
