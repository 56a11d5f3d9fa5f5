-- Heads of recipients. Locks nothing. Uses the primary key.
SELECT recipient_id, version, unseen, unread, total, categories, next_change_at
FROM inbox
WHERE recipient_id = ANY (%(recipients)s::bigint[])
