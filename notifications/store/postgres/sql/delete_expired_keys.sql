-- Idempotency keys that have ended. Skips those that a request has locked. Served by idempotency_key_expiry.
DELETE FROM idempotency_key WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM idempotency_key WHERE expires_at <= now() ORDER BY expires_at LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED))
