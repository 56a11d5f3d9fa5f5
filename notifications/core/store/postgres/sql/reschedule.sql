-- Change due_at of those deliveries of a notification that are scheduled and have no contact yet, and insert an
-- event for each. The caller has locked the notification, as a release does. Locks the deliveries. Uses the primary
-- key.
WITH moved AS (
    UPDATE delivery d SET due_at = %(at)s
    WHERE d.id > %(id)s AND d.id <= last_delivery_of(%(id)s)
      AND d.status = %(scheduled)s AND d.contact_id IS NULL
    RETURNING d.id
), told AS (
    INSERT INTO event (notification_id, delivery_id, status, reason, detail, at)
    SELECT %(id)s, id, %(scheduled)s, 'rescheduled', %(detail)s, now() FROM moved
)
SELECT id FROM moved
