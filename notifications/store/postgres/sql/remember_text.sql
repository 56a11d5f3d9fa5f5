-- The id of a text, once. Waits for another transaction that stores the same id.
INSERT INTO received_text (provider, message_id, received_at)
VALUES (%(provider)s, %(message_id)s, now())
ON CONFLICT DO NOTHING
