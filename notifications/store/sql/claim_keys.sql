-- The exact check of idempotency keys: a key is won by one caller. Locks in key order (the caller sorts); a key that another
-- transaction is inserting is waited for, up to lock_timeout.
INSERT INTO idempotency_key (producer_id, mode, key, body_hash, response, expires_at)
SELECT %(producer_id)s, %(mode)s, w.key, w.body_hash, w.response::jsonb, now() + %(lasts)s::interval
FROM unnest(%(keys)s::text[], %(hashes)s::bytea[], %(responses)s::text[]) AS w(key, body_hash, response)
ON CONFLICT (producer_id, mode, key) DO UPDATE
    SET body_hash = excluded.body_hash, response = excluded.response, expires_at = excluded.expires_at
    WHERE idempotency_key.expires_at <= now()
RETURNING key
