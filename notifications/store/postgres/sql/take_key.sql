-- Take an idempotency key, new or past its time, with an answer still to come; no row: it is in use.
-- Waits (lock_timeout) for another transaction that has taken it. Served by the primary key.
INSERT INTO idempotency_key AS k (producer_id, mode, key, body_hash, response, expires_at)
VALUES (%(producer_id)s, %(mode)s, %(name)s, %(body_hash)s, 'null'::jsonb, now() + %(lasts)s)
ON CONFLICT (producer_id, mode, key) DO UPDATE
    SET body_hash = excluded.body_hash, response = excluded.response, expires_at = excluded.expires_at
    WHERE k.expires_at <= now()
