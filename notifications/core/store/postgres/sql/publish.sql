-- Choose up to `room` due queued rows of one lane of P0 or P1 for a publish. Moves due_at to the time of the next
-- publish. Returns the ids in the order of the former due_at. Skips locked rows, which a worker has claimed. Uses delivery_due. The UPDATE takes the ids as an array: for a join the planner expects a
-- tenth of the table and reads the whole day.
WITH picked AS (
    SELECT d.id, d.due_at FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = %(queued)s AND d.mode = %(mode)s AND d.priority = %(priority)s
      AND d.channel = %(channel)s AND d.due_at <= now()
    ORDER BY d.due_at
    LIMIT %(room)s
    FOR UPDATE SKIP LOCKED
), moved AS (
    UPDATE delivery d
    SET publishes = least(d.publishes + 1, 20),
        published_at = now(),
        due_at = now() + (ARRAY[2, 10, 60, 300])[least(d.publishes + 1, 4)] * interval '1 second'
    WHERE d.id = ANY(ARRAY(SELECT id FROM picked))
      AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
    RETURNING d.id, d.claims, d.publishes, d.reason, d.published_at
)
SELECT moved.id, moved.claims, moved.publishes, moved.reason, moved.published_at
FROM moved JOIN picked USING (id) ORDER BY picked.due_at
