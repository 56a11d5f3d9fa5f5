-- A publish failed: these are due at once. Served by the primary key; locks in id order, skips locked rows.
WITH picked AS (
    SELECT id FROM delivery
    WHERE id = ANY(%(ids)s) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid AND status = %(queued)s
    ORDER BY id FOR UPDATE SKIP LOCKED
)
UPDATE delivery d SET due_at = now()
WHERE d.id = ANY(ARRAY(SELECT id FROM picked)) AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
