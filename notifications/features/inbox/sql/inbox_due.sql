-- Recipients with an item that expires or a snooze that ends, longest due first. Locks nothing. Uses inbox_next_change.
SELECT recipient_id FROM inbox
WHERE next_change_at <= %(now)s::timestamptz
ORDER BY next_change_at LIMIT %(limit)s::bigint
