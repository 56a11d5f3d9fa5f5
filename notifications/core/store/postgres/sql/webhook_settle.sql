-- Store the results of calls and log the calls. A message under the lease of another worker stays unchanged; the
-- call is logged. The call of a message that an erasure deleted meanwhile is not logged, because the answer may name the
-- person. Locks the messages in the order of the ids. Uses the primary key.
WITH results AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(endpoint_ids)s::bigint[], %(states)s::text[], %(due_in)s::interval[],
                         %(numbers)s::smallint[], %(started_at)s::timestamptz[], %(latencies)s::integer[],
                         %(http_statuses)s::smallint[], %(errors)s::text[], %(responses)s::text[])
        AS r(id, endpoint_id, state, due_in, number, started_at, latency_ms, http_status, error, response)
), locked AS (
    SELECT id FROM webhook_message
    WHERE id = ANY (%(ids)s) AND claim_token = %(token)s::uuid
    ORDER BY id
    FOR UPDATE
), settled AS (
    UPDATE webhook_message m
    SET state = r.state, due_at = now() + r.due_in, claim_token = NULL
    FROM results r
    WHERE m.id = r.id AND m.id IN (SELECT id FROM locked)
)
INSERT INTO webhook_attempt (message_id, number, endpoint_id, started_at, latency_ms, http_status, error, response)
SELECT id, number, endpoint_id, started_at, latency_ms, http_status, error, response FROM results r
WHERE EXISTS (SELECT FROM webhook_message m WHERE m.id = r.id)
