-- Count failed calls of endpoints, or end the count after a successful call; returns the endpoints with failures.
-- Locks the endpoints in the order of the ids. Uses the primary key.
WITH seen AS (
    SELECT * FROM unnest(%(ids)s::bigint[], %(failed)s::integer[], %(succeeded)s::boolean[])
        AS s(id, failed, succeeded)
), locked AS (
    SELECT e.id FROM webhook_endpoint e JOIN seen s ON s.id = e.id
    WHERE s.failed > 0 OR e.failures > 0
    ORDER BY e.id
    FOR NO KEY UPDATE OF e
)
UPDATE webhook_endpoint e
SET failures = CASE WHEN s.succeeded THEN 0 ELSE e.failures + s.failed END,
    failing_since = CASE WHEN s.succeeded THEN NULL ELSE coalesce(e.failing_since, now()) END
FROM seen s
WHERE e.id = s.id AND e.id IN (SELECT id FROM locked)
RETURNING e.id, e.failures, e.failing_since, e.state
