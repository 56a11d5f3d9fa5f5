-- Set a later due_at of deliveries that a digest choice holds; the caller has locked the rows. Uses the primary key.
UPDATE delivery d SET due_at = later.due_at
FROM unnest(%(ids)s::uuid[], %(due_at)s::timestamptz[]) AS later (id, due_at)
WHERE d.id = later.id AND d.id = ANY(%(ids)s::uuid[]) AND d.status = %(scheduled)s AND d.reason = %(reason)s
