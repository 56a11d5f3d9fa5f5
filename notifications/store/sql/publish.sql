-- What is due to go to the broker, lane by lane: moves due_at to when the id would be published again, and returns the ids. Skips
-- locked rows (a worker has them); served by delivery_due, bounded below by the oldest day that has an open row.
WITH lane AS (
    SELECT * FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[],
                         %(room)s::int[])
        AS l(mode, priority, channel, room)
), picked AS (
    SELECT due.id
    FROM lane l CROSS JOIN LATERAL (
        SELECT d.id FROM delivery d
        WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
          AND d.status = %(queued)s AND d.mode = l.mode AND d.priority = l.priority
          AND d.channel = l.channel AND d.due_at <= now()
        ORDER BY d.due_at
        LIMIT l.room
        FOR UPDATE SKIP LOCKED
    ) due
)
UPDATE delivery d
SET publishes = least(d.publishes + 1, 20),
    published_at = now(),
    due_at = now() + CASE
        WHEN d.priority <= 1 THEN (ARRAY[2, 10, 60, 300])[least(d.publishes + 1, 4)] * interval '1 second'
        ELSE 300 * power(2, least(d.publishes, 6)) * interval '1 second' END
FROM picked p
WHERE d.id = p.id AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
RETURNING d.id, d.mode, d.priority, d.channel, d.claims
