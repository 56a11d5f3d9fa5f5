-- Store the id of an inbound message; affects no row when the id is stored already. Waits for a transaction that
-- inserts the same id. Uses the primary key.
INSERT INTO received_text (provider, message_id, received_at)
VALUES (%(provider)s, %(message_id)s, now())
ON CONFLICT DO NOTHING
