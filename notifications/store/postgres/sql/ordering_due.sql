-- Keys that the sweep is to look at: locks them for its transaction and puts off the next look. Skips locked ones; served by
-- ordering_key_look.
UPDATE ordering_key SET look_at = now() + %(every)s
WHERE id = ANY(ARRAY(
    SELECT id FROM ordering_key WHERE look_at <= now() ORDER BY look_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
RETURNING id
