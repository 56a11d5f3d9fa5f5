-- Store that recipients get files: the first recipient becomes the recipient of a file, and a second one makes the file shared.
-- Returns the number of existing files. Keeps the files from being deleted until the end of the transaction, and locks those that
-- are not shared, in the order of the ids. Parameters: `ids` and `recipients` of equal length. Uses the primary key.
WITH used AS (
    SELECT id, min(recipient_id) AS recipient_id, count(DISTINCT recipient_id) AS number
    FROM unnest(%(ids)s::uuid[], %(recipients)s::bigint[]) AS u(id, recipient_id)
    GROUP BY id
), present AS MATERIALIZED (
    SELECT id FROM attachment WHERE id = ANY(%(ids)s) ORDER BY id FOR KEY SHARE
), personal AS MATERIALIZED (
    SELECT id, recipient_id FROM attachment
    WHERE id = ANY(ARRAY(SELECT id FROM present)) AND NOT is_shared
    ORDER BY id
    FOR NO KEY UPDATE
), linked AS (
    UPDATE attachment a
    SET recipient_id = CASE WHEN u.number = 1 AND p.recipient_id IS NULL THEN u.recipient_id END,
        is_shared = u.number > 1 OR p.recipient_id IS NOT NULL
    FROM personal p JOIN used u USING (id)
    WHERE a.id = p.id AND (u.number > 1 OR p.recipient_id IS DISTINCT FROM u.recipient_id)
)
SELECT count(*) AS count FROM present
