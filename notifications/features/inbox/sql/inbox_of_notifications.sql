-- The recipients of the items of notifications. Locks nothing. One range of the primary key for each notification.
SELECT DISTINCT i.recipient_id
FROM unnest(%(first)s::uuid[], %(last)s::uuid[]) AS n(first, last)
JOIN inbox_item i ON i.id BETWEEN n.first AND n.last
