-- Before a wave of calls: renew the lease, note that calls begin, count them, spend their slots. A row that lost its token
-- is left out: another worker has it. Locks in id order; served by the primary key.
-- A lease that is still nearly whole stays as it is: no index knows the other columns, so the update is a cheap one (HOT).
WITH ours AS (
    SELECT d.id FROM delivery d
    WHERE d.id = ANY(%(ids)s) AND d.claim_token = %(token)s AND d.status = %(sending)s
    ORDER BY d.id
    FOR UPDATE
)
UPDATE delivery d
SET due_at = CASE WHEN d.due_at > now() + 0.9 * (%(leases)s::interval[])[d.priority + 1] THEN d.due_at
                  ELSE now() + (%(leases)s::interval[])[d.priority + 1] END,
    call_started_at = now(),
    attempts = least(d.attempts + 1, 32767),
    slot_at = NULL,
    provider = %(provider)s
WHERE d.id = ANY(ARRAY(SELECT id FROM ours)) AND d.id = ANY(%(ids)s)
RETURNING d.id, d.attempts
