-- Insert an event without a status for each failure receipt of a call that is not the last; a repeated receipt inserts
-- nothing. Parameters: arrays of equal length. Locks nothing. Uses event_of_notification.
INSERT INTO event (notification_id, delivery_id, reason, detail, at, occurred_at)
SELECT notification_of(w.id), w.id, w.reason, w.detail, now(), w.occurred_at
FROM unnest(%(ids)s::uuid[], %(reasons)s::text[], %(details)s::text[], %(occurred_at)s::timestamptz[])
    AS w(id, reason, detail, occurred_at)
WHERE NOT EXISTS (
    SELECT FROM event e
    WHERE e.notification_id = notification_of(w.id) AND e.delivery_id = w.id AND e.reason = w.reason
      AND e.detail = w.detail)
