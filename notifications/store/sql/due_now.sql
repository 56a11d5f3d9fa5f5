-- A publish failed: these are due at once. Served by the primary key; locks in id order.
WITH picked AS (
    SELECT id FROM delivery WHERE id = ANY(%(ids)s) AND status = %(queued)s ORDER BY id FOR UPDATE SKIP LOCKED
)
UPDATE delivery d SET due_at = now() FROM picked p WHERE d.id = p.id AND d.id = ANY(%(ids)s)
