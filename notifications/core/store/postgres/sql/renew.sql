-- Renew the lease before a wave of calls: record the begin of the calls, count an attempt and use up the send slots.
-- A row with another token belongs to another worker and is left out. Locks in the order of the ids. Uses the
-- primary key. The ids from `floor` to before `ceiling` hold the rows. The planner must not see the ids: it would
-- compare each id with the bounds of each partition.
-- A lease with 90 % of its time left keeps due_at. No index has the other columns, so that update is heap-only
-- (HOT).
WITH ours AS (
    SELECT d.id FROM delivery d
    WHERE d.id = ANY((SELECT %(ids)s::uuid[])::uuid[])
      AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.claim_token = %(token)s AND d.status = %(sending)s
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
WHERE d.id = ANY(ARRAY(SELECT id FROM ours)) AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
RETURNING d.id, d.attempts
