-- Delete up to `limit` items of a recipient, and return the number. With the app of the inbox the caller has locked the
-- head. Uses inbox_item_changes.
WITH gone AS (
    DELETE FROM inbox_item
    WHERE id = ANY (ARRAY(SELECT id FROM inbox_item WHERE recipient_id = %(recipient)s::bigint LIMIT %(limit)s::bigint))
    RETURNING id
), reports AS (
    DELETE FROM inbox_report WHERE item_id IN (SELECT id FROM gone)
)
SELECT count(*)::int AS count FROM gone
