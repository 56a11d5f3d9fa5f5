-- The deliveries of these notifications that have not left. Locks nothing; served by the primary key.
SELECT d.id
FROM unnest(%(ids)s::uuid[]) AS n(id)
CROSS JOIN LATERAL (
    SELECT id FROM delivery
    WHERE id > n.id AND id <= last_delivery_of(n.id) AND status = ANY(%(waiting)s)
) d
