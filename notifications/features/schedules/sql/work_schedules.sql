-- True if a schedule of an active producer is due. Uses schedule_due.
EXISTS (
    SELECT FROM notifications_schedule s
    JOIN notifications_producer p ON p.id = s.producer_id AND p.is_active
    WHERE s.due_at <= %(now)s::timestamptz AND (s.retry_at IS NULL OR s.retry_at <= %(now)s::timestamptz)
)
