-- The answers that idempotency keys have, while they are kept. Locks nothing; served by the primary key, one probe a key.
SELECT k.producer_id, k.mode, k.key, k.body_hash, k.response::text
FROM unnest(%(producer_ids)s::bigint[], %(modes)s::smallint[], %(keys)s::text[]) AS w(producer_id, mode, key)
    JOIN idempotency_key k ON k.producer_id = w.producer_id AND k.mode = w.mode AND k.key = w.key
WHERE k.expires_at > now()
