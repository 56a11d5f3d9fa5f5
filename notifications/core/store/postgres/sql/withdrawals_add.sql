-- Insert missing withdrawals with events, and return the new withdrawals. Locks only new rows; a concurrent insert of
-- the same delivery waits for the first one. Uses the primary key.
WITH added AS (
    INSERT INTO withdrawal (delivery_id, due_at, ends_at, failures)
    SELECT unnest(%(ids)s::uuid[]), %(now)s::timestamptz, %(ends_at)s::timestamptz, 0
    ON CONFLICT DO NOTHING
    RETURNING delivery_id
), told AS (
    INSERT INTO event (notification_id, delivery_id, reason, detail, at)
    SELECT notification_of(delivery_id), delivery_id, %(reason)s, '', now() FROM added
)
SELECT delivery_id FROM added
