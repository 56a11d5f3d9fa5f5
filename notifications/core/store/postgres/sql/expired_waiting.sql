-- Examine up to `limit` queued rows of a lane that have been due for `grace`, from a place of the queue on, in the order
-- of due_at and id. Returns each with whether its time to live is over. Locks nothing. Uses delivery_due and the
-- primary key of the notifications; `floor` and `ceiling` are constants, so the planner prunes partitions of both
-- tables. LIMIT 1 forces the primary key of the notifications for each row of the page.
SELECT page.id, page.due_at, page.claims, coalesce(n.expires_at <= now(), false) AS is_over
FROM (
    SELECT d.id, d.due_at, d.claims FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = %(queued)s AND d.mode = %(mode)s AND d.priority = %(priority)s AND d.channel = %(channel)s
      AND d.due_at <= now() - %(grace)s::interval
      AND (%(since)s::timestamptz IS NULL
           OR (d.due_at >= %(since)s AND (d.due_at, d.id) > (%(since)s, %(last)s::uuid)))
    ORDER BY d.due_at, d.id
    LIMIT %(limit)s
) page
LEFT JOIN LATERAL (
    SELECT expires_at FROM notification
    WHERE id = notification_of(page.id) AND id >= %(floor)s::uuid AND id < %(ceiling)s::uuid
    LIMIT 1
) n ON true
ORDER BY page.due_at, page.id
