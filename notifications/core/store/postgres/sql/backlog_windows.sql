-- Return the minutes of a priority in which a due delivery waited up to and longer than a limit, for each window. Locks
-- nothing. Uses the unique index of backlog_sample.
SELECT w.seconds,
       count(b.id) FILTER (WHERE b.behind_ms <= %(limit_ms)s) AS good,
       count(b.id) FILTER (WHERE b.behind_ms > %(limit_ms)s) AS bad
FROM unnest(%(windows)s::bigint[]) AS w (seconds)
LEFT JOIN backlog_sample b ON b.priority = %(priority)s
    AND b.at > %(now)s::timestamptz - w.seconds * interval '1 second' AND b.at <= %(now)s::timestamptz
GROUP BY w.seconds
