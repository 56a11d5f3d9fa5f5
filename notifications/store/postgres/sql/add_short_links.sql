-- Links of one wave. One that is there already was made by an earlier try of its delivery.
INSERT INTO short_link (token, delivery_id, target, clicks, expires_at)
SELECT token, delivery_id, target, 0, expires_at
FROM unnest(%(token)s::text[], %(delivery_id)s::uuid[], %(target)s::text[], %(expires_at)s::timestamptz[])
     AS fresh (token, delivery_id, target, expires_at)
ORDER BY token
ON CONFLICT (token) DO NOTHING
