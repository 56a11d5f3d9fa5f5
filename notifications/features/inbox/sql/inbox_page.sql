-- The head of a recipient with up to `limit` items before the cursor (version of the arrival, id) in up to three states, the newest
-- arrival first. One row without an item for an
-- empty page. Locks nothing. Merges three ranges of inbox_item_tab, so the age of the data and the items of other states cost
-- nothing. Each range has an order and a limit of its own; without them Postgres reads and sorts all items of the recipient.
SELECT h.version AS head_version, h.unseen, h.unread, h.total, h.categories, h.next_change_at,
    i.id, i.notification_id, i.type, i.category, i.title, i.body, i.url, i.image_url, i.actions, i.data, i.collapse_key,
    i.group_size, i.created_at, i.expires_at, i.seen_at, i.read_at, i.archived_at, i.snoozed_until, i.added_version, i.version
FROM inbox h
LEFT JOIN LATERAL (
    SELECT * FROM (
        (SELECT * FROM inbox_item
         WHERE recipient_id = %(recipient)s::bigint AND state = %(state_a)s::smallint AND state < 5
           AND (added_version, id) < (%(cursor_version)s::bigint, %(cursor)s::uuid)
         ORDER BY added_version DESC, id DESC LIMIT %(limit)s::bigint)
        UNION ALL
        (SELECT * FROM inbox_item
         WHERE recipient_id = %(recipient)s::bigint AND state = %(state_b)s::smallint AND state < 5
           AND (added_version, id) < (%(cursor_version)s::bigint, %(cursor)s::uuid)
         ORDER BY added_version DESC, id DESC LIMIT %(limit)s::bigint)
        UNION ALL
        (SELECT * FROM inbox_item
         WHERE recipient_id = %(recipient)s::bigint AND state = %(state_c)s::smallint AND state < 5
           AND (added_version, id) < (%(cursor_version)s::bigint, %(cursor)s::uuid)
         ORDER BY added_version DESC, id DESC LIMIT %(limit)s::bigint)
    ) ranges
    ORDER BY added_version DESC, id DESC LIMIT %(limit)s::bigint) i ON true
WHERE h.recipient_id = %(recipient)s::bigint
ORDER BY i.added_version DESC, i.id DESC
