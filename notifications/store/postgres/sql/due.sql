-- Rows of one status and lane that are due, the longest due first. Locks them for the sweep's transaction and skips locked ones, so
-- that several sweeps share a lane and one frozen transaction stops nothing: a sweep never waits for a row. Served by delivery_due and the notifications' primary key. The bounds of both tables are constants, so that the planner reads
-- the partitions between them and no others.
SELECT due.*, coalesce((
    SELECT n.retry_preset FROM notification n
    WHERE n.id = notification_of(due.id) AND n.id >= %(floor)s::uuid AND n.id < %(ceiling)s::uuid
), '') AS retry_preset
FROM (
    SELECT d.id, d.mode, d.priority, d.channel, d.recipient_id, d.contact_id, d.provider, d.attempts,
           d.attempts_before, d.claims, d.resent, d.call_started_at, d.reason
    FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = %(status)s AND d.mode = %(mode)s AND d.priority = %(priority)s
      AND d.channel = %(channel)s AND d.due_at <= now() - %(grace)s::interval
      AND (d.reason <> %(cap)s::text OR d.due_at <= now() - %(caps_after)s::interval)
    ORDER BY d.due_at
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
) due
