-- Return the deliveries of some notifications in the order of the ids. Locks nothing. Uses the primary key; each notification
-- reads one partition.
SELECT d.*
FROM unnest(%(notifications)s::uuid[]) AS n (id)
CROSS JOIN LATERAL (
  SELECT * FROM delivery WHERE delivery.id > n.id AND delivery.id <= last_delivery_of(n.id) OFFSET 0
) d
ORDER BY d.id
