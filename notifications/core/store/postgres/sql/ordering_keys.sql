-- Return ordering keys, and register the new keys and those unused for an hour. A key keeps its first priority.
-- Locks in the order of the keys, like ordering_lock. Uses one_ordering_key.
WITH known AS (
    SELECT id, key, priority FROM ordering_key
    WHERE producer_id = %(producer_id)s AND mode = %(mode)s AND key = ANY(%(keys)s)
      AND used_at > now() - interval '1 hour'
), registered AS (
    INSERT INTO ordering_key AS k (producer_id, mode, key, priority, used_at)
    SELECT %(producer_id)s, %(mode)s, w.key, w.priority, now()
    FROM unnest(%(keys)s::text[], %(priorities)s::smallint[]) AS w(key, priority)
    WHERE w.key NOT IN (SELECT key FROM known)
    ORDER BY w.key
    ON CONFLICT (producer_id, mode, key) DO UPDATE SET used_at = now()
    RETURNING k.id, k.key, k.priority
)
SELECT * FROM known UNION ALL SELECT * FROM registered
