-- Lock notifications in the order of the ids, and return those that another transaction has locked: a sweep leaves
-- their deliveries due, so that a frozen transaction blocks no sweep. Uses the primary key; `floor` and `ceiling` prune
-- partitions.
WITH free AS MATERIALIZED (
    SELECT id FROM notification
    WHERE id = ANY(%(ids)s) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
    ORDER BY id
    FOR UPDATE SKIP LOCKED
)
SELECT id FROM notification
WHERE id = ANY(%(ids)s) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
  AND id NOT IN (SELECT id FROM free)
