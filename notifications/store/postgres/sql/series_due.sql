-- Return the series with a due enrolment, and archived series with a running enrolment. A paused series and a series
-- of an inactive producer wait. Locks nothing. Uses enrolment_due, once for each series.
SELECT s.id, s.state
FROM series s
JOIN notifications_producer p ON p.id = s.producer_id AND p.is_active
WHERE s.state IN ('active', 'archived')
  AND EXISTS (
      SELECT FROM series_enrolment e
      WHERE e.series_id = s.id AND e.due_at <= CASE s.state WHEN 'archived' THEN 'infinity' ELSE %(now)s END
  )
ORDER BY s.id
