-- Return up to `limit` rows of a lane that have been due longer than `older` and were never called for, from the place
-- `since` of the queue on, with the time of the last return from a hold. Locks nothing. Uses delivery_due and
-- event_of_notification; `floor` and `ceiling` are constants, so the planner prunes partitions of both tables.
SELECT d.id, d.due_at, now() AS now,
       (SELECT max(e.at) FROM event e
        WHERE e.notification_id = notification_of(d.id)
          AND e.notification_id >= %(floor)s::uuid AND e.notification_id < %(ceiling)s::uuid
          AND e.delivery_id = d.id AND e.reason = ANY(%(returns)s)) AS returned_at
FROM delivery d
WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
  AND d.status = %(queued)s AND d.mode = %(mode)s AND d.priority = %(priority)s AND d.channel = %(channel)s
  AND d.due_at <= now() - %(older)s::interval
  AND (%(since)s::timestamptz IS NULL OR d.due_at >= %(since)s)
  AND d.attempts = 0
ORDER BY d.due_at
LIMIT %(limit)s
