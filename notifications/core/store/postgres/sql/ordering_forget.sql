-- End the checks of those keys that have no position in the queue. The caller has locked the keys. Uses the primary
-- key.
UPDATE ordering_key k SET look_at = NULL
WHERE k.id = ANY(%(ids)s) AND NOT EXISTS (SELECT FROM ordered_delivery o WHERE o.key_id = k.id)
