-- The times of the items of claimed reports; an item that was deleted by age or erasure is missing. Locks nothing. Uses the primary key.
SELECT id, notification_id, seen_at, read_at FROM inbox_item WHERE id = ANY (%(ids)s::uuid[])
