-- Delete up to `limit` ordering keys that were unused for a day and have no position. Skips locked keys. Uses
-- ordering_key_used.
DELETE FROM ordering_key
WHERE id = ANY(ARRAY(
    SELECT id FROM ordering_key k
    WHERE used_at < now() - interval '1 day'
      AND NOT EXISTS (SELECT FROM ordered_delivery o WHERE o.key_id = k.id)
    ORDER BY used_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
