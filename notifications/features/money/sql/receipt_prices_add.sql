-- Insert the prices of receipts; a repeated receipt inserts nothing. Locks the new rows. Uses the primary key.
INSERT INTO receipt_price (delivery_id, provider, message_id, segments, micros, created_at, due_at)
SELECT w.id, %(provider)s, w.message_id, w.segments, w.micros, now(), now()
FROM unnest(%(delivery_id)s::uuid[], %(message_id)s::text[], %(segments)s::smallint[], %(micros)s::bigint[])
    AS w(id, message_id, segments, micros)
ORDER BY w.id, w.message_id
ON CONFLICT DO NOTHING
