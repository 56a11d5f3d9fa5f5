-- Return the deliveries of these notifications that have not left. `waiting` has the statuses. Locks nothing. Uses
-- the primary key.
SELECT d.id
FROM unnest(%(ids)s::uuid[]) AS n(id)
CROSS JOIN LATERAL (
    SELECT id FROM delivery
    WHERE id > n.id AND id <= last_delivery_of(n.id) AND status = ANY(%(waiting)s)
) d
