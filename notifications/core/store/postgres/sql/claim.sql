-- Take deliveries for sending under a lease of this token. Locks each row in the order of the ids and waits for a
-- locked row (lock_timeout): the caller acknowledges its message next, so a row that the relay updates just then
-- must not be skipped. Uses the primary key.
-- A waiting row is claimed up to one second early, because a retry message may arrive slightly before due_at.
-- The UPDATE takes the locked ids as an array. For a join the planner expects one row and compares each row with up
-- to 500 ids. The second condition on `ids` prunes partitions.
-- The commit does not wait for the disk. After a crash of Postgres a lost claim leaves a token that renews nothing,
-- and the renewal before the first call is a commit that waits for the disk and covers both.
-- Of a row that waited for a retry, `retry_due_at` is the due time; the arrays, which are mostly empty, avoid that join.
-- A claim writes no event: the token has the time of the claim, which the event of the next status stores
-- (transition.sql).
-- A row with three unfinished claims is claimed with few others, later alone, because the row may crash its worker
-- (notifications/core/rules/suspects.py).
WITH unsynced AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), picked AS (
    SELECT d.id, d.status, d.due_at
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
              d.attempts_before, d.resent, d.generation, d.slot_provider, d.slot_at, d.falls_back, d.claims
), retried AS MATERIALIZED (
    SELECT array_agg(id) AS ids, array_agg(due_at) AS due_at FROM picked WHERE status = %(retrying)s
)
SELECT moved.*, now() AS claimed_at, retried.due_at[array_position(retried.ids, moved.id)] AS retry_due_at
FROM unsynced CROSS JOIN moved CROSS JOIN retried
