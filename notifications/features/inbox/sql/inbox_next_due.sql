-- The earliest expiry or end of a snooze of each recipient; NULL if there is none. Locks nothing. The first entry of inbox_item_due
-- for each recipient.
SELECT r.recipient_id, (
    SELECT i.due_at FROM inbox_item i
    WHERE i.recipient_id = r.recipient_id AND i.due_at IS NOT NULL
    ORDER BY i.due_at LIMIT 1) AS due_at
FROM unnest(%(recipients)s::bigint[]) AS r(recipient_id)
