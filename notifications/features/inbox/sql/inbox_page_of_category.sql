-- As inbox_page.sql, for the items of a category: the index filters by category without reading the items.
SELECT h.version AS head_version, h.unseen, h.unread, h.total, h.categories, h.next_change_at,
    i.id, i.notification_id, i.type, i.category, i.title, i.body, i.url, i.image_url, i.actions, i.data, i.collapse_key,
    i.group_size, i.created_at, i.expires_at, i.seen_at, i.read_at, i.archived_at, i.snoozed_until, i.added_version, i.version
FROM inbox h
LEFT JOIN LATERAL (
    SELECT * FROM (
        (SELECT * FROM inbox_item
         WHERE recipient_id = %(recipient)s::bigint AND state = %(state_a)s::smallint AND state < 5
           AND (added_version, id) < (%(cursor_version)s::bigint, %(cursor)s::uuid) AND category = %(category)s::text
         ORDER BY added_version DESC, id DESC LIMIT %(limit)s::bigint)
        UNION ALL
        (SELECT * FROM inbox_item
         WHERE recipient_id = %(recipient)s::bigint AND state = %(state_b)s::smallint AND state < 5
           AND (added_version, id) < (%(cursor_version)s::bigint, %(cursor)s::uuid) AND category = %(category)s::text
         ORDER BY added_version DESC, id DESC LIMIT %(limit)s::bigint)
        UNION ALL
        (SELECT * FROM inbox_item
         WHERE recipient_id = %(recipient)s::bigint AND state = %(state_c)s::smallint AND state < 5
           AND (added_version, id) < (%(cursor_version)s::bigint, %(cursor)s::uuid) AND category = %(category)s::text
         ORDER BY added_version DESC, id DESC LIMIT %(limit)s::bigint)
    ) ranges
    ORDER BY added_version DESC, id DESC LIMIT %(limit)s::bigint) i ON true
WHERE h.recipient_id = %(recipient)s::bigint
ORDER BY i.added_version DESC, i.id DESC
