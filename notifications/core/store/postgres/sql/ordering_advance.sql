-- Store the decisions about the first positions of ordering keys: `gone` leave the queue, `let_go` (a part of
-- `gone`) get an event, `held` and `unheld` change held_since, and `heads` become due now. Skips locked rows: the
-- transaction that has locked them decides again after its commit, else the sweep does. Locks in the order of the
-- ids. Uses primary keys; the ids of the deliveries are constants and prune partitions.
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
