-- Give due times to held deliveries and take them from their switch, so that the next run finds other rows. The caller
-- holds the locks. Uses the primary key.
UPDATE delivery d SET due_at = g.due_at, switch_id = NULL
FROM unnest(%(ids)s::uuid[], %(times)s::timestamptz[]) AS g(id, due_at)
WHERE d.id = g.id AND d.id = ANY(%(ids)s)
