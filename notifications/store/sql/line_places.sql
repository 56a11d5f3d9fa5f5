-- How many stand before each of these in its line. The fronts of the lines are looked at first: who is settled leaves, and who lets go
-- (unknown, or held for long) leaves with an event. Two callers that see the same one remove it once. Served by the unique delivery_id,
-- ordered_line, and the deliveries' primary key (a LATERAL, so that each id asks its own day's partition only).
WITH mine AS (
    SELECT id, key_id, channel, delivery_id FROM ordered_delivery WHERE delivery_id = ANY(%(ids)s)
), front AS MATERIALIZED (
    SELECT o.id, o.key_id, o.channel, o.delivery_id,
           d.status IS NULL OR d.status <> ALL(%(open)s) AS is_settled,
           d.status = %(unknown)s
               OR (d.status = %(scheduled)s AND d.reason <> 'order' AND d.due_at > now()
                   AND (d.due_at > now() + %(patience)s::interval
                        OR o.held_since < now() - %(patience)s::interval)) AS lets_go
    FROM (SELECT DISTINCT key_id, channel FROM mine) l
    CROSS JOIN LATERAL (
        SELECT id, key_id, channel, delivery_id, held_since FROM ordered_delivery o
        WHERE o.key_id = l.key_id AND o.channel = l.channel
        ORDER BY o.id LIMIT %(depth)s
    ) o
    LEFT JOIN LATERAL (
        SELECT status, reason, due_at FROM delivery WHERE id = o.delivery_id OFFSET 0
    ) d ON true
), gone AS (
    DELETE FROM ordered_delivery o USING front f
    WHERE o.id = f.id AND (f.is_settled OR f.lets_go)
    RETURNING o.delivery_id, f.lets_go
), told AS (
    INSERT INTO event (notification_id, delivery_id, reason, detail, at)
    SELECT notification_of(delivery_id), delivery_id, 'order_let_go',
           'those behind it go first', now()
    FROM gone WHERE lets_go
)
SELECT m.delivery_id, m.key_id, m.channel,
       CASE WHEN m.id > (SELECT max(f.id) FROM front f
                         WHERE f.key_id = m.key_id AND f.channel = m.channel)
            THEN %(depth)s
            ELSE (SELECT count(*) FROM front f
                  WHERE f.key_id = m.key_id AND f.channel = m.channel AND f.id < m.id
                    AND NOT (f.is_settled OR coalesce(f.lets_go, false))) END AS ahead
FROM mine m
