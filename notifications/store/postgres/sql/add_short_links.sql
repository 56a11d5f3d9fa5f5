-- Insert the short links of one wave. The statement keeps a token that an earlier attempt of the delivery inserted.
-- Parameters: arrays of equal length. Locks the new rows in the order of the tokens. Uses the primary key.
INSERT INTO short_link (token, delivery_id, target, clicks, expires_at)
SELECT token, delivery_id, target, 0, expires_at
FROM unnest(%(token)s::text[], %(delivery_id)s::uuid[], %(target)s::text[], %(expires_at)s::timestamptz[])
     AS fresh (token, delivery_id, target, expires_at)
ORDER BY token
ON CONFLICT (token) DO NOTHING
