-- Forget sensitive variables that nothing can need any more: no delivery that may still leave, and no open dead letter. Served by
-- the primary keys; a notification's deliveries are one range of theirs. The bounds are constants, so that the planner reads their
-- partition and no other. Skips notifications that somebody has locked: a settle holds deliveries, and a cancel, which holds the
-- notification, waits for those. The cancel wipes as well, and housekeeping when the time to live ends.
UPDATE notification n SET secrets = NULL
WHERE n.id = ANY(%(ids)s) AND n.id = ANY(ARRAY(
      SELECT id FROM notification WHERE id = ANY(%(ids)s) AND secrets IS NOT NULL ORDER BY id FOR UPDATE SKIP LOCKED))
  AND NOT EXISTS (
      SELECT 1 FROM delivery d
      WHERE d.id > n.id AND d.id <= last_delivery_of(n.id)
        AND d.id >= %(floor)s::uuid AND d.id < %(ceiling)s::uuid
        AND (d.status = ANY(%(open)s) OR (d.status = %(unknown)s AND d.due_at IS NOT NULL)))
  AND NOT EXISTS (
      SELECT 1 FROM notifications_deadletter l
      WHERE l.delivery_id > n.id AND l.delivery_id <= last_delivery_of(n.id) AND l.resolved_at IS NULL)
