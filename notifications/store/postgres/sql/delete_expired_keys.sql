-- Delete up to `limit` expired idempotency keys. Skips keys that a request has locked. Uses idempotency_key_expiry.
DELETE FROM idempotency_key WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM idempotency_key WHERE expires_at <= now() ORDER BY expires_at LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED))
