-- Return the number of rows that each switch holds, at most `counted` for each priority, and the first due time.
-- Locks nothing. Uses delivery_switched, once for each switch, priority and partition.
SELECT s.id AS switch_id, p.priority, waiting.held, waiting.first_due
FROM unnest(%(switches)s::bigint[]) AS s(id)
CROSS JOIN unnest(%(priorities)s::smallint[]) AS p(priority)
CROSS JOIN LATERAL (
    SELECT count(*) AS held, min(due_at) AS first_due
    FROM (
        SELECT due_at FROM delivery
        WHERE reason IN ('paused', 'channel_paused') AND status = %(scheduled)s
          AND switch_id = s.id AND priority = p.priority AND due_at > now()
        ORDER BY due_at
        LIMIT %(counted)s
    ) bounded
) waiting
WHERE waiting.held > 0
