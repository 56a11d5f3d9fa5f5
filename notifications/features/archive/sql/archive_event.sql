-- Return the events of a partition for the archive, in the order of the ids. Details are in the personal values of the
-- notification. Locks nothing. Sorts the events. A partition that was frozen before a migration lacks the column
-- `claimed_at`: the name then means the outer column, `absent`.
SELECT e.*
FROM (SELECT NULL::timestamptz AS claimed_at) absent
CROSS JOIN LATERAL (
    SELECT notification_id, seq, delivery_id, status, reason, at, occurred_at, claimed_at FROM {event}
) e
ORDER BY e.notification_id, e.seq
