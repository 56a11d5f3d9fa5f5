-- Return the first bulk jobs of each day, and one more than shown as the sign of further jobs.
-- Locks nothing. A job with a date on the recipients' clocks belongs to that date, any other job to
-- the UTC date of its start. Uses bulk_job_by_start and bulk_job_by_date: two short scans for a day.
SELECT d.day, j.*
FROM unnest(%(days)s::date[]) AS d(day)
CROSS JOIN LATERAL (
    (
        SELECT b.id, b.name, b.state, b.mode, b.estimate, b.send_at_local,
            coalesce(
                nullif(b.send_at_local, ''), to_char(b.starts_at AT TIME ZONE 'UTC', 'HH24:MI')
            ) AS clock
        FROM bulk_job b
        WHERE NOT b.send_at_local::text LIKE '%%T%%'
            AND b.starts_at >= d.day::timestamp AT TIME ZONE 'UTC'
            AND b.starts_at < (d.day + 1)::timestamp AT TIME ZONE 'UTC'
        ORDER BY b.starts_at
        LIMIT %(limit)s
    )
    UNION ALL
    (
        SELECT b.id, b.name, b.state, b.mode, b.estimate, b.send_at_local,
            substr(b.send_at_local, 12, 5) AS clock
        FROM bulk_job b
        WHERE b.send_at_local::text LIKE '%%T%%'
            AND b.send_at_local >= to_char(d.day, 'YYYY-MM-DD')
            AND b.send_at_local < to_char(d.day + 1, 'YYYY-MM-DD')
        ORDER BY b.send_at_local
        LIMIT %(limit)s
    )
) j
ORDER BY d.day, j.clock, j.id
