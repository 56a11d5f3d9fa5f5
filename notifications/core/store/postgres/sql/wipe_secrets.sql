-- Delete the sensitive variables that no delivery needs: no delivery of the notification may leave any more, and no
-- dead letter is open. Skips locked notifications, because a settle has locked deliveries for which a cancel waits
-- with a locked notification. The cancel deletes the variables itself, and the sweep does after the time to live.
-- Uses the primary keys: the deliveries of a notification are one range. `floor` and `ceiling` are constants, so the
-- planner prunes partitions.
UPDATE notification n SET secrets = NULL
WHERE n.id = ANY(%(ids)s) AND n.id = ANY(ARRAY(
      SELECT id FROM notification WHERE id = ANY(%(ids)s) AND secrets IS NOT NULL ORDER BY id FOR UPDATE SKIP LOCKED))
  AND NOT EXISTS (
      SELECT 1 FROM delivery d
      WHERE d.id > n.id AND d.id <= last_delivery_of(n.id)
        AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
        AND (d.status = ANY(%(open)s) OR (d.status = ANY(%(unconfirmed)s) AND d.due_at IS NOT NULL)))
  AND NOT EXISTS (
      SELECT 1 FROM notifications_deadletter l
      WHERE l.delivery_id > n.id AND l.delivery_id <= last_delivery_of(n.id) AND l.resolved_at IS NULL)
