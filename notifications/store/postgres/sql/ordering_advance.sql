-- What was decided about the first places of some keys: who leaves (who lets go, with an event), since when a head is held, and which
-- heads are due now. Skips locked rows: whoever holds them looks again after its commit, or the sweep does. Locks in id order; served
-- by primary keys, the deliveries' ids are constants that prune.
WITH gone AS (
    DELETE FROM ordered_delivery
    WHERE id = ANY(ARRAY(
        SELECT id FROM ordered_delivery WHERE id = ANY(%(gone)s) ORDER BY id FOR UPDATE SKIP LOCKED))
    RETURNING delivery_id
), told AS (
    INSERT INTO event (notification_id, delivery_id, reason, detail, at)
    SELECT notification_of(delivery_id), delivery_id, 'ordering_let_go',
           'later messages with its ordering key go first', now()
    FROM gone WHERE delivery_id = ANY(%(let_go)s)
), held AS (
    UPDATE ordered_delivery SET held_since = CASE WHEN id = ANY(%(held)s) THEN now() END
    WHERE id = ANY(ARRAY(
        SELECT id FROM ordered_delivery WHERE id = ANY(%(held)s) OR id = ANY(%(unheld)s)
        ORDER BY id FOR UPDATE SKIP LOCKED))
), picked AS (
    SELECT id FROM delivery
    WHERE id = ANY(%(heads)s) AND status = %(scheduled)s AND reason = %(ordering)s
    ORDER BY id FOR UPDATE SKIP LOCKED
)
UPDATE delivery SET due_at = now()
WHERE id = ANY(%(heads)s) AND id = ANY(ARRAY(SELECT id FROM picked))
RETURNING id
