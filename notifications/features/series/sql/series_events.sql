-- Return the newest custom event for each question, with the number of the question. Parameters: arrays of equal
-- length; an event counts if it was stored after (`since`, `after`). Locks nothing. Uses custom_event_found.
SELECT q.number, found.properties
FROM unnest(%(numbers)s::int[], %(recipients)s::bigint[], %(names)s::text[], %(wheres)s::text[],
            %(since)s::timestamptz[], %(after)s::bigint[]) AS q(number, recipient, name, equal_to, since, after)
CROSS JOIN LATERAL (
    SELECT c.properties FROM custom_event c
    WHERE c.recipient_id = q.recipient AND c.name = q.name AND c.producer_id = %(producer)s
      AND c.received_at >= q.since AND (c.received_at, c.id) > (q.since, q.after)
      AND c.properties @> q.equal_to::jsonb
    ORDER BY c.received_at DESC, c.id DESC
    LIMIT 1
) found
