-- Rows of one status that are due, urgent ones first. Locks nothing: each is moved by a guarded UPDATE afterwards, so two sweeps
-- that see the same row do it once. Served by delivery_due.
SELECT due.*,
       coalesce((SELECT n.retry_preset FROM notification n WHERE n.id = notification_of(due.id)), '')
           AS retry_preset
FROM unnest(%(modes)s::smallint[], %(priorities)s::smallint[], %(channels)s::smallint[])
         AS l(mode, priority, channel)
    CROSS JOIN LATERAL (
        SELECT d.id, d.mode, d.priority, d.channel, d.recipient_id, d.contact_id, d.provider, d.attempts,
               d.attempts_before, d.claims, d.resent, d.call_started_at, d.reason
        FROM delivery d
        WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
          AND d.status = %(status)s AND d.mode = l.mode AND d.priority = l.priority
          AND d.channel = l.channel AND d.due_at <= now() - %(grace)s::interval
        ORDER BY d.due_at
        LIMIT %(limit)s
    ) due
