-- Take rows to send under a lease. Locks each row in id order and waits (lock_timeout) instead of skipping: a row that a
-- relay is just touching must not be skipped by the message that is acknowledged next. Served by the primary key.
-- A waiting row is taken one second early, so that a retry message that comes a little too soon finds its row.
-- An array of the locked ids, not a join with them: the planner takes a join for one row, and then looks each row up in a
-- list of five hundred. The second list lets it leave out the other days' partitions.
-- Its commit does not wait for the disk: a claim that a crash of Postgres undoes leaves a token that renews nothing, and
-- the renewal before the first call is a commit that waits for both.
-- What was claimed three times to no end leaves with few others, then alone: it may be what kills its worker (rules/suspects.py).
WITH unsynced AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), picked AS (
    SELECT d.id
    FROM delivery d
    WHERE d.id = ANY(%(ids)s)
      AND (d.status = %(queued)s
           OR (d.status = ANY(%(waiting)s) AND d.contact_id IS NOT NULL
               AND d.due_at <= now() + interval '1 second'))
      AND d.claims < %(poison)s
      AND (d.claims < %(small_after)s OR cardinality(%(ids)s) = 1
           OR (d.claims < %(alone_after)s AND cardinality(%(ids)s) <= %(small)s))
    ORDER BY d.id
    FOR UPDATE
), moved AS (
    UPDATE delivery d
    SET status = %(sending)s,
        due_at = now() + (%(leases)s::interval[])[d.priority + 1],
        reason = '',
        claim_token = %(token)s,
        claims = d.claims + 1,
        call_started_at = NULL
    WHERE d.id = ANY(ARRAY(SELECT id FROM picked)) AND d.id = ANY(%(ids)s)
    RETURNING d.id, d.mode, d.priority, d.channel, d.recipient_id, d.contact_id, d.attempts,
              d.attempts_before, d.resent, d.generation, d.slot_provider, d.slot_at
), logged AS (
    INSERT INTO event (notification_id, delivery_id, status, at)
    SELECT notification_of(id), id, %(sending)s, now() FROM moved
)
SELECT moved.*, now() AS claimed_at FROM unsynced CROSS JOIN moved
