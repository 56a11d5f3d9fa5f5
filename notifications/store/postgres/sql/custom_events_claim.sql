-- Return and lock up to `limit` unhandled custom events, oldest first. Skips locked rows. Uses custom_event_unhandled.
SELECT id, producer_id, mode, recipient_id, user_id, name, properties, received_at
FROM custom_event
WHERE NOT handled
ORDER BY id
LIMIT %(limit)s
FOR NO KEY UPDATE SKIP LOCKED
