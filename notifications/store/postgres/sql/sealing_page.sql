-- The next notifications after a position, in the order of ids, and which of them hold one of these variables in the clear.
-- Locks nothing. Served by the primary key: the bounds leave all other partitions out, and the limit ends the scan.
SELECT id, COALESCE(template = ANY(%(versions)s::bigint[]) AND variables ?| %(names)s::text[], false) AS is_clear
FROM notification
WHERE id > %(position)s::uuid AND id < %(ceiling)s::uuid
ORDER BY id LIMIT %(limit)s
