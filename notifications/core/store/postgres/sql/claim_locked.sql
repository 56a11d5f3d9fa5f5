-- Take deliveries for sending under a lease of this token: queued rows of one lane that the open transaction has
-- locked (lock_due.sql). The ids from `floor` to before `ceiling` hold the rows. Uses the primary key.
-- The planner must not see the ids: it would compare each id with the bounds of each partition.
-- The commit does not wait for the disk, and the claim writes no event: see claim.sql.
WITH unsynced AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), moved AS (
    UPDATE delivery d
    SET status = %(sending)s,
        due_at = now() + (%(leases)s::interval[])[d.priority + 1],
        reason = '',
        claim_token = %(token)s,
        claims = d.claims + 1,
        call_started_at = NULL
    WHERE d.id = ANY((SELECT %(ids)s::uuid[])::uuid[])
      AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
    RETURNING d.id, d.mode, d.priority, d.channel, d.recipient_id, d.contact_id, d.attempts,
              d.attempts_before, d.resent, d.generation, d.slot_provider, d.slot_at, d.falls_back, d.claims
)
SELECT moved.*, now() AS claimed_at, NULL::timestamptz AS retry_due_at
FROM unsynced CROSS JOIN moved
