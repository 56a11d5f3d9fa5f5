-- Return the push deliveries of the notifications of read inbox items, except deliveries that ended without a call of a
-- provider. `low` and `high` are the range of the ids of a notification's deliveries; `waiting` has the statuses without
-- a worker. Locks nothing. Uses the primary keys; `floor` and `ceiling` limit the partitions.
SELECT w.item_id, d.id, d.provider, d.attempts > 0 AS was_called
FROM unnest(%(items)s::uuid[], %(lows)s::uuid[], %(highs)s::uuid[], %(recipients)s::bigint[])
    AS w(item_id, low, high, recipient_id)
JOIN delivery d ON d.id > w.low AND d.id <= w.high AND d.recipient_id = w.recipient_id
WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid AND d.channel = %(push)s
    AND (d.attempts > 0 OR d.status = ANY(%(waiting)s))
