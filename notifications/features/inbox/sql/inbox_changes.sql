-- For many recipients: the head and up to `limit` items that have changed since a version; one row without an item if there are none.
-- Locks nothing. One range of inbox_item_changes for each recipient.
SELECT h.recipient_id, h.version AS head_version, h.oldest_version, h.unseen, h.unread, h.total, h.categories, h.next_change_at, i.state,
    i.id, i.notification_id, i.type, i.category, i.title, i.body, i.url, i.image_url, i.actions, i.data, i.collapse_key,
    i.group_size, i.created_at, i.expires_at, i.seen_at, i.read_at, i.archived_at, i.snoozed_until, i.added_version, i.version
FROM unnest(%(recipients)s::bigint[], %(versions)s::bigint[]) AS since(recipient_id, version)
JOIN inbox h ON h.recipient_id = since.recipient_id
LEFT JOIN LATERAL (
    SELECT * FROM inbox_item c
    WHERE c.recipient_id = since.recipient_id AND c.version > since.version AND since.version >= h.oldest_version
    ORDER BY c.version LIMIT %(limit)s::bigint) i ON true
