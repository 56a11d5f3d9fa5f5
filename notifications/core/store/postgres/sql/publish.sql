-- Note the publish of rows of P0 or P1 that the transaction has locked: moves due_at to the time of the next publish.
-- Returns the time of the publish for each row. Uses the primary key.
UPDATE delivery d
SET publishes = least(d.publishes + 1, 20),
    published_at = now(),
    due_at = now() + (ARRAY[2, 10, 60, 300])[least(d.publishes + 1, 4)] * interval '1 second'
WHERE d.id = ANY(%(ids)s) AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
RETURNING d.published_at
