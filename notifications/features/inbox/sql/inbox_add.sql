-- Insert the items that do not exist, and return the new ids and the moves between states by recipient and category. The caller has
-- locked the heads. An item supersedes the present item of the collapse key: locks the present item of each key. Uses the
-- primary key and inbox_item_group.
WITH incoming AS MATERIALIZED (
    SELECT n.*, h.version + 1 AS version
    FROM unnest(%(ids)s::uuid[], %(recipients)s::bigint[], %(notifications)s::uuid[], %(types)s::text[], %(categories)s::text[],
                %(titles)s::text[], %(bodies)s::text[], %(urls)s::text[], %(images)s::text[], %(actions)s::text[], %(data)s::text[],
                %(keys)s::text[], %(created)s::timestamptz[], %(expires)s::timestamptz[])
         AS n(id, recipient_id, notification_id, type, category, title, body, url, image_url, actions, data, collapse_key, created_at,
              expires_at)
    JOIN inbox h ON h.recipient_id = n.recipient_id
    WHERE NOT EXISTS (SELECT 1 FROM inbox_item i WHERE i.id = n.id)
), present AS MATERIALIZED (
    SELECT i.id, i.recipient_id, i.collapse_key, i.category, i.group_id, i.group_size, i.state
    FROM (SELECT DISTINCT recipient_id, collapse_key FROM incoming WHERE collapse_key <> '') k
    CROSS JOIN LATERAL (
        SELECT * FROM inbox_item i
        WHERE i.recipient_id = k.recipient_id AND i.collapse_key = k.collapse_key AND i.collapse_key <> ''
          AND i.superseded_by IS NULL AND i.removed_at IS NULL AND i.archived_at IS NULL
        ORDER BY i.added_version DESC, i.id DESC LIMIT 1) i
), grouped AS (
    SELECT n.id, coalesce(p.group_id, first_value(n.id) OVER oldest) AS group_id,
           first_value(n.id) OVER newest AS shown,
           coalesce(p.group_size, 0) + count(*) OVER (PARTITION BY n.recipient_id, n.collapse_key) AS size,
           p.id AS present_id
    FROM incoming n LEFT JOIN present p USING (recipient_id, collapse_key)
    WHERE n.collapse_key <> ''
    WINDOW oldest AS (PARTITION BY n.recipient_id, n.collapse_key ORDER BY n.id),
           newest AS (PARTITION BY n.recipient_id, n.collapse_key ORDER BY n.id DESC)
), inserted AS (
    INSERT INTO inbox_item (id, recipient_id, notification_id, type, category, title, body, url, image_url, actions, data,
                            collapse_key, group_id, group_size, superseded_by, created_at, expires_at, added_version, version, removal)
    SELECT n.id, n.recipient_id, n.notification_id, n.type, n.category, n.title, n.body, n.url, n.image_url, n.actions::jsonb,
           n.data::jsonb, n.collapse_key, g.group_id, CASE WHEN g.shown = n.id THEN g.size ELSE 1 END, nullif(g.shown, n.id),
           n.created_at, n.expires_at, n.version, n.version, ''
    FROM incoming n LEFT JOIN grouped g ON g.id = n.id
    RETURNING id, recipient_id, category, state, due_at
), superseded AS (
    UPDATE inbox_item i
    SET superseded_by = g.shown, version = h.version + 1, snoozed_until = NULL
    FROM present p
    JOIN (SELECT DISTINCT present_id, shown FROM grouped) g ON g.present_id = p.id
    JOIN inbox h ON h.recipient_id = p.recipient_id
    WHERE i.id = p.id
    RETURNING i.recipient_id, i.category, p.state AS before, i.state AS after
)
SELECT recipient_id, category, 5::smallint AS before, state AS after, count(*)::int AS count, min(due_at) AS due_at,
       array_agg(id) AS ids
FROM inserted GROUP BY recipient_id, category, state
UNION ALL
SELECT recipient_id, category, before, after, 1, NULL, '{}' FROM superseded
