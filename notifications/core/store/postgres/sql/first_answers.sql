-- Return the stored answers of idempotency keys that have not expired. The statement matches each key with each of
-- the producers and modes, so the result may have rows of other requests. Locks nothing. Uses the primary key in one
-- skip scan.
SELECT k.producer_id, k.mode, k.key, k.body_hash, k.response::text, k.packed_response
FROM idempotency_key k
WHERE k.producer_id = ANY(%(producer_ids)s::bigint[]) AND k.mode = ANY(%(modes)s::smallint[]) AND k.key = ANY(%(keys)s::text[])
  AND k.expires_at > now()
