-- Return up to `limit` due hold checks, the longest due first, with the settings of the recipients. An erased recipient
-- has no settings. Locks nothing. Uses hold_check_due and primary keys.
SELECT c.recipient_id, c.changed_at, c.checked_to,
       coalesce(nullif(r.timezone, ''), r.phone_timezone, '') AS timezone,
       coalesce(p.quiet_hours::text, '[]') AS quiet_hours, p.do_not_disturb_until,
       coalesce(p.caps::text, '{}') AS caps, coalesce(p.digests::text, '{}') AS digests
FROM (
    SELECT recipient_id, changed_at, checked_to, due_at FROM hold_check
    WHERE due_at <= now()
    ORDER BY due_at
    LIMIT %(limit)s
) c
LEFT JOIN notifications_recipient r ON r.id = c.recipient_id
LEFT JOIN notifications_preference p ON p.recipient_id = c.recipient_id
ORDER BY c.due_at
