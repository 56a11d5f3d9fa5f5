-- As inbox_page.sql, for the groups of a collapse key in a tab, with the superseded items. Uses inbox_item_group and
-- inbox_item_member.
SELECT h.version AS head_version, h.unseen, h.unread, h.total, h.categories, h.next_change_at,
    i.id, i.notification_id, i.type, i.category, i.title, i.body, i.url, i.image_url, i.actions, i.data, i.collapse_key,
    i.group_size, i.created_at, i.expires_at, i.seen_at, i.read_at, i.archived_at, i.snoozed_until, i.added_version, i.version
FROM inbox h
LEFT JOIN LATERAL (
    SELECT m.* FROM inbox_item m
    WHERE m.group_id = ANY (ARRAY(
            SELECT g.group_id FROM inbox_item g
            WHERE g.recipient_id = %(recipient)s::bigint AND g.collapse_key = %(group)s::text AND g.collapse_key <> ''
              AND g.superseded_by IS NULL AND g.removed_at IS NULL
              AND g.state IN (%(state_a)s::smallint, %(state_b)s::smallint, %(state_c)s::smallint)))
      AND m.recipient_id = %(recipient)s::bigint AND m.removed_at IS NULL
      AND (m.added_version, m.id) < (%(cursor_version)s::bigint, %(cursor)s::uuid)
    ORDER BY m.added_version DESC, m.id DESC LIMIT %(limit)s::bigint) i ON true
WHERE h.recipient_id = %(recipient)s::bigint
ORDER BY i.added_version DESC, i.id DESC
