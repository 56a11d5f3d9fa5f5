-- Insert an idempotency key that is new or has expired; the answer follows with keep_answer. Affects no row when the
-- key is in use. Waits (lock_timeout) for a transaction that inserts the same key. Uses the primary key.
INSERT INTO idempotency_key AS k (producer_id, mode, key, body_hash, response, expires_at)
VALUES (%(producer_id)s, %(mode)s, %(name)s, %(body_hash)s, 'null'::jsonb, now() + %(lasts)s)
ON CONFLICT (producer_id, mode, key) DO UPDATE
    SET body_hash = excluded.body_hash, response = excluded.response, packed_response = NULL,
        expires_at = excluded.expires_at
    WHERE k.expires_at <= now()
