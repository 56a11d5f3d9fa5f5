-- Ordering keys that are new or were not used for an hour. The first priority stays. Locks in key order, as lock_ordering_keys does;
-- served by one_ordering_key.
INSERT INTO ordering_key AS k (producer_id, mode, key, priority, used_at)
SELECT %(producer_id)s, %(mode)s, w.key, w.priority, now()
FROM unnest(%(keys)s::text[], %(priorities)s::smallint[]) AS w(key, priority)
ORDER BY w.key
ON CONFLICT (producer_id, mode, key) DO UPDATE SET used_at = now()
RETURNING k.id, k.key, k.priority
