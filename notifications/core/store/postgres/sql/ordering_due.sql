-- Return up to `limit` ordering keys with a due check, and move the check by `every`. Locks the keys for the
-- transaction of the sweep and skips locked keys. Uses ordering_key_look.
UPDATE ordering_key SET look_at = now() + %(every)s
WHERE id = ANY(ARRAY(
    SELECT id FROM ordering_key WHERE look_at <= now() ORDER BY look_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
RETURNING id
