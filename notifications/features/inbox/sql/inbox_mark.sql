-- Apply an action to items of a recipient with a locked head: to `ids`, or to up to `limit` items of `states`. Returns
-- the moves between states by category. An item already in the target state stays untouched. Seen and read items get a report, and
-- take the superseded items of their groups along. The texts of a deleted item are deleted. Locks the changed items. Uses the primary key or inbox_item_tab, and
-- inbox_item_member: one range for each group, because a join with 2,000 targets would read the whole table.
WITH target AS MATERIALIZED (
    SELECT i.id, i.category, i.state AS before, i.group_id
    FROM inbox_item i
    WHERE i.recipient_id = %(recipient)s::bigint AND %(ids)s::uuid[] IS NOT NULL AND i.id = ANY (%(ids)s::uuid[])
      AND i.removed_at IS NULL AND (%(category)s::text IS NULL OR i.category = %(category)s::text)
      AND i.added_version <= %(until_version)s::bigint
      AND CASE %(action)s::text
          WHEN 'seen' THEN i.seen_at IS NULL
          WHEN 'read' THEN i.read_at IS NULL
          WHEN 'unread' THEN i.read_at IS NOT NULL
          WHEN 'archive' THEN i.archived_at IS NULL
          WHEN 'unarchive' THEN i.archived_at IS NOT NULL
          WHEN 'snooze' THEN i.snoozed_until IS DISTINCT FROM %(until)s::timestamptz OR i.archived_at IS NOT NULL
          WHEN 'unsnooze' THEN i.snoozed_until IS NOT NULL
          ELSE true END
    UNION ALL (
    SELECT i.id, i.category, i.state, i.group_id
    FROM inbox_item i
    WHERE i.recipient_id = %(recipient)s::bigint AND i.state = ANY (%(states)s::smallint[]) AND i.state < 5
      AND (%(category)s::text IS NULL OR i.category = %(category)s::text)
      AND i.added_version <= %(until_version)s::bigint AND %(ids)s::uuid[] IS NULL
    LIMIT %(limit)s::bigint)
), changed AS (
    UPDATE inbox_item i
    SET version = %(version)s::bigint,
        seen_at = CASE WHEN %(action)s::text IN ('seen', 'read') THEN coalesce(i.seen_at, %(now)s::timestamptz) ELSE i.seen_at END,
        read_at = CASE %(action)s::text WHEN 'read' THEN coalesce(i.read_at, %(now)s::timestamptz) WHEN 'unread' THEN NULL
                       ELSE i.read_at END,
        archived_at = CASE %(action)s::text WHEN 'archive' THEN coalesce(i.archived_at, %(now)s::timestamptz)
                           WHEN 'unarchive' THEN NULL WHEN 'snooze' THEN NULL ELSE i.archived_at END,
        snoozed_until = CASE %(action)s::text WHEN 'snooze' THEN %(until)s::timestamptz WHEN 'unsnooze' THEN NULL
                             WHEN 'archive' THEN NULL ELSE i.snoozed_until END,
        removed_at = CASE WHEN %(action)s::text = 'delete' THEN %(now)s::timestamptz END,
        removal = CASE WHEN %(action)s::text = 'delete' THEN 'deleted' ELSE '' END,
        title = CASE WHEN %(action)s::text = 'delete' THEN '' ELSE i.title END,
        body = CASE WHEN %(action)s::text = 'delete' THEN '' ELSE i.body END,
        url = CASE WHEN %(action)s::text = 'delete' THEN '' ELSE i.url END,
        image_url = CASE WHEN %(action)s::text = 'delete' THEN '' ELSE i.image_url END,
        actions = CASE WHEN %(action)s::text = 'delete' THEN '[]' ELSE i.actions END,
        data = CASE WHEN %(action)s::text = 'delete' THEN '{}' ELSE i.data END
    FROM target t
    WHERE i.id = t.id
    RETURNING i.id, i.category, t.before, i.state AS after, i.group_id
), members AS (
    UPDATE inbox_item i
    SET seen_at = coalesce(i.seen_at, %(now)s::timestamptz),
        read_at = CASE WHEN %(action)s::text = 'read' THEN coalesce(i.read_at, %(now)s::timestamptz) ELSE i.read_at END
    WHERE i.id = ANY (ARRAY(
            SELECT m.id FROM (SELECT DISTINCT group_id FROM target WHERE group_id IS NOT NULL AND before < 5) t
            CROSS JOIN LATERAL (
                SELECT id FROM inbox_item
                WHERE group_id = t.group_id AND superseded_by IS NOT NULL AND removed_at IS NULL
                  AND (%(action)s::text = 'seen' AND seen_at IS NULL OR %(action)s::text = 'read' AND read_at IS NULL)
                OFFSET 0) m
            WHERE m.id NOT IN (SELECT id FROM target)))
    RETURNING i.id
), reported AS (
    INSERT INTO inbox_report (item_id, recipient_id, due_at)
    SELECT id, %(recipient)s::bigint, %(now)s::timestamptz
    FROM (SELECT id FROM changed UNION ALL SELECT id FROM members) each
    WHERE %(action)s::text IN ('seen', 'read')
    ON CONFLICT (item_id) DO UPDATE SET due_at = EXCLUDED.due_at
)
SELECT category, before, after, count(*)::int AS count, array_remove(array_agg(DISTINCT group_id), NULL) AS groups
FROM changed GROUP BY category, before, after
