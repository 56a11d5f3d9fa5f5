-- Items of a recipient by id, except removed items. Locks nothing. Uses the primary key.
SELECT i.id, i.notification_id, i.type, i.category, i.title, i.body, i.url, i.image_url, i.actions, i.data, i.collapse_key,
    i.group_size, i.created_at, i.expires_at, i.seen_at, i.read_at, i.archived_at, i.snoozed_until, i.added_version, i.version
FROM inbox_item i
WHERE i.id = ANY (%(ids)s::uuid[]) AND i.recipient_id = %(recipient)s::bigint AND i.removed_at IS NULL
