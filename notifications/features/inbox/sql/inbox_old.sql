-- Up to `limit` items between two ids, oldest first. Locks nothing. A range at the start of the primary key.
SELECT id, recipient_id, created_at FROM inbox_item
WHERE id > %(after)s::uuid AND id < %(ceiling)s::uuid
ORDER BY id LIMIT %(limit)s::bigint
