-- The heads of these lines are due now if only the line held them, and the next behind each soon looks by itself. A statement of its own
-- after line_note, so that it sees who else has left meanwhile. Locks in id order; served by ordered_line and the deliveries' primary key.
WITH front AS (
    SELECT o.delivery_id, o.place
    FROM unnest(%(keys)s::bigint[], %(channels)s::smallint[]) AS l(key_id, channel)
    CROSS JOIN LATERAL (
        SELECT first.delivery_id, row_number() OVER (ORDER BY first.id) AS place
        FROM (SELECT id, delivery_id FROM ordered_delivery
              WHERE key_id = l.key_id AND channel = l.channel ORDER BY id LIMIT 2) first
    ) o
), picked AS (
    SELECT d.id FROM delivery d
    WHERE d.id = ANY(ARRAY(SELECT delivery_id FROM front))
      AND d.status = %(scheduled)s AND d.reason = 'order'
    ORDER BY d.id
    FOR UPDATE
)
UPDATE delivery d
SET due_at = CASE WHEN f.place = 1 THEN now() ELSE least(d.due_at, now() + %(soon)s::interval) END
FROM front f
WHERE d.id = f.delivery_id AND d.id = ANY(ARRAY(SELECT id FROM picked))
RETURNING d.id, f.place
