-- Write heads that the transaction has locked. Uses the primary key.
UPDATE inbox h
SET version = n.version, oldest_version = n.oldest_version, unseen = n.unseen, unread = n.unread, total = n.total,
    categories = n.categories::jsonb, next_change_at = n.next_change_at
FROM unnest(%(recipients)s::bigint[], %(versions)s::bigint[], %(oldest)s::bigint[], %(unseen)s::int[], %(unread)s::int[],
            %(total)s::int[], %(categories)s::text[], %(next)s::timestamptz[])
     AS n(recipient_id, version, oldest_version, unseen, unread, total, categories, next_change_at)
WHERE h.recipient_id = n.recipient_id
