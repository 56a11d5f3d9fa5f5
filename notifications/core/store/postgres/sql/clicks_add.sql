-- Insert the event of a click, without a status, for each delivery that has none; the roll-ups count the click with the
-- event. The caller has locked the deliveries, so two clicks at once leave one event. Parameters: arrays of equal
-- length. Locks the new rows. Uses event_of_notification; `floor` and `ceiling` limit the partitions.
INSERT INTO event (notification_id, delivery_id, reason, at, occurred_at)
SELECT notification_of(w.id), w.id, %(reason)s::text, now(), w.occurred_at
FROM unnest(%(ids)s::uuid[], %(occurred_at)s::timestamptz[]) AS w(id, occurred_at)
WHERE NOT EXISTS (
    SELECT FROM event e
    WHERE e.notification_id = notification_of(w.id) AND e.delivery_id = w.id AND e.reason = %(reason)s::text
      AND e.notification_id >= %(floor)s::uuid AND e.notification_id < %(ceiling)s::uuid
)
