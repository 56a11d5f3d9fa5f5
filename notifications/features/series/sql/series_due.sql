-- Return the series with a due enrolment, longest due first, and archived series with a running enrolment. A paused series
-- and a series of an inactive producer wait. Locks nothing. Uses enrolment_due, one row for each series.
SELECT s.id, s.state
FROM series s
JOIN notifications_producer p ON p.id = s.producer_id AND p.is_active
CROSS JOIN LATERAL (
    SELECT e.due_at FROM series_enrolment e
    WHERE e.series_id = s.id AND e.due_at IS NOT NULL
    ORDER BY e.due_at LIMIT 1
) longest
WHERE s.state IN ('active', 'archived')
  AND longest.due_at <= CASE s.state WHEN 'archived' THEN 'infinity' ELSE %(now)s::timestamptz END
ORDER BY longest.due_at, s.id
