-- The deliveries of one notification that still wait for their time come due at another one; each leaves an event. Under the
-- notification's row lock, which a release takes too. Served by the primary key.
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
