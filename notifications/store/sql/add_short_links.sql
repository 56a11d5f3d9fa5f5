-- Links of one wave. One that is there already was made by an earlier try of its delivery.
INSERT INTO short_link (token, delivery_id, target, clicks, expires_at)
SELECT token, delivery_id, target, 0, expires_at
FROM unnest(%(tokens)s::text[], %(deliveries)s::uuid[], %(targets)s::text[], %(expiries)s::timestamptz[])
     AS fresh (token, delivery_id, target, expires_at)
ORDER BY token
ON CONFLICT (token) DO NOTHING
