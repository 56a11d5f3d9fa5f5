-- Make queued deliveries due at once after a failed publish. Locks in the order of the ids and skips locked rows.
-- Uses the primary key.
WITH picked AS (
    SELECT id FROM delivery
    WHERE id = ANY(%(ids)s) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid AND status = %(queued)s
    ORDER BY id FOR UPDATE SKIP LOCKED
)
UPDATE delivery d SET due_at = now()
WHERE d.id = ANY(ARRAY(SELECT id FROM picked)) AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
