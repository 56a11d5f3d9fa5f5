-- Set the time of the last client receipt of contacts, unless the time is less than a day old. Skips a locked
-- contact: a later receipt sets the time. Uses the primary key.
UPDATE notifications_contact c
SET client_receipt_at = now()
FROM (
    SELECT id FROM notifications_contact
    WHERE id = ANY(%(ids)s::bigint[])
      AND (client_receipt_at IS NULL OR client_receipt_at < now() - interval '1 day')
    ORDER BY id
    FOR UPDATE SKIP LOCKED
) due
WHERE c.id = due.id
