-- Move the deletion of files of templates to `until` at least, and return the existing files. Locks the rows in the order of the ids until
-- the end of the transaction. Uses the primary key.
WITH locked AS MATERIALIZED (
    SELECT id, size, kept_until FROM attachment
    WHERE id = ANY(%(ids)s) AND producer_id IS NULL
    ORDER BY id
    FOR NO KEY UPDATE
), moved AS (
    UPDATE attachment a SET kept_until = %(until)s FROM locked l WHERE a.id = l.id AND l.kept_until < %(until)s
)
SELECT id, size FROM locked
