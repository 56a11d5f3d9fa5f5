-- One transaction at a time adds to a key, so that places rise in the order of the commits. Tells of each key whether the sweep looks
-- at it. No condition on look_at here: it would be judged before the lock is granted. Locks in key order; served by the primary key.
SELECT id, look_at IS NOT NULL AS is_watched
FROM ordering_key WHERE id = ANY(%(ids)s) ORDER BY producer_id, mode, key FOR UPDATE
