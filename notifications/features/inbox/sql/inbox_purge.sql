-- Delete items by id, and return them in groups by recipient, category and state. The caller has locked the heads. Uses the primary
-- key.
WITH gone AS (
    DELETE FROM inbox_item
    WHERE id = ANY (%(ids)s::uuid[]) AND recipient_id = ANY (%(recipients)s::bigint[])
    RETURNING id, recipient_id, category, state, version, group_id
), reports AS (
    DELETE FROM inbox_report WHERE item_id IN (SELECT id FROM gone)
)
SELECT recipient_id, category, state AS before, 5::smallint AS after, count(*)::int AS count, max(version) AS version,
       array_remove(array_agg(DISTINCT group_id), NULL) AS groups
FROM gone GROUP BY recipient_id, category, state
