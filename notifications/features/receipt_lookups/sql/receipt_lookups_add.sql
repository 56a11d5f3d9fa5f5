-- Insert accepted calls of a provider, due after the time in which the vendor usually has the receipt. Locks the new rows alone.
-- Parameters: arrays of equal length.
INSERT INTO receipt_lookup (delivery_id, provider, message_id, sent_at, due_at)
SELECT w.delivery_id, %(provider)s, w.message_id, now(), now() + %(after)s::interval
FROM unnest(%(delivery_ids)s::uuid[], %(message_ids)s::text[]) AS w(delivery_id, message_id)
