-- Places that nobody asked about: their deliveries are settled, or dropped with their day. Served by the primary keys.
WITH past AS (
    SELECT o.id FROM (SELECT id, delivery_id FROM ordered_delivery ORDER BY id LIMIT %(limit)s) o
    LEFT JOIN LATERAL (SELECT status FROM delivery WHERE id = o.delivery_id OFFSET 0) d ON true
    WHERE d.status IS NULL OR d.status <> ALL(%(open)s)
)
DELETE FROM ordered_delivery o USING past p WHERE o.id = p.id
