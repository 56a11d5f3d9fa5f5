-- Remove up to `limit` expired items of each recipient and end the snoozes that are over, and return the moves between states by
-- recipient and category. The caller has locked the heads. An item is unseen and unread again at the end of its snooze. The texts of
-- a removed item are deleted. Locks the changed items. Uses inbox_item_due.
WITH due AS MATERIALIZED (
    SELECT i.id, i.state AS before, h.version + 1 AS version,
           coalesce(i.expires_at <= %(now)s::timestamptz, false) AS expires
    FROM inbox h
    CROSS JOIN LATERAL (
        SELECT * FROM inbox_item d
        WHERE d.recipient_id = h.recipient_id AND d.due_at <= %(now)s::timestamptz
        ORDER BY d.due_at LIMIT %(limit)s::bigint) i
    WHERE h.recipient_id = ANY (%(recipients)s::bigint[])
), changed AS (
    UPDATE inbox_item i
    SET version = d.version, snoozed_until = NULL,
        added_version = CASE WHEN d.expires THEN i.added_version ELSE d.version END,
        seen_at = CASE WHEN d.expires THEN i.seen_at END, read_at = CASE WHEN d.expires THEN i.read_at END,
        removed_at = CASE WHEN d.expires THEN %(now)s::timestamptz END, removal = CASE WHEN d.expires THEN 'expired' ELSE '' END,
        title = CASE WHEN d.expires THEN '' ELSE i.title END, body = CASE WHEN d.expires THEN '' ELSE i.body END,
        url = CASE WHEN d.expires THEN '' ELSE i.url END, image_url = CASE WHEN d.expires THEN '' ELSE i.image_url END,
        actions = CASE WHEN d.expires THEN '[]' ELSE i.actions END, data = CASE WHEN d.expires THEN '{}' ELSE i.data END
    FROM due d
    WHERE i.id = d.id
    RETURNING i.recipient_id, i.category, d.before, i.state AS after, CASE WHEN d.expires THEN i.group_id END AS group_id
)
SELECT recipient_id, category, before, after, count(*)::int AS count, array_remove(array_agg(DISTINCT group_id), NULL) AS groups
FROM changed GROUP BY recipient_id, category, before, after
