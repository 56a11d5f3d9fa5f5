-- After a claim: who of these is settled leaves its line (who is unknown, with an event), and since when the others are held by something
-- other than the line. Served by the unique delivery_id and the deliveries' primary key.
WITH mine AS (
    SELECT o.id, o.delivery_id, d.status, d.reason
    FROM ordered_delivery o
    CROSS JOIN LATERAL (SELECT status, reason FROM delivery WHERE id = o.delivery_id OFFSET 0) d
    WHERE o.delivery_id = ANY(%(ids)s)
), gone AS (
    DELETE FROM ordered_delivery o USING mine m
    WHERE o.id = m.id AND m.status <> ALL(%(open)s)
    RETURNING o.delivery_id, m.status
), told AS (
    INSERT INTO event (notification_id, delivery_id, reason, detail, at)
    SELECT notification_of(delivery_id), delivery_id, 'order_let_go',
           'those behind it go first', now()
    FROM gone WHERE status = %(unknown)s
)
UPDATE ordered_delivery o
SET held_since = CASE WHEN m.status = %(scheduled)s THEN coalesce(o.held_since, now()) END
FROM mine m
WHERE o.id = m.id AND m.status = ANY(%(open)s) AND m.reason <> 'order'
  AND (o.held_since IS NOT NULL OR m.status = %(scheduled)s)
