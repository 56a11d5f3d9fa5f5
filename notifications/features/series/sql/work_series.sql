-- True if a custom event is unhandled, or an enrolment of a series is due (see series_due). Uses custom_event_unhandled and
-- enrolment_due, once for each series.
EXISTS (SELECT FROM custom_event WHERE NOT handled AND (due_at IS NULL OR due_at <= now()))
OR EXISTS (
    SELECT FROM series s
    JOIN notifications_producer p ON p.id = s.producer_id AND p.is_active
    WHERE s.state IN ('active', 'archived')
      AND EXISTS (
          SELECT FROM series_enrolment e
          WHERE e.series_id = s.id
            AND e.due_at <= CASE s.state WHEN 'archived' THEN 'infinity' ELSE %(now)s::timestamptz END
      )
)
