-- The last delivery of each notification: the end of a range of the primary key.
SELECT n.id, (
    SELECT d.id FROM delivery d
    WHERE d.id > n.id AND d.id <= last_delivery_of(n.id) ORDER BY d.id DESC LIMIT 1
) AS last
FROM unnest(%(ids)s::uuid[]) AS n(id)
