-- After the removal of items of groups: the newest remaining item represents the group, in the tab of the item before, with the
-- number of remaining items. Returns the moves between states by recipient and category. After the recipient deletes the item of a group the group
-- stays away. The caller has locked the heads. Locks the changed items. Uses inbox_item_member.
WITH shown AS (
    SELECT i.id, i.recipient_id, i.group_id, i.archived_at, i.snoozed_until, h.version + 1 AS version
    FROM inbox_item i JOIN inbox h ON h.recipient_id = i.recipient_id
    WHERE i.group_id = ANY (%(groups)s::uuid[]) AND i.superseded_by IS NULL AND i.removal <> 'deleted'
      AND i.recipient_id = ANY (%(recipients)s::bigint[])
), newest AS MATERIALIZED (
    SELECT DISTINCT ON (s.group_id) s.*, m.id AS newest_id, m.state AS before,
           count(*) OVER (PARTITION BY s.group_id)::int AS size
    FROM shown s JOIN inbox_item m ON m.group_id = s.group_id
    WHERE m.removed_at IS NULL
    ORDER BY s.group_id, m.superseded_by IS NULL DESC, m.added_version DESC, m.id DESC
), retired AS (
    UPDATE inbox_item i SET superseded_by = n.newest_id FROM newest n WHERE i.id = n.id AND n.id <> n.newest_id
), changed AS (
    UPDATE inbox_item i
    SET superseded_by = NULL, group_size = n.size, version = n.version, archived_at = n.archived_at, snoozed_until = n.snoozed_until
    FROM newest n
    WHERE i.id = n.newest_id AND (i.superseded_by IS NOT NULL OR i.group_size <> n.size)
    RETURNING i.recipient_id, i.category, n.before, i.state AS after
)
SELECT recipient_id, category, before, after, count(*)::int AS count FROM changed GROUP BY recipient_id, category, before, after
