-- Return and lock up to `limit` unhandled custom events, oldest first. Skips locked rows, and rows that wait after an
-- exception, so that these leave room for the rows behind. Uses custom_event_unhandled.
SELECT id, producer_id, mode, recipient_id, user_id, name, properties, received_at
FROM custom_event
WHERE NOT handled AND (due_at IS NULL OR due_at <= now())
ORDER BY id
LIMIT %(limit)s
FOR NO KEY UPDATE SKIP LOCKED
