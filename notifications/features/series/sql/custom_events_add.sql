-- Store custom events; return the numbers of the new events. Parameters: arrays of equal length. An event with a stored
-- key, or of an unknown recipient, is left out (one_custom_event). The recipients are locked
-- against a deletion until the end of the transaction.
WITH wanted AS (
    SELECT * FROM unnest(%(numbers)s::int[], %(user_ids)s::text[], %(names)s::text[], %(properties)s::text[],
                         %(occurred_at)s::timestamptz[], %(keys)s::text[])
        AS w(number, user_id, name, properties, occurred_at, key)
), present AS MATERIALIZED (
    SELECT id, user_id FROM notifications_recipient
    WHERE mode = %(mode)s AND user_id = ANY(%(user_ids)s::text[]) ORDER BY id FOR KEY SHARE
), stored AS (
    INSERT INTO custom_event
        (producer_id, mode, recipient_id, user_id, name, properties, occurred_at, received_at, idempotency_key, handled)
    SELECT %(producer)s, %(mode)s, present.id, w.user_id, w.name, w.properties::jsonb, coalesce(w.occurred_at, now()),
           now(), nullif(w.key, ''), false
    FROM wanted w
    JOIN present USING (user_id)
    ORDER BY w.number
    ON CONFLICT DO NOTHING
    RETURNING id, user_id, coalesce(idempotency_key, '') AS key
)
SELECT w.number, present.id IS NOT NULL AS is_known,
       w.key = '' OR EXISTS (SELECT FROM stored WHERE stored.key = w.key AND stored.user_id = w.user_id) AS is_new
FROM wanted w
LEFT JOIN present USING (user_id)
