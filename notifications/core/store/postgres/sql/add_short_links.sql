-- Insert the short links of one wave. The statement keeps a token that an earlier attempt of the delivery inserted, and
-- leaves out links of erased notifications: an erasure that has deleted a notification does not look again. Parameters:
-- arrays of equal length; `notification_ids` prunes partitions. Locks the notifications against a deletion, in the order
-- of the ids, then the new rows in the order of the tokens. Uses the primary keys.
WITH kept AS MATERIALIZED (
    SELECT id FROM notification WHERE id = ANY(%(notification_ids)s::uuid[]) ORDER BY id FOR KEY SHARE
)
INSERT INTO short_link (token, delivery_id, target, clicks, expires_at)
SELECT token, delivery_id, target, 0, expires_at
FROM unnest(%(token)s::text[], %(delivery_id)s::uuid[], %(target)s::text[], %(expires_at)s::timestamptz[])
     AS fresh (token, delivery_id, target, expires_at)
WHERE notification_of(delivery_id) IN (SELECT id FROM kept)
ORDER BY token
ON CONFLICT (token) DO NOTHING
