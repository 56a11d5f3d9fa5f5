-- Delete those of these idempotency keys that have expired, so that a request may use the keys again. Locks in the
-- order of the keys. Uses the primary key.
WITH past AS (
    SELECT k.producer_id, k.mode, k.key
    FROM unnest(%(producer_ids)s::bigint[], %(modes)s::smallint[], %(keys)s::text[]) AS w(producer_id, mode, key)
        JOIN idempotency_key k ON k.producer_id = w.producer_id AND k.mode = w.mode AND k.key = w.key
    WHERE k.expires_at <= now()
    ORDER BY k.producer_id, k.mode, k.key
    FOR UPDATE OF k
)
DELETE FROM idempotency_key k USING past p
WHERE k.producer_id = p.producer_id AND k.mode = p.mode AND k.key = p.key
