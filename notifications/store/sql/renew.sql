-- Before a wave of calls: renew the lease, note that calls begin, count them. A row that lost its token is left out: another
-- worker has it. Locks in id order; served by the primary key.
WITH ours AS (
    SELECT d.id FROM delivery d
    WHERE d.id = ANY(%(ids)s) AND d.claim_token = %(token)s AND d.status = %(sending)s
    ORDER BY d.id
    FOR UPDATE
)
UPDATE delivery d
SET due_at = now() + CASE WHEN d.priority = 0 THEN %(p0_lease)s ELSE %(lease)s END,
    call_started_at = now(),
    attempts = d.attempts + 1,
    provider = %(provider)s
FROM ours
WHERE d.id = ours.id AND d.id = ANY(%(ids)s)
RETURNING d.id, d.attempts
