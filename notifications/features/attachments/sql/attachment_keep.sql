-- Return the files that requests name, and move the deletion of each to `until` at least. Locks the moved rows in the order of the
-- ids. A row that is deleted meanwhile is not returned: it is not moved, and its old time is too early. Uses the primary key.
WITH wanted AS (
    SELECT * FROM unnest(%(producers)s::bigint[], %(modes)s::smallint[], %(ids)s::uuid[]) AS w(producer_id, mode, id)
), early AS MATERIALIZED (
    SELECT a.id FROM attachment a JOIN wanted w USING (id, producer_id, mode)
    WHERE a.kept_until < %(until)s
    ORDER BY a.id
    FOR NO KEY UPDATE OF a
), moved AS (
    UPDATE attachment a SET kept_until = %(until)s FROM early e WHERE a.id = e.id RETURNING a.id
)
SELECT a.producer_id, a.mode, a.id, a.type, a.size, encode(a.digest, 'hex') AS digest
FROM attachment a JOIN wanted w USING (id, producer_id, mode)
WHERE a.kept_until >= %(until)s OR a.id IN (SELECT id FROM moved)
