-- Return the files that requests name, and move the deletion of each to `until` at least. Locks the early rows in the order of the ids;
-- `locked` has the newest version of each, which another request may have moved meanwhile. A row that is deleted meanwhile is not
-- returned: it is not moved, and its old time is too early. Uses the primary key.
WITH wanted AS (
    SELECT * FROM unnest(%(producers)s::bigint[], %(modes)s::smallint[], %(ids)s::uuid[]) AS w(producer_id, mode, id)
), early AS MATERIALIZED (
    SELECT a.id FROM attachment a JOIN wanted w USING (id, producer_id, mode) WHERE a.kept_until < %(until)s
), locked AS MATERIALIZED (
    SELECT a.id, a.kept_until FROM attachment a
    WHERE a.id = ANY(ARRAY(SELECT id FROM early))
    ORDER BY a.id
    FOR NO KEY UPDATE OF a
), moved AS (
    UPDATE attachment a SET kept_until = %(until)s FROM locked l WHERE a.id = l.id AND l.kept_until < %(until)s
)
SELECT a.producer_id, a.mode, a.id, a.type, a.size, encode(a.digest, 'hex') AS digest
FROM attachment a JOIN wanted w USING (id, producer_id, mode)
WHERE a.kept_until >= %(until)s OR a.id IN (SELECT id FROM locked)
