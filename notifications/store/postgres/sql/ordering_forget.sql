-- Of these keys, which the caller has locked: those without a place need no further look.
UPDATE ordering_key k SET look_at = NULL
WHERE k.id = ANY(%(ids)s) AND NOT EXISTS (SELECT FROM ordered_delivery o WHERE o.key_id = k.id)
