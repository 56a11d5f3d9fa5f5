-- The answers that idempotency keys have, while they are kept: of these names for any of these producers and modes, so a few may
-- be another's. Locks nothing; served by the primary key, in one scan that skips from key to key.
SELECT k.producer_id, k.mode, k.key, k.body_hash, k.response::text
FROM idempotency_key k
WHERE k.producer_id = ANY(%(producer_ids)s::bigint[]) AND k.mode = ANY(%(modes)s::smallint[]) AND k.key = ANY(%(keys)s::text[])
  AND k.expires_at > now()
