-- Return the next `limit` notifications after `position` in the order of the ids; `is_clear` marks those that store
-- one of the variables in `names` unencrypted. Locks nothing. Uses the primary key: the bounds prune partitions, and
-- LIMIT ends the scan.
SELECT id, COALESCE(template = ANY(%(versions)s::bigint[]) AND variables ?| %(names)s::text[], false) AS is_clear
FROM notification
WHERE id > %(position)s::uuid AND id < %(ceiling)s::uuid
ORDER BY id LIMIT %(limit)s
