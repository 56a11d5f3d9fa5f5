-- Lock ordering keys, so that one transaction at a time adds to a key and positions rise in the order of the
-- commits. Returns for each key whether the sweep checks the key. A condition on look_at in WHERE would be evaluated
-- before the lock is granted. Locks in the order of the keys. Uses the primary key.
SELECT id, look_at IS NOT NULL AS is_watched
FROM ordering_key WHERE id = ANY(%(ids)s) ORDER BY producer_id, mode, key FOR UPDATE
