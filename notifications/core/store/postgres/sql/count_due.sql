-- Count the due queued rows of one lane, up to `most`. Locks nothing. Uses delivery_due.
SELECT count(*) AS due
FROM (
    SELECT FROM delivery d
    WHERE d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
      AND d.status = %(queued)s AND d.mode = %(mode)s AND d.priority = %(priority)s
      AND d.channel = %(channel)s AND d.due_at <= now()
    ORDER BY d.due_at
    LIMIT %(most)s
) due
