-- Return the items of notifications that their recipient has not read. `low` and `high` are the range of the ids of a
-- notification's deliveries. Locks nothing. Uses the primary key of inbox_item.
SELECT i.id
FROM unnest(%(lows)s::uuid[], %(highs)s::uuid[]) AS w(low, high)
JOIN inbox_item i ON i.id > w.low AND i.id <= w.high
WHERE i.recipient_id = %(recipient)s AND i.read_at IS NULL AND i.removed_at IS NULL
