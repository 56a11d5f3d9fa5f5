-- Lock heads in the order of recipients until the transaction ends, and return the heads. Uses the primary key.
SELECT recipient_id, version, oldest_version, unseen, unread, total, categories::text, next_change_at
FROM inbox
WHERE recipient_id = ANY (%(recipients)s::bigint[])
ORDER BY recipient_id
FOR UPDATE
