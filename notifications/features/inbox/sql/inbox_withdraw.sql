-- Remove the items of notifications, and return the moves between states by recipient and category. The caller has locked the heads.
-- The texts of a removed item are deleted. Locks the changed items. One range of the primary key for each notification.
WITH target AS MATERIALIZED (
    SELECT i.id, i.state AS before, h.version + 1 AS version
    FROM unnest(%(first)s::uuid[], %(last)s::uuid[]) AS n(first, last)
    JOIN inbox_item i ON i.id BETWEEN n.first AND n.last
    JOIN inbox h ON h.recipient_id = i.recipient_id
    WHERE i.removed_at IS NULL AND i.recipient_id = ANY (%(recipients)s::bigint[])
), changed AS (
    UPDATE inbox_item i
    SET version = t.version, removed_at = %(now)s::timestamptz, removal = 'withdrawn', title = '', body = '', url = '',
        image_url = '', actions = '[]', data = '{}'
    FROM target t
    WHERE i.id = t.id
    RETURNING i.id, i.recipient_id, i.category, t.before, i.state AS after, i.group_id
)
SELECT recipient_id, category, before, after, count(*)::int AS count, array_agg(id) AS ids,
       array_remove(array_agg(DISTINCT group_id), NULL) AS groups
FROM changed GROUP BY recipient_id, category, before, after
