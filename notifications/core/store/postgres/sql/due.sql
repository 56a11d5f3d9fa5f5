-- Return up to `limit` due rows of one status and lane, the longest due first. Locks the rows for the transaction of
-- the sweep. Skips locked rows, so that several sweeps share a lane and a frozen transaction blocks no sweep. Uses
-- delivery_due and the primary key of the notifications. `floor` and `ceiling` are constants, so the planner prunes
-- partitions of both tables.
SELECT due.*, coalesce(n.retry_preset, '') AS retry_preset, coalesce(n.type, '') AS type,
       n.template, n.expires_at - now() AS time_to_live
FROM (
    SELECT d.id, d.mode, d.priority, d.channel, d.recipient_id, d.contact_id, d.provider, d.attempts,
           d.attempts_before, d.claims, d.resent, d.call_started_at, d.reason,
           d.falls_back, d.claim_token
    FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = %(status)s AND d.mode = %(mode)s AND d.priority = %(priority)s
      AND d.channel = %(channel)s AND d.due_at <= now() - %(grace)s::interval
    ORDER BY d.due_at
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
) due
LEFT JOIN LATERAL (
    SELECT retry_preset, type, template, expires_at FROM notification
    WHERE id = notification_of(due.id) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
) n ON true
